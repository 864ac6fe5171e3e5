"""The Try it page: ask a finished comparison, and read what it answered to the held-out rows.

Handlers are thin: they read their inputs, call a plain function, and return updates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from playground.config import SettingsError
from playground.generate import Chat, Question, Sampling, columns_of, parse_sampling
from playground.store import Group, RunStore
from playground.ui import figures, guard, held_out
from playground.ui.answers import answers
from playground.ui.panels import notice
from playground.ui.text import try_it as text

MOST_GROUPS = 30
_CUT = 70


@dataclass(frozen=True)
class Page:
    """The widgets that a choice of comparison fills, in this order."""

    group: gr.Dropdown
    empty: gr.HTML
    asking: gr.Column
    question: gr.Textbox
    rows: gr.Column
    examples: gr.Dataset
    which: gr.Radio
    table: gr.HTML

    @property
    def outputs(self) -> list[Any]:
        return list(vars(self).values())


def askable(store: RunStore) -> list[Group]:
    """Comparisons that have somebody to answer, newest first."""
    return [group for group in store.list_groups(limit=MOST_GROUPS) if columns_of(store, group)]


def updates(store: RunStore, wanted: str | None) -> list[Any]:
    """What the page becomes for a comparison by its id; for one it has not, the newest."""
    groups = askable(store)
    if wanted and wanted not in [group.id for group in groups]:
        groups += _by_id(store, wanted)
    if not groups:
        hidden = gr.Column(visible=False)
        said = f'<div class="empty"><p>{text.NOTHING_YET}</p></div>'
        choice = gr.Dropdown(choices=[], value=None)
        rest = [gr.skip(), hidden, gr.skip(), gr.skip(), ""]
        return [choice, gr.HTML(said, visible=True), hidden, *rest]
    chosen = next((group for group in groups if group.id == wanted), groups[0])
    arms = held_out.arms_of(store, chosen)
    prompts = held_out.questions(arms)
    return [
        gr.Dropdown(choices=[(_named(group), group.id) for group in groups], value=chosen.id),
        gr.HTML("", visible=False),
        gr.Column(visible=True),
        gr.Textbox(placeholder=next(iter(prompts), "")),
        gr.Column(visible=True),
        gr.Dataset(samples=[[prompt] for prompt in prompts], visible=bool(prompts)),
        gr.Radio(value="all", visible=bool(arms)),
        _table(store, chosen, "all"),
    ]


def _table(store: RunStore, group: Group, which: str) -> str:
    asked = group.runs[0].config.data.exact_match_rows
    return held_out.table(held_out.arms_of(store, group), which, asked)


def _by_id(store: RunStore, group_id: str) -> list[Group]:
    """An older comparison that a link names; none if it is not there or has nobody to answer."""
    try:
        group = store.get_group(group_id)
    except SettingsError:
        return []
    return [group] if columns_of(store, group) else []


def _named(group: Group) -> str:
    title = group.title if len(group.title) <= _CUT else f"{group.title[: _CUT - 1]}…"
    return text.GROUP_CHOICE.format(title=title, when=figures.moment(group.created_at))


def build(app: gr.Blocks, store: RunStore, chat: Chat, tab: gr.Tab) -> None:
    """Lays the page out inside ``tab`` and wires it; call it inside ``app``."""
    intro = text.INTRO.format(minutes=round(chat.idle_s / 60))
    gr.HTML(
        f'<div class="page-intro"><h2>{text.HEADING}</h2><p>{intro}</p></div>',
        apply_default_css=False,
    )
    empty = gr.HTML("", elem_id="try-empty", visible=False, apply_default_css=False)
    with gr.Column(visible=False, elem_id="try") as asking, gr.Column(elem_classes="sheet"):
        group = gr.Dropdown(
            [], label=text.GROUP, info=text.GROUP_INFO, filterable=False, elem_id="try-group"
        )
        question = gr.Textbox(
            label=text.QUESTION,
            info=text.QUESTION_INFO,
            lines=2,
            max_lines=12,
            elem_id="try-question",
        )
        examples = gr.Dataset(
            components=[question],
            samples=[],
            label=text.EXAMPLES,
            samples_per_page=6,
            elem_id="try-examples",
        )
        with (
            gr.Accordion(text.SAMPLING, open=False, elem_classes="fold", elem_id="try-sampling"),
            gr.Row(elem_classes="grid-2"),
        ):
            fields = {name: _field(name) for name in text.FIELDS}
        with gr.Row(elem_classes="actions"):
            ask = gr.Button(text.ASK, variant="primary", size="sm", elem_id="try-ask")
            stop = gr.Button(
                text.STOP, variant="stop", size="sm", interactive=False, elem_id="try-stop"
            )
            free = gr.Button(text.FREE, size="sm", elem_id="try-free")
        said = gr.HTML("", elem_id="try-notice", apply_default_css=False)
        shown = gr.HTML("", elem_id="try-answers", apply_default_css=False)
    with gr.Column(visible=False) as rows, gr.Column(elem_classes="sheet"):
        heading = f"<h3>{text.ROWS_HEADING}</h3><p class='soft'>{escape(text.ROWS_INTRO)}</p>"
        gr.HTML(heading, apply_default_css=False)
        choices = [(label, name) for name, label in text.FILTERS.items()]
        which = gr.Radio(choices, value="all", label=text.SHOW, elem_id="try-which")
        table = gr.HTML("", elem_id="held-out", apply_default_css=False)
    page = Page(group, empty, asking, question, rows, examples, which, table)

    def on_open(request: gr.Request) -> list[Any]:
        return updates(store, request.query_params.get("group"))

    def on_choice(chosen: str | None) -> list[Any]:
        return [*updates(store, chosen)[1:], "", ""]

    def on_filter(chosen: str | None, asked_for: str) -> str:
        groups = _by_id(store, chosen or "")
        return _table(store, groups[0], asked_for) if groups else ""

    def on_ask(chosen: str | None, prompt: str, *typed: str) -> Iterator[list[Any]]:
        yield ["", answers([]), gr.Button(interactive=True)]
        try:
            sampling = parse_sampling(dict(zip(text.FIELDS, typed, strict=True)))
            for columns in chat.ask(Question(chosen or "", prompt, sampling)):
                yield ["", answers(columns), gr.skip()]
        except SettingsError as error:
            yield [notice(str(error)), gr.skip(), gr.skip()]
        yield [gr.skip(), gr.skip(), gr.Button(interactive=False)]

    def on_stop() -> None:
        chat.stop()

    def on_free() -> str:
        chat.end()
        return notice(text.FREED, "info")

    quiet = {"show_progress": "hidden", "api_visibility": "private"}
    app.load(on_open, None, page.outputs, queue=False, **quiet)
    # A run may have finished since the page was opened.
    tab.select(lambda chosen: updates(store, chosen), group, page.outputs, queue=False, **quiet)
    group.input(on_choice, group, [*page.outputs[1:], said, shown], queue=False, **quiet)
    which.input(on_filter, [group, which], table, queue=False, **quiet)
    examples.click(lambda picked: picked[0], examples, question, queue=False, **quiet)
    # Several at once, so that who asks second is told and does not wait in silence.
    inputs, outputs = [group, question, *fields.values()], [said, shown, stop]
    gr.on(
        [ask.click, question.submit],
        guard.changes(on_ask),
        inputs,
        outputs,
        concurrency_limit=4,
        **quiet,
    )
    stop.click(guard.changes(on_stop), None, None, queue=False, **quiet)
    free.click(guard.changes(on_free), None, said, queue=False, **quiet)


def _field(name: str) -> gr.Textbox:
    label, info = text.FIELDS[name]
    return gr.Textbox(
        value=f"{Sampling.model_fields[name].default:g}",
        label=label,
        info=info,
        max_lines=1,
        min_width=120,
        elem_id=f"try-{name}",
    )
