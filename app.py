"""Start here: settings -> store -> launcher -> page -> serve.

    python app.py [--start quick] [--open] [--home FOLDER] [--host 127.0.0.1] [--port 7860]
                  [--share] [--login] [--users FILE]

``PLAYGROUND_HOME``, ``PLAYGROUND_HOST``, ``PLAYGROUND_PORT`` and ``PLAYGROUND_USERS_FILE`` say the
same as the flags.
"""

from __future__ import annotations

import argparse
import errno
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from playground import hardware, users
from playground.commands import DEFAULT_HOME, command
from playground.config import SettingsError, private
from playground.generate import Chat
from playground.launcher import Launcher
from playground.presets import Preset, load_preset
from playground.store import RunStore
from playground.ui import build_app, launch, share, text
from playground.ui.gate import LOOPBACK
from playground.ui.login import Login
from playground.ui.text import share as words


def main(arguments: list[str] | None = None) -> int:
    """Serves the page until Ctrl-C or SIGTERM. Returns the exit code."""
    asked = _parser().parse_args(arguments)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        port = check_port(asked.port)
        check_free(asked.host, port)
        preset = load_preset(asked.start, home=Path(asked.home)) if asked.start else None
        known = users.known(asked.users)
        store = RunStore(Path(asked.home))
    except SettingsError as error:
        print(error, file=sys.stderr)
        return 1
    link = public_link(asked.host, port, store.home) if asked.share else None
    login = None
    if link or asked.login or asked.host not in LOOPBACK:
        login = ask_login(known)
    launcher = Launcher(store, worker_module=asked.worker)
    chat = Chat(store)
    app = build_app(store, launcher, hardware.detect(), chat)
    try:
        launch(app, asked.host, port, store.home, login, link and urlsplit(link).hostname)
    except OSError as error:
        print(error, file=sys.stderr)
        launcher.close()
        share.close_tunnel()
        return 1
    url = f"http://{_address(asked.host)}:{port}"
    print(text.SERVING.format(url=url))
    if link:
        print(words.SHARED.format(url=link), words.SHARE_EXPIRES, sep="\n")
    print(text.RUNS_KEPT.format(home=private(str(store.home))), flush=True)
    if preset:
        print(start(store, launcher, preset), flush=True)
    if asked.open:
        open_browser(url)
    stop.wait()
    share.close_tunnel()
    app.close(verbose=False)
    chat.end()
    last_words = farewell(store)
    launcher.close()
    print(last_words, flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    default = os.environ.get
    parser = argparse.ArgumentParser(description=text.TAGLINE)
    parser.add_argument("--home", default=default("PLAYGROUND_HOME", str(DEFAULT_HOME)))
    parser.add_argument("--host", default=default("PLAYGROUND_HOST", "127.0.0.1"))
    parser.add_argument("--port", default=default("PLAYGROUND_PORT", "7860"))
    parser.add_argument("--start", metavar="PRESET", help=text.START_HELP)
    parser.add_argument("--open", action="store_true", help=text.OPEN_HELP)
    parser.add_argument("--share", action="store_true", help=words.SHARE_HELP)
    parser.add_argument("--login", action="store_true", help=words.LOGIN_HELP)
    parser.add_argument(
        "--users", metavar="FILE", default=default(users.FILE_VARIABLE), help=words.USERS_HELP
    )
    parser.add_argument("--worker", default="playground.worker", help=argparse.SUPPRESS)
    return parser


def check_port(value: str) -> int:
    """A port number. Raises SettingsError if ``value`` is none."""
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= 65535):
        raise SettingsError(text.BAD_PORT.format(value=value))
    return int(value)


def check_free(host: str, port: int) -> None:
    """Raises SettingsError if the page cannot be served there; asked before anything is started."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        # As the server will: a port whose last connections are still closing is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except socket.gaierror as error:
            raise SettingsError(
                text.HOST_UNKNOWN.format(host=host, reason=error.strerror)
            ) from None
        except PermissionError:
            raise SettingsError(text.PORT_FORBIDDEN.format(port=port)) from None
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                other = port + 1 if port < 65535 else port - 1
                raise SettingsError(
                    text.PORT_TAKEN.format(port=port, host=host, other=other)
                ) from None
            raise SettingsError(
                text.HOST_UNKNOWN.format(host=host, reason=error.strerror)
            ) from None


def public_link(host: str, port: int, home: Path) -> str | None:
    """A link through Gradio's tunnel; where there is none, that and why is said instead."""
    print(words.OPENING, flush=True)
    try:
        return share.open_tunnel(host if host in LOOPBACK else "127.0.0.1", port)
    except share.NoTunnel as why:
        report = command("report", "GROUP", home=home)
        print(words.NO_TUNNEL.format(why=why, report=report), file=sys.stderr, flush=True)
        return None


def ask_login(known: Mapping[str, str]) -> Login:
    """The login of those users, or of one whose password is made and shown now."""
    if known:
        print(words.LOGIN_ASKED.format(names=", ".join(known)))
        return Login(known)
    name, password = users.generated()
    print(words.GENERATED.format(name=name, password=password), flush=True)
    return Login({name: users.hashed(password)})


def _address(host: str) -> str:
    """What a browser on this machine can open."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)


def start(store: RunStore, launcher: Launcher, preset: Preset) -> str:
    """Starts ``preset`` unless something runs or waits already; returns what was done."""
    live = store.live()
    if live:
        return text.ALREADY_LIVE.format(title=store.get_group(live[0].group_id).title)
    return text.PRESET_STARTED.format(title=launcher.start(preset).title)


def open_browser(url: str) -> None:
    """Opens the page where there is a screen; a terminal browser would take the terminal over."""
    screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if screen:
        webbrowser.open(url)


def farewell(store: RunStore) -> str:
    """What becomes of the runs that go on or wait when the page is closed; asked before it is."""
    said = [text.GOODBYE]
    live = store.live()
    for run in live:
        if run.status == "running":
            group = store.get_group(run.group_id)
            stop = command("stop", group.id, home=store.home)
            said.append(text.STILL_RUNNING.format(title=group.title, stop=stop))
    if any(run.status == "queued" for run in live):
        said.append(text.WAITING_WILL_END)
    return "\n".join(said)


if __name__ == "__main__":
    sys.exit(main())
