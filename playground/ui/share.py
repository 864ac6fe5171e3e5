"""A public link to the page, through Gradio's tunnel.

The tunnel is opened before the page is served: the host name of the link is one of those that the
page answers to, and a page without a link needs no login. Gradio's ``launch(share=True)`` would
print its reasons in five lines, the user's home folder among them, and load scripts from elsewhere.
"""

from __future__ import annotations

import secrets
import threading
from urllib.parse import urlsplit

import httpx
from gradio import networking, tunneling
from gradio.exceptions import ChecksumMismatchError, ShareCertificateWriteError

from playground.ui.text import share as text

LONGEST_S = 90


class NoTunnel(Exception):
    """No link could be opened; the message says why, to be put into a sentence."""


def open_tunnel(host: str, port: int) -> str:
    """The link, ``https://….gradio.live``, to what is or will be served on ``host`` and ``port``.

    Raises:
        NoTunnel: there is none, and why.
    """
    answer: list[str | BaseException] = []

    def ask() -> None:
        try:
            answer.append(
                networking.setup_tunnel(host, port, secrets.token_urlsafe(32), None, None)
            )
        except BaseException as error:
            answer.append(error)

    # Gradio waits without end for a program that starts and then says nothing.
    waiting = threading.Thread(target=ask, daemon=True)
    waiting.start()
    waiting.join(LONGEST_S)
    if not answer:
        close_tunnel()
        raise NoTunnel(text.WHY_SLOW.format(seconds=LONGEST_S))
    if isinstance(answer[0], BaseException):
        close_tunnel()
        raise NoTunnel(_why(answer[0])) from answer[0]
    return urlsplit(answer[0])._replace(scheme="https").geturl().rstrip("/")


def close_tunnel() -> None:
    """Ends the link, if there is one."""
    for tunnel in tunneling.CURRENT_TUNNELS:
        if tunnel.proc is not None:
            tunnel.proc.terminate()
            tunnel.proc.wait()
            tunnel.proc = None
    tunneling.CURRENT_TUNNELS.clear()


def _why(error: BaseException) -> str:
    if isinstance(error, ShareCertificateWriteError):
        return text.WHY_NO_FOLDER
    if isinstance(error, ChecksumMismatchError):
        return text.WHY_NOT_GENUINE
    if isinstance(error, RuntimeError):
        return text.WHY_NO_SERVER
    if isinstance(error, httpx.HTTPError | OSError):
        return text.WHY_NO_CLIENT
    if isinstance(error, ValueError):
        return text.WHY_REFUSED
    return text.WHY_OTHER.format(error=type(error).__name__)
