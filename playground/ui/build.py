"""The page as a whole: masthead, one tab for each page, and how it is served."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from playground import language
from playground.data.uploads import MAX_BYTES
from playground.generate import Chat
from playground.hardware import Device
from playground.launcher import Launcher
from playground.presets import list_presets
from playground.store import RunStore
from playground.ui import (
    account,
    compare,
    data,
    export,
    formats,
    gate,
    history,
    languages,
    links,
    recorded,
    report,
    text,
    try_it,
)
from playground.ui.login import Login
from playground.ui.text import formats as formats_text
from playground.ui.text import history as history_text
from playground.ui.text import try_it as try_it_text
from playground.ui.theme import head, theme

RESTS = {"sleep_when_free": 0.05, "progress_update_sleep_when_free": 0.1}
"""Seconds between two looks of Gradio's queue for something to do, as Gradio itself has them on
Windows. Elsewhere it looks a thousand times a second: a twentieth of a core that training lacks."""


def build_app(
    store: RunStore, launcher: Launcher, device: Device, chat: Chat | None = None
) -> gr.Blocks:
    """The whole page. Serve it with ``launch(app, host, port)``.

    Args:
        device: what this machine has, as ``hardware.detect()`` found it.
        chat: who answers on Try it; whoever passes one ends it with the server.
    """
    chat = chat or Chat(store)
    data.receive_apart()
    # What arrived and was never taken is removed within the hour, and when the server ends.
    stale = {"delete_cache": (600, 3600)}
    blocks = gr.Blocks(title=text.TITLE, analytics_enabled=False, fill_width=True, **stale)
    with language.for_anybody(), blocks as app:
        gr.HTML(_masthead(device), apply_default_css=False)
        languages.switch()
        shown = account.build()
        with gr.Tabs(elem_id="pages") as pages:
            with gr.Tab(text.COMPARE_TAB, id="compare"):
                composer = compare.build(app, store, launcher, list_presets(), device)
            with gr.Tab(history_text.TAB, id="history") as past_tab:
                wire_history = history.build(app, store, launcher, pages, composer)
            with gr.Tab(try_it_text.TAB, id="try") as try_tab:
                try_it.build(app, store, chat, try_tab)
            with gr.Tab(formats_text.TAB, id="formats") as formats_tab:
                formats.build(store.home, formats_tab)
        wire_history(past_tab)
        links.wire(app, pages)
        account.wire(app, shown)
    app.asked_past_gradio = [composer.news]
    return app


def _masthead(device: Device) -> str:
    reason = escape(recorded.said(device.reason))
    return (
        f'<header class="masthead"><div><h1>{text.TITLE}</h1><p>{text.TAGLINE}</p></div>'
        f'<div class="device"><p><b>{escape(device.name)}</b></p>'
        f"<p>{reason}{text.BETWEEN}{escape(here(device))}</p></div></header>"
    )


def here(device: Device) -> str:
    """What the device means for the numbers on the page; what a run found out itself, it says."""
    if device.kind == "cpu":
        return text.EMULATED_HERE
    capability = tuple(int(part) for part in (device.compute_capability or "0.0").split("."))
    wide = [("FP32", (0, 0)), ("FP16", (7, 0)), ("BF16", (8, 0))]
    *most, last = [name for name, least in wide if capability >= least]
    native = f"{', '.join(most)} and {last}" if most else last
    words = text.FP4_HERE if device.fp4_native else text.DECODED_HERE
    return words.format(native=native)


def launch(
    app: gr.Blocks,
    host: str,
    port: int,
    home: Path,
    login: Login | None = None,
    shared_as: str | None = None,
) -> Any:
    """Serves the page and returns at once.

    Nothing but Gradio's own files can be fetched through it, and reports, which are made for who
    asks; and of the home folder the archives that an export has made, by who may change things.

    Args:
        login: who may change things; None lets everybody, on a page for this machine alone.
        shared_as: the host name of the link that leads here from outside.
    Returns:
        Gradio's triple: the FastAPI app, the local URL, and None (nothing is shared).
    Raises:
        OSError: the port is taken, or the host is no address of this machine.
        ValueError: others reach the page, and no login is asked for.
    """
    served = gate.app_kwargs(host, login, shared_as)
    files = [export.download(home), report.download(RunStore(home))]
    served["routes"] = [*served["routes"], *app.asked_past_gradio, *files]
    launched = app.launch(
        server_name=host,
        server_port=port,
        prevent_thread_lock=True,
        quiet=True,
        share=False,
        theme=theme(),
        head=head(),
        favicon_path=Path(__file__).parent / "favicon.png",
        footer_links=[],
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        mcp_server=False,
        pwa=False,
        allowed_paths=[],
        blocked_paths=[str(home)],
        app_kwargs=served,
        max_file_size=MAX_BYTES,
        # Gradio has asked itself for its start by now, and waits for that as long as it takes. What
        # this leaves out is a second question, whose three seconds a busy machine exceeds.
        _frontend=False,
        show_error=False,  # an unforeseen error may name a path; foreseen ones are on the page
    )
    vars(app._queue).update(RESTS)
    return launched
