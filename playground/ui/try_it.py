"""The Try it page: ask a finished comparison, and read what it answered to the held-out rows.

What stands above the question is sent along with it; what stands below is what was answered last.
Handlers are thin: they read their inputs, call a plain function, and return updates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from playground.config import SettingsError
from playground.generate import (
    Chat,
    Column,
    Conversation,
    Question,
    Sampling,
    columns_of,
    parse_sampling,
)
from playground.store import Group, RunStore
from playground.ui import figures, guard, held_out, recorded
from playground.ui.answers import answers, cut, earlier, exchange_of
from playground.ui.panels import notice
from playground.ui.quiet import QUIET
from playground.ui.text import try_it as text
from playground.ui.widgets import Widgets

MOST_GROUPS = 30
NOTHING_SAID = Conversation()
_FOCUS = """() => document.querySelector("#try-question textarea").focus()"""


@dataclass(frozen=True)
class Page(Widgets):
    """The widgets that a choice of comparison fills, in this order.

    example: the question that an empty one stands for. known: what they were filled from.
    """

    group: gr.Dropdown
    beside: gr.Dropdown
    empty: gr.HTML
    asking: gr.Column
    question: gr.Textbox
    example: gr.State
    rows: gr.Column
    examples: gr.Dataset
    which: gr.Radio
    table: gr.HTML
    known: gr.State


@dataclass(frozen=True)
class Talk(Widgets):
    """The widgets of one conversation, in the order in which ``talk`` fills them.

    before: what was said; last: the same with what was answered last, if it can go on from there.
    """

    before: gr.State
    last: gr.State
    said: gr.HTML
    shown: gr.HTML
    go_on: gr.Button
    new: gr.Button
    notice: gr.HTML


def askable(store: RunStore) -> list[Group]:
    """Comparisons that have somebody to answer, newest first."""
    return [group for group in store.list_groups(limit=MOST_GROUPS) if columns_of(store, group)]


def updates(store: RunStore, wanted: str | None, beside: str | None = None) -> list[Any]:
    """What the page becomes for a comparison by its id; for one it has not, the newest."""
    groups = askable(store)
    if wanted and wanted not in [group.id for group in groups]:
        groups += _by_id(store, wanted)
    if not groups:
        hidden = gr.Column(visible=False)
        said = f'<div class="empty"><p>{text.NOTHING_YET}</p></div>'
        nobody = gr.Dropdown(choices=[], value=None)
        rest = [gr.skip(), "", hidden, gr.skip(), gr.skip(), "", None]
        return [nobody, nobody, gr.HTML(said, visible=True), hidden, *rest]
    chosen = next((group for group in groups if group.id == wanted), groups[0])
    arms = held_out.arms_of(store, chosen)
    prompts = held_out.questions(arms)
    example = next((p for p in prompts if not held_out.asked_again(p, 0)[0]), "")
    choices = [(_named(group), group.id) for group in groups]
    return [
        gr.Dropdown(choices=choices, value=chosen.id),
        _beside(chosen, groups, beside),
        gr.HTML("", visible=False),
        gr.Column(visible=True),
        gr.Textbox(
            placeholder=example, info=text.QUESTION_INFO if example else text.QUESTION_INFO_ALONE
        ),
        example,
        gr.Column(visible=True),
        gr.Dataset(samples=[[prompt] for prompt in prompts], visible=bool(prompts)),
        gr.Radio(value="all", visible=bool(arms)),
        _table(store, chosen, "all"),
        (choices, chosen.id, columns_of(store, chosen)),
    ]


def _beside(chosen: Group, groups: list[Group], beside: str | None) -> gr.Dropdown:
    """The others of the same model, for their adapters to be asked as well."""
    model = chosen.runs[0].config.model
    others = [g for g in groups if g.id != chosen.id and g.runs[0].config.model == model]
    choices = [(text.NOBODY, ""), *((_named(group), group.id) for group in others)]
    value = beside if beside in [group.id for group in others] else ""
    return gr.Dropdown(choices=choices, value=value, visible=bool(others))


def talk(before: Conversation = NOTHING_SAID, columns: Sequence[Column] = ()) -> list[Any]:
    """What the widgets of ``Talk`` become before the next question of a conversation."""
    hidden, new = gr.Button(visible=False), gr.Button(visible=bool(before))
    return [before, None, earlier(before, columns), "", hidden, new, ""]


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


def _columns(store: RunStore, *chosen: str | None) -> list[Column]:
    """Who answers, of one comparison or two by their ids."""
    groups = [group for name in chosen if name for group in _by_id(store, name)]
    return columns_of(store, *groups) if groups else []


def _named(group: Group) -> str:
    title = cut(recorded.titled(group.title))
    return text.GROUP_CHOICE.format(title=title, when=figures.moment(group.created_at))


def labelled(sentence: str) -> str:
    """A sentence about a setting of the answer (``top_p``) with the label of its field."""
    found = re.match(rf"({'|'.join(text.FIELDS)}) is ", sentence)
    return sentence if not found else text.FIELDS[found[1]][0] + sentence[len(found[1]) :]


def build(app: gr.Blocks, store: RunStore, chat: Chat, tab: gr.Tab) -> None:
    """Lays the page out inside ``tab`` and wires it; call it inside ``app``."""
    intro = text.INTRO.format(minutes=round(chat.idle_s / 60))
    gr.HTML(
        f'<div class="page-intro"><h2>{text.HEADING}</h2><p>{intro}</p></div>',
        apply_default_css=False,
    )
    empty = gr.HTML("", elem_id="try-empty", visible=False, apply_default_css=False)
    with gr.Column(visible=False, elem_id="try") as asking, gr.Column(elem_classes="sheet"):
        with gr.Row(elem_classes="grid-2"):
            group = gr.Dropdown(
                [], label=text.GROUP, info=text.GROUP_INFO, filterable=False, elem_id="try-group"
            )
            beside = gr.Dropdown(
                [("", "")],
                value="",
                label=text.BESIDE,
                info=text.BESIDE_INFO,
                filterable=False,
                visible=False,
                elem_id="try-beside",
            )
        said_before = gr.HTML("", elem_id="try-earlier", apply_default_css=False)
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
            go_on = gr.Button(text.GO_ON, size="sm", visible=False, elem_id="try-go-on")
            new = gr.Button(text.NEW, size="sm", visible=False, elem_id="try-new")
            free = gr.Button(text.FREE, size="sm", elem_id="try-free")
        said = gr.HTML("", elem_id="try-notice", apply_default_css=False)
        shown = gr.HTML("", elem_id="try-answers", apply_default_css=False)
    with gr.Column(visible=False) as rows, gr.Column(elem_classes="sheet"):
        heading = f"<h3>{text.ROWS_HEADING}</h3><p class='soft'>{escape(text.ROWS_INTRO)}</p>"
        gr.HTML(heading, apply_default_css=False)
        choices = [(label, name) for name, label in text.FILTERS.items()]
        which = gr.Radio(choices, value="all", label=text.SHOW, elem_id="try-which")
        table = gr.HTML("", elem_id="held-out", apply_default_css=False)
    example = gr.State("")
    known = gr.State(None)
    page = Page(
        group, beside, empty, asking, question, example, rows, examples, which, table, known
    )
    turns = Talk(gr.State(NOTHING_SAID), gr.State(None), said_before, shown, go_on, new, said)

    def on_open(request: gr.Request) -> list[Any]:
        return updates(store, request.query_params.get("group"))

    def on_show(chosen: str | None, other: str | None, filled_from: Any) -> list[Any]:
        now = updates(store, chosen, other)
        if now[-1] == filled_from:  # what was chosen here while this was asked stays as it is
            return [gr.skip()] * (len(now) + len(turns.outputs))
        # One that was deleted meanwhile: what it was told is nothing that others have said.
        gone = any(name and not _by_id(store, name) for name in (chosen, other))
        return [*now, *(talk() if gone else [gr.skip()] * len(turns.outputs))]

    def on_choice(chosen: str | None) -> list[Any]:
        return [*updates(store, chosen)[1:], *talk()]

    def on_filter(chosen: str | None, asked_for: str) -> str:
        groups = _by_id(store, chosen or "")
        return _table(store, groups[0], asked_for) if groups else ""

    def on_example(picked: list[str], chosen: str, other: str) -> list[Any]:
        columns = _columns(store, chosen, other)
        before, prompt = held_out.asked_again(picked[0], len(columns))
        return [prompt, *talk(before, columns)]

    def on_ask(
        chosen: str, other: str, before: Conversation, shown_example: str, prompt: str, *typed: str
    ) -> Iterator[list[Any]]:
        prompt = prompt if prompt.strip() else shown_example
        columns: Sequence[Column] = ()
        # Whom it was asked of, and in which conversation, stays until they have answered.
        held = [gr.Button(interactive=False), *[gr.Dropdown(interactive=False)] * 2]
        hidden, pressable = gr.Button(visible=False), gr.Button(interactive=True)
        yield [prompt, None, "", "", hidden, pressable, *held]
        try:
            sampling = parse_sampling(dict(zip(text.FIELDS, typed, strict=True)))
            asked = Question(chosen or "", prompt, sampling, before, other or None)
            for columns in chat.ask(asked):
                yield [*[gr.skip()] * 3, answers(columns, prompt), *[gr.skip()] * 5]
        except SettingsError as error:
            yield [*[gr.skip()] * 2, notice(labelled(str(error))), *[gr.skip()] * 6]
        exchange = exchange_of(prompt, columns)
        last = before.then(exchange) if exchange else None
        go, rest = gr.Button(visible=last is not None), gr.Button(interactive=False)
        let_go = [gr.Button(interactive=True), *[gr.Dropdown(interactive=True)] * 2]
        yield [gr.skip(), last, *[gr.skip()] * 2, go, rest, *let_go]

    def on_go_on(chosen: str, other: str, last: Conversation) -> list[Any]:
        return ["", *talk(last, _columns(store, chosen, other))]

    def on_stop() -> None:
        chat.stop()

    def on_free() -> str:
        held = chat.holds_memory
        chat.end()
        return notice(text.FREED if held else text.NOTHING_HELD, "info")

    unqueued = {"queue": False, **QUIET}
    app.load(on_open, None, page.outputs, **unqueued)
    # A run may have finished since the page was opened.
    tab.select(on_show, [group, beside, known], [*page.outputs, *turns.outputs], **unqueued)
    which.input(on_filter, [group, which], table, **unqueued)
    # Several at once, so that who asks second is told and does not wait in silence.
    gr.on(
        [ask.click, question.submit],
        guard.changes(on_ask),
        [group, beside, turns.before, example, question, *fields.values()],
        [question, turns.last, said, shown, go_on, stop, new, group, beside],
        concurrency_limit=4,
        **QUIET,
    )
    group.input(on_choice, group, [*page.outputs[1:], *turns.outputs], **unqueued)
    beside.input(lambda: talk(), None, turns.outputs, **unqueued)
    picked = [question, *turns.outputs]
    examples.click(on_example, [examples, group, beside], picked, **unqueued)
    stop.click(guard.changes(on_stop), None, None, **unqueued)
    go_on.click(on_go_on, [group, beside, turns.last], picked, **unqueued).then(js=_FOCUS)
    new.click(lambda: talk(), None, turns.outputs, **unqueued).then(js=_FOCUS)
    free.click(guard.changes(on_free), None, said, **unqueued)


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
