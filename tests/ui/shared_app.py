"""app.py with a made-up tunnel, for tests cannot reach Gradio's: ``python -m tests.ui.shared_app``.

``FAKE_TUNNEL`` is the link that it gives, or the name of what it raises.
"""

from __future__ import annotations

import os
import sys

from gradio import exceptions, networking

import app

_TROUBLE = {
    "no server": RuntimeError("Could not get share link from Gradio API Server."),
    "no client": OSError(f"no frpc in {os.path.expanduser('~')}/.cache"),
    "not genuine": exceptions.ChecksumMismatchError(),
    "no folder": exceptions.ShareCertificateWriteError("read-only"),
    "refused": ValueError("login to server failed"),
}


def setup_tunnel(*_: object, **__: object) -> str:
    answer = os.environ["FAKE_TUNNEL"]
    if answer in _TROUBLE:
        raise _TROUBLE[answer]
    return answer


if __name__ == "__main__":
    networking.setup_tunnel = setup_tunnel
    sys.exit(app.main())
