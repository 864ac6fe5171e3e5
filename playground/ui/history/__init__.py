"""The History page: every comparison, found, opened, managed, and its runs laid over others.

Handlers are thin: they read their inputs, call a plain function, and return updates.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr

from playground.config import PRECISIONS, SettingsError
from playground.launcher import Launcher
from playground.store import ATTENTION, RunStore
from playground.ui import charts, dialog, guard, panels, recorded
from playground.ui import text as shared
from playground.ui.compare import Composer
from playground.ui.history import asking, manage, overlay
from playground.ui.history.asking import Listing
from playground.ui.history.overlay import Overlay
from playground.ui.history.table import table
from playground.ui.labels import labelled
from playground.ui.quiet import QUIET
from playground.ui.text import history as text

TICK_S = 2.0

_SHOW_MANAGED = """() => {
  const panel = document.getElementById("managed");
  if (panel && innerWidth <= 1000) panel.scrollIntoView({block: "start"});
}"""
_FORGET_RUNS = """() => {
  const address = new URL(location.href);
  address.searchParams.delete("runs");
  history.replaceState(history.state, "", address);
}"""


def render(store: RunStore, listing: Listing) -> tuple[Listing, str]:
    """The list as it is now; a page beyond its end becomes its last."""
    token = store.change_token()
    past = store.search(listing.search, asking.PAGE, listing.page * asking.PAGE)
    last = max(0, (past.total - 1) // asking.PAGE)
    if listing.page > last:
        listing = replace(listing, page=last)
        past = store.search(listing.search, asking.PAGE, last * asking.PAGE)
    html = table(past, listing)
    return replace(listing, token=token, drawn=hash(html)), html


def build(
    app: gr.Blocks, store: RunStore, launcher: Launcher, pages: gr.Tabs, composer: Composer
) -> Callable[[gr.Tab], None]:
    """Draws the page; call it inside its tab of ``app``.

    Args:
        pages: the tabs, to go to Compare's form; ``composer`` fills it.
    Returns:
        A function that wires the tab itself: what is listed is read anew when it is opened.
    """
    with gr.Column(visible=False, elem_id="overlay", elem_classes="sheet") as laid:
        over = gr.HTML("", elem_id="overlay-heading", apply_default_css=False)
        drawn = charts.charts(store, "overlay-charts")
        with gr.Accordion(text.DIFFERENCES, open=True, elem_classes="fold"):
            differ = gr.HTML("", elem_id="differences", apply_default_css=False)
        put_away = gr.Button(text.CLOSE, size="sm", elem_id="overlay-close")
    seen_runs = gr.State(Overlay())
    gr.HTML(
        f'<div class="past-intro"><h2>{text.HEADING}</h2><p>{text.INTRO}</p></div>',
        apply_default_css=False,
    )
    with gr.Row(elem_id="filters", elem_classes="grid-2"):
        fields = _filters()
    refused = gr.HTML("", elem_id="past-refused", apply_default_css=False)
    with gr.Row(elem_id="past-columns"):
        with gr.Column(elem_classes="sheet", elem_id="past-sheet"):
            past = _list()
        panel, acts = manage.build()
    question = dialog.build("delete-question")
    listing = gr.State(Listing())
    ticker = gr.Timer(TICK_S, active=False)
    listed = [listing, past]
    quiet = {"queue": False, **QUIET}

    # The list.

    def on_filter(shown: Listing, *filled: str) -> list[Any]:
        try:
            wanted = asking.search(shown.search, *filled)
        except SettingsError as error:
            return [panels.notice(str(error)), gr.skip(), gr.skip()]
        return ["", *render(store, replace(shown, search=wanted, page=0))]

    def on_click(shown: Listing, asked: gr.EventData) -> list[Any]:
        data = asked._data
        if sort := data.get("sort"):
            shown = shown.sorted_by(str(sort))
        elif (page := str(data.get("page", ""))).isdecimal():
            shown = replace(shown, page=int(page))
        elif group_id := data.get("open"):
            opened = choose(replace(shown, chosen=str(group_id)))
            return [*opened, None, gr.Textbox(value="", info="")]
        untouched = [gr.skip()] * (len(panel.outputs) + 2)
        return ["", *render(store, shown), *untouched]

    def choose(shown: Listing, said: str = "", typing: bool = False) -> list[Any]:
        """The list and the panel; a comparison that is gone is said to be.

        Args:
            typing: the panel shows it already, and what is being typed there stays.
        """
        group = manage.find(store, shown.chosen)
        if group is None and shown.chosen is not None:
            said = said or panels.notice(text.GONE.format(group=shown.chosen))
            shown = replace(shown, chosen=None)
        return [said, *render(store, shown), *manage.updates(group, typing)]

    def on_tick(shown: Listing) -> list[Any]:
        if store.change_token() == shown.token:
            return [gr.skip(), gr.skip()]
        now, html = render(store, shown)
        return [now, html if now.drawn != shown.drawn else gr.skip()]

    everything = [refused, *listed, *panel.outputs]
    gr.on(
        [field.change for field in fields],
        on_filter,
        [listing, *fields],
        [refused, *listed],
        trigger_mode="always_last",
        **quiet,
    )
    # What was to be another in the comparison before is no wish about this one.
    again = [acts.setting, acts.value]
    past.select(on_click, listing, [*everything, *again], **quiet).then(js=_SHOW_MANAGED)
    ticker.tick(on_tick, listing, listed, **quiet)

    # One comparison.

    def act(do: Callable[..., str], typing: bool = False) -> Callable[..., list[Any]]:
        """A handler that changes the chosen comparison; what is refused is said above the list."""

        def handler(shown: Listing, *inputs: Any) -> list[Any]:
            try:
                said = do(shown.chosen or "", *inputs)
            except SettingsError as error:
                return choose(shown, panels.notice(str(error)), typing=True)
            return choose(shown, panels.notice(said, "info"), typing)

        return guard.changes(handler)

    def save(group_id: str, title: str, note: str) -> str:
        store.rename(group_id, title)
        store.annotate(group_id, note)
        return text.SAVED.format(title=recorded.titled(store.get_group(group_id).title))

    def resume(group_id: str) -> str:
        launcher.resume(group_id)
        return text.RESUMED

    def on_ask(shown: Listing) -> list[Any]:
        try:
            group = store.get_group(shown.chosen or "")
            return ["", manage.goes(group, store.belongings(group.id))]
        except SettingsError as error:
            return [panels.notice(str(error)), ""]

    def on_delete(shown: Listing) -> list[Any]:
        try:
            group = store.get_group(shown.chosen or "")
            store.delete(group.id)
        except SettingsError as error:
            return choose(shown, panels.notice(str(error)))
        said = panels.notice(text.DELETED.format(title=recorded.titled(group.title)), "info")
        gone = (*shown.gone, *group.run_ids)
        return choose(replace(shown, chosen=None, gone=gone), said)

    def on_setting(shown: Listing, key: str | None) -> Any:
        group = manage.find(store, shown.chosen)
        if group is None or key not in manage.CHANGEABLE:
            return gr.skip()
        value = manage.now(group, key, store.home)
        return gr.Textbox(value=value, info=text.AGAIN_VALUE_INFO.format(value=value))

    def on_again(shown: Listing, key: str | None, typed: str) -> list[Any]:
        nothing = [gr.skip()] * (len(composer.outputs) + 1)
        try:
            group = store.get_group(shown.chosen or "")
            preset, said = manage.with_one_change(group, key, typed, store.home)
        except SettingsError as error:
            return [panels.notice(labelled(str(error))), *nothing]
        filled = composer.fill(preset, panels.notice(said, "info"), changed=key)
        return ["", gr.Tabs(selected="compare"), *filled]

    written = [listing, panel.title, panel.note]
    gr.on([acts.save.click, panel.title.submit], act(save), written, everything, **quiet)
    panel.resume.click(act(resume, typing=True), listing, everything, **quiet)
    acts.close.click(
        lambda shown: choose(replace(shown, chosen=None)), listing, everything, **quiet
    )
    acts.delete.click(guard.changes(on_ask), listing, [refused, question], **quiet)
    question.delete(guard.changes(on_delete), listing, everything, **quiet)
    acts.setting.change(on_setting, [listing, acts.setting], acts.value, **quiet)
    # It resolves a path that was typed, as Start does: not for whoever may only watch.
    acts.again.click(
        guard.changes(on_again),
        [listing, acts.setting, acts.value],
        [refused, pages, *composer.outputs],
        **quiet,
    ).then(js=composer.show_changed)

    # Runs over each other.

    shown_runs = [seen_runs, laid, over, drawn, differ]

    def lay(found: Overlay | None) -> list[Any]:
        if found is None:
            return [gr.skip()] * len(shown_runs)
        # What was drawn is the browser's; the page keeps what tells whether anything is new.
        seen = Overlay(found.run_ids, found.tokens, found.live)
        return [
            seen,
            gr.Column(visible=True),
            overlay.heading(found),
            overlay.payload(found),
            overlay.differences(found),
        ]

    def on_open(request: gr.Request) -> list[Any]:
        asked = request.query_params.get("runs")
        return lay(None if asked is None else overlay.look(store, overlay.ids_of(asked)))

    def on_runs_tick(seen: Overlay) -> list[Any]:
        return lay(overlay.look(store, seen.run_ids, seen.tokens) if seen.live else None)

    app.load(on_open, None, shown_runs, **quiet)
    ticker.tick(on_runs_tick, seen_runs, shown_runs, **quiet)
    put_away.click(
        lambda: [Overlay(), gr.Column(visible=False), "", None, ""], None, shown_runs, **quiet
    ).then(js=_FORGET_RUNS)

    def wire(tab: gr.Tab) -> None:
        def on_show(shown: Listing) -> list[Any]:
            return [*choose(shown, typing=True), gr.Timer(active=True)]

        tab.select(on_show, listing, [*everything, ticker], **quiet)
        for other in pages.children:
            if other is not tab:
                other.select(lambda: gr.Timer(active=False), None, ticker, **quiet)

    return wire


def _filters() -> list[Any]:
    any_ = (text.ANY, "")
    words = gr.Textbox(label=text.WORDS, info=text.WORDS_INFO, elem_id="filter-words", max_lines=1)
    precision = gr.Dropdown(
        [any_, *((info.label, name) for name, info in PRECISIONS.items())],
        value="",
        label=text.PRECISION,
        filterable=False,
        elem_id="filter-precision",
    )
    status = gr.Dropdown(
        [any_, *((shared.STATUS_WORDS[state], state) for state in ATTENTION)],
        value="",
        label=text.STATUS,
        filterable=False,
        elem_id="filter-status",
    )
    days = [
        gr.Textbox(label=label, info=text.DAY_INFO, elem_id=f"filter-{name}", max_lines=1)
        for name, label in (("since", text.SINCE), ("until", text.UNTIL))
    ]
    return [words, precision, status, *days]


def _list() -> gr.HTML:
    # Written into the script: Gradio may run it before the component's other properties arrive.
    script = (Path(__file__).parent / "table.js").read_text(encoding="utf-8")
    words = f"const words = {json.dumps(text.TICKED)};\n"
    return gr.HTML("", js_on_load=words + script, elem_id="past", apply_default_css=False)
