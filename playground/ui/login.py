"""The login of a shared page: a small form, and a cookie that says who came through it.

Gradio's own ``auth`` lets nobody watch without a login, so it is not what a shared page needs. The
cookie holds a random token that only this process knows the meaning of: it ends with the process,
with a logout or after twelve hours. No script can read it and no other site's page sends it.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

from anyio import to_thread
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from playground import language, users
from playground.ui import text as page_text
from playground.ui.languages import ADDRESSED
from playground.ui.text import share as text
from playground.ui.theme import head

LASTS_S = 12 * 3600
TRIES = 5
WAIT_S = 60

# As Gradio colours the page: by the class that style.css asks for.
_DARK = (
    '<script>const dark = matchMedia("(prefers-color-scheme: dark)");'
    'const dress = () => document.documentElement.classList.toggle("dark", dark.matches);'
    'dark.addEventListener("change", dress); dress();</script>'
)
_MOST_SESSIONS = 1000
_MOST_BYTES = 4096


class TooOften(Exception):
    """So many wrong passwords for a name that the next try has to wait, ``seconds`` long."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Login:
    """Who may log in and who has. Safe to use from several threads."""

    def __init__(
        self, known: Mapping[str, str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Args:
        known: hash by name, as ``users.known`` gives them.
        clock: seconds, for tests.
        """
        self._users = dict(known)
        self._nobody = users.hashed(secrets.token_urlsafe())  # as slow for a name nobody has
        self._clock = clock
        self._sessions: dict[str, tuple[str, float]] = {}
        self._wrong: dict[str, list[float]] = {}
        self._lock = threading.Lock()
        # Cookies know no port: two pages of one machine must not end each other's logins.
        self._cookie = f"fp4-playground-{secrets.token_hex(4)}"

    @property
    def names(self) -> list[str]:
        return list(self._users)

    def enter(self, name: str, password: str) -> str | None:
        """A token for who gives the right password, else None; one try is checked at a time.

        Raises:
            TooOften: ``TRIES`` wrong ones for this name within ``WAIT_S``; not even checked.
        """
        with self._lock:
            now = self._clock()
            bucket = name if name in self._users else ""  # no list of what anybody types
            recent = [moment for moment in self._wrong.get(bucket, []) if now - moment < WAIT_S]
            if len(recent) >= TRIES:
                raise TooOften(max(1, round(WAIT_S - (now - recent[0]))))
            right = users.matches(password, self._users.get(name, self._nobody))
            if not (right and name in self._users):
                self._wrong[bucket] = [*recent, now]
                return None
            self._wrong.pop(bucket, None)
            self._forget(now)
            token = secrets.token_urlsafe(32)
            self._sessions[token] = (name, now + LASTS_S)
            return token

    def _forget(self, now: float) -> None:
        """Drops sessions that have ended, and the oldest of very many."""
        live = {t: s for t, s in self._sessions.items() if s[1] > now}
        self._sessions = dict(list(live.items())[-_MOST_SESSIONS:])

    def name_of(self, conn: HTTPConnection) -> str | None:
        """Who sends a request, or None for a visitor."""
        name, ends = self._sessions.get(conn.cookies.get(self._cookie, ""), (None, 0.0))
        return name if self._clock() < ends else None

    def leave(self, conn: HTTPConnection) -> None:
        """Ends the session of who sends this."""
        self._sessions.pop(conn.cookies.get(self._cookie, ""), None)

    def routes(self) -> list[Route]:
        """``/login`` and ``/logout``, to stand before Gradio's own, which are for its own auth."""
        return [
            Route("/login", self._form, methods=["GET"], middleware=ADDRESSED),
            Route("/login", self._enter, methods=["POST"], middleware=ADDRESSED),
            Route("/logout", self._leave, methods=["POST"]),
            Route("/logout", lambda request: RedirectResponse("./", 303), methods=["GET"]),
        ]

    def _form(self, request: Request) -> Response:
        came_from = urlsplit(request.headers.get("referer", ""))
        return _page(back=came_from.query if came_from.netloc == request.url.netloc else "")

    async def _enter(self, request: Request) -> Response:
        given = await _fields(request)
        name, back = given.get("name", "").strip(), given.get("back", "")
        try:
            token = await to_thread.run_sync(self.enter, name, given.get("password", ""))
        except TooOften as error:
            said = text.TOO_OFTEN.format(seconds=error.seconds)
            return _page(said, name, back, status=429)
        if token is None:
            return _page(text.WRONG, name, back, status=401)
        reply = RedirectResponse(f"./?{_query(back)}", 303)
        reply.set_cookie(
            self._cookie,
            token,
            max_age=LASTS_S,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return reply

    def _leave(self, request: Request) -> Response:
        self.leave(request)
        reply = RedirectResponse("./", 303)
        reply.delete_cookie(self._cookie)
        return reply


async def _fields(request: Request) -> dict[str, str]:
    """The form's fields; nothing of a body that is larger than such a form can be."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            return {}
    return dict(parse_qsl(body.decode(errors="replace")))


def _query(back: str) -> str:
    """Only a query, written anew: the way back never leaves this page."""
    return urlencode(parse_qsl(back)[:5])


def _page(wrong: str = "", name: str = "", back: str = "", status: int = 200) -> HTMLResponse:
    alert = f'<p class="notice is-error" role="alert">{escape(wrong)}</p>' if wrong else ""
    query = _query(back)
    return HTMLResponse(
        f'<!doctype html><html lang="{language.spoken()}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text.LOG_IN} – {page_text.TITLE}</title>{head()}{_DARK}</head>"
        '<body class="login"><main>'
        f"<h1>{text.LOGIN_TITLE}</h1><p>{text.LOGIN_INTRO}</p>{alert}"
        '<form method="post" action="login">'
        f'<label>{text.NAME}<input name="name" value="{escape(name)}" autocomplete="username" '
        "required autofocus></label>"
        f'<label>{text.PASSWORD}<input name="password" type="password" '
        'autocomplete="current-password" required></label>'
        f'<input type="hidden" name="back" value="{escape(query)}">'
        f"<button>{text.LOG_IN}</button></form>"
        f'<p><a href="./?{escape(query)}">{text.BACK}</a></p></main></body></html>',
        status_code=status,
        headers={"Cache-Control": "no-store", "X-Frame-Options": "DENY"},
    )
