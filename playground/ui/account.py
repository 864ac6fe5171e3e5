"""Who looks at the page: the login in the masthead, and buttons that a visitor cannot press."""

from __future__ import annotations

from html import escape
from typing import Any

import gradio as gr
from starlette.authentication import UnauthenticatedUser

from playground.ui import guard
from playground.ui.quiet import QUIET
from playground.ui.text import share as text


def build() -> gr.HTML:
    """Its place beside the masthead; call it inside ``gr.Blocks``, and ``wire`` it at the end."""
    return gr.HTML("", elem_id="account", apply_default_css=False)


def wire(app: gr.Blocks, shown: gr.HTML) -> None:
    """Fills it whenever the page is opened; call it once every page and handler is there."""
    pressable = guard.buttons(app)

    def on_open_as(request: gr.Request) -> list[Any]:
        if guard.may_change(request):
            return [_account(request), *[gr.skip()] * len(pressable)]
        return [_account(request), *map(_for_visitors, pressable)]

    app.load(
        on_open_as,
        None,
        [shown, *pressable],
        queue=False,
        **QUIET,
    )


def _for_visitors(button: gr.Button) -> dict[str, Any]:
    if button.elem_id == "start" or "starts" in button.elem_classes:
        return gr.update(value=text.LOG_IN_TO_START, interactive=False)
    return gr.update(interactive=False)


def _account(request: gr.Request) -> str:
    user = request.request.scope.get("user", UnauthenticatedUser())
    if user.is_authenticated:
        said = escape(text.LOGGED_IN_AS.format(name=user.display_name))
        return (
            f'<form class="account" method="post" action="logout"><span>{said}</span>'
            f"<button>{text.LOG_OUT}</button></form>"
        )
    if guard.may_change(request):
        return ""
    return (
        f'<p class="account is-visitor" role="status"><span>{text.WATCHING}</span> '
        f'<a href="login">{text.LOG_IN}</a></p>'
    )
