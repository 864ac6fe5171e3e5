"""Who may talk to the page: requests that name this host. Nothing can be uploaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def app_kwargs(host: str) -> dict[str, Any]:
    """FastAPI settings for a page served on ``host``.

    A page on the loopback address answers to loopback names only. Otherwise any web site could
    point a name of its own at 127.0.0.1 and have a visitor's browser start runs here (DNS
    rebinding). Served for others, the names by which it is reached are not known here.
    """
    if host not in LOOPBACK:
        return {}
    allowed = sorted(LOOPBACK | {"[::1]"})
    return {"middleware": [Middleware(TrustedHostMiddleware, allowed_hosts=allowed)]}


MAX_UPLOAD_BYTES = 1
"""No component of the page takes a file, but Gradio's upload endpoint is always there."""

Handler = TypeVar("Handler", bound=Callable[..., Any])


def changes(handler: Handler) -> Handler:
    """Marks a Gradio handler that changes something: runs, names, files, anything that stays.

    Wire it as ``button.click(guard.changes(handler), ...)``; everything else on the page reads.
    """
    return handler
