"""Addresses that open a page of the whole: ``?page=history``, beside Compare's ``?group=ID``."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr

from playground.ui.quiet import QUIET

# Gradio selects the first tab before the address was looked at: that is not what anybody asked for.
_OPENED = """() => { document.body.dataset.opened = "yes"; }"""
_NOTE = """() => {
  if (!document.body.dataset.opened) return;
  const address = new URL(location.href), page = %s, first = %s;
  if (page === first) address.searchParams.delete("page");
  else address.searchParams.set("page", page);
  history.replaceState(history.state, "", address);
}"""


def wire(app: gr.Blocks, pages: gr.Tabs) -> None:
    """Opens the tab that the address names, and names the open tab in the address."""
    names = [tab.id for tab in pages.children]
    quiet = {"queue": False, **QUIET}

    def on_open_at(request: gr.Request) -> Any:
        runs = "runs" in request.query_params  # laid over each other, on History
        asked = "history" if runs else request.query_params.get("page")
        return gr.Tabs(selected=asked) if asked in names else gr.skip()

    app.load(on_open_at, None, pages, **quiet).then(js=_OPENED)
    for tab in pages.children:
        tab.select(None, js=_NOTE % (json.dumps(tab.id), json.dumps(names[0])), **quiet)
