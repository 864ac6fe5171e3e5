"""The Formats page laid out and wired: numbers, a layer, all layers, from top to bottom.

Handlers ask the microscope's children; nothing here computes, and nothing is asked before somebody
opens the page.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.context import LocalContext

from playground.catalog import list_models
from playground.config import SettingsError
from playground.formats import EXAMPLES, MEDIAN, Microscope, written
from playground.ui import guard, panels, visitors
from playground.ui.formats import cells, layer, layers, questions
from playground.ui.quiet import QUIET
from playground.ui.text import formats as text

# What fills a panel and what draws it in another format go one after the other, so that a format
# chosen while numbers are still being rounded is drawn of those, and not of the ones before.
_NUMBERS = QUIET | {"concurrency_id": "lens-numbers"}
_LAYER = QUIET | {"concurrency_id": "lens-layer"}
_FIRST_EXAMPLE = "gaussian"
_FIRST_MODEL = "tiny"
_BLOCK = 16
Found = dict[str, Any] | None


@dataclass(frozen=True)
class Numbers:
    """The widgets of "A few numbers"."""

    typed: gr.Textbox
    shown_in: gr.Radio
    notice: gr.HTML
    found: gr.State
    panel: gr.HTML
    questions: gr.HTML

    @property
    def outputs(self) -> list[Any]:
        return [self.notice, self.found, self.panel, self.questions]


@dataclass(frozen=True)
class OneLayer:
    """The widgets of "A layer"."""

    model: gr.Dropdown
    layer: gr.Dropdown
    row: gr.Number
    column: gr.Number
    shown_in: gr.Radio
    notice: gr.HTML
    found: gr.State
    panel: gr.HTML
    moves: dict[str, gr.Button]

    @property
    def outputs(self) -> list[Any]:
        return [self.notice, self.found, self.panel, self.row, self.column]

    @property
    def everything(self) -> list[Any]:
        """What another model fills: its layers, ``outputs``, and buttons, asleep until then."""
        return [self.layer, *self.outputs, *self.moves.values()]


@dataclass(frozen=True)
class AllLayers:
    """The widgets of "All layers"."""

    measure: gr.Button
    panel: gr.HTML


def build(home: Path, tab: gr.Tab) -> None:
    """Draws the page and wires it; call it inside ``tab``."""
    scope = Microscope(home)
    gr.HTML(_intro(), apply_default_css=False)
    with gr.Column(elem_classes="sheet lens"):
        numbers, look, examples, take = _numbers()
    with gr.Column(elem_classes="sheet lens"):
        one = _layer()
    with gr.Column(elem_classes="sheet lens"):
        everything = _layers()
    _wire_numbers(scope, numbers, look, examples, take, one)
    _wire_layer(scope, one)
    _wire_all(scope, everything, one)
    _wire_opening(scope, tab, numbers, one, everything)


def _intro() -> str:
    words = "".join(
        f"<div><dt>{escape(word)}</dt><dd>{escape(said)}</dd></div>" for word, said in text.GLOSSARY
    )
    return (
        f'<div class="past-intro lens-intro"><h2>{escape(text.TITLE)}</h2>'
        f"<p>{escape(text.INTRO)}</p><p>{escape(text.EXAMPLE)}</p>"
        f"<details><summary>{escape(text.WORDS)}</summary><dl>{words}</dl></details></div>"
    )


def _heading(words: str, how: str = "") -> None:
    """A part's name, and how what it shows was computed."""
    said = f'<p class="soft">{escape(how)}</p>' if how else ""
    gr.HTML(f"<h3>{escape(words)}</h3>{said}", apply_default_css=False)


def _html(name: str, **more: Any) -> gr.HTML:
    return gr.HTML("", elem_id=name, apply_default_css=False, **more)


def _shown_in(name: str) -> gr.Radio:
    choices = [(label, key) for key, label in text.LABELS.items()]
    return gr.Radio(choices, value="nvfp4", label=text.FORMAT, elem_id=name, elem_classes="picks")


def _numbers() -> tuple[Numbers, gr.Button, dict[str, gr.Button], gr.Button]:
    _heading(text.NUMBERS_HEADING, text.HOW)
    typed = gr.Textbox(
        written(EXAMPLES[_FIRST_EXAMPLE]),
        label=text.NUMBERS,
        info=text.NUMBERS_INFO,
        lines=2,
        max_lines=6,
        elem_id="lens-numbers",
    )
    with gr.Row(elem_classes="lens-buttons"):
        look = gr.Button(text.LOOK, variant="primary", size="sm")
        examples = {key: gr.Button(text.EXAMPLES[key], size="sm") for key in EXAMPLES}
        take = gr.Button(text.FROM_LAYER, size="sm")
    notice = _html("lens-numbers-notice")
    shown_in = _shown_in("lens-numbers-format")
    panel = _html("lens-numbers-panel")
    _heading(text.QUESTIONS)
    asked = _html("lens-questions")
    numbers = Numbers(typed, shown_in, notice, gr.State(None), panel, asked)
    return numbers, look, examples, take


def _layer() -> OneLayer:
    _heading(text.LAYER_HEADING, text.HOW_LAYER)
    known = [(entry.title, entry.id) for entry in list_models() if entry.here]
    with gr.Row(elem_classes="lens-pick"):
        model = gr.Dropdown(
            known,
            value=_FIRST_MODEL,
            label=text.MODEL,
            info=text.MODEL_INFO,
            allow_custom_value=True,
            elem_id="lens-model",
        )
        which = gr.Dropdown([], label=text.LAYER, info=text.LAYER_INFO, elem_id="lens-layer")
    with gr.Row(elem_classes="lens-buttons"):
        moves = {
            "median": gr.Button(text.MEDIAN, size="sm", interactive=False),
            "worst": gr.Button(text.WORST, size="sm", interactive=False),
            "random": gr.Button(text.RANDOM, size="sm", interactive=False),
            "next": gr.Button(text.NEXT, size="sm", interactive=False),
        }
        row = gr.Number(0, label=text.ROW, precision=0, minimum=0, elem_id="lens-row")
        column = gr.Number(0, label=text.COLUMN, precision=0, minimum=0, elem_id="lens-column")
        moves["at"] = gr.Button(text.GO, size="sm", interactive=False)
    # It is read once the page is opened, after the numbers above: said from the beginning.
    reading = panels.notice(text.READING, "info")
    notice = gr.HTML(reading, elem_id="lens-layer-notice", apply_default_css=False)
    shown_in = _shown_in("lens-layer-format")
    panel = _html("lens-layer-panel")
    return OneLayer(model, which, row, column, shown_in, notice, gr.State(None), panel, moves)


def _layers() -> AllLayers:
    _heading(text.LAYERS_HEADING, text.HOW_LAYER)
    with gr.Row(elem_classes="lens-buttons"):
        measure = gr.Button(text.MEASURE.format(model=_FIRST_MODEL), size="sm")
    script = (Path(__file__).parent.parent / "microscope.js").read_text(encoding="utf-8")
    return AllLayers(measure, _html("lens-layers", js_on_load=script))


def _wire_numbers(
    scope: Microscope,
    numbers: Numbers,
    look: gr.Button,
    examples: dict[str, gr.Button],
    take: gr.Button,
    one: OneLayer,
) -> None:
    on_look = guard.costly(_on_look(scope))
    inputs = [numbers.typed, numbers.shown_in]
    look.click(on_look, inputs, numbers.outputs, **_NUMBERS)
    numbers.typed.submit(on_look, inputs, numbers.outputs, **_NUMBERS)
    for key, button in examples.items():
        button.click(
            lambda key=key: written(EXAMPLES[key]), None, numbers.typed, queue=False, **QUIET
        ).then(on_look, inputs, numbers.outputs, **_NUMBERS)

    def on_take(found: Found) -> Any:
        return written(found["values"]) if found else gr.skip()

    take.click(on_take, one.found, numbers.typed, queue=False, **QUIET).then(
        on_look, inputs, numbers.outputs, **_NUMBERS
    )
    numbers.shown_in.change(
        _again(cells.panel), [numbers.found, numbers.shown_in], numbers.panel, **_NUMBERS
    )


def _on_look(scope: Microscope) -> Callable[[str, str], list[Any]]:
    def on_look(typed: str, chosen: str) -> list[Any]:
        try:
            found = scope.numbers(typed)
        except SettingsError as error:
            return [panels.notice(str(error)), *[gr.skip()] * 3]
        return ["", found, cells.panel(found, chosen), questions.panel(found)]

    return on_look


def _again(draw: Callable[[Any, str], str]) -> Callable[[Found, str], Any]:
    """The same finding in another format."""

    def on_format(found: Found, chosen: str) -> Any:
        return draw(found, chosen) if found else gr.skip()

    return on_format


def _wire_layer(scope: Microscope, one: OneLayer) -> None:
    def mover(how: str) -> Callable[..., list[Any]]:
        def on_move(
            model: str, name: str, chosen: str, row: float, column: float, found: Found
        ) -> list[Any]:
            return _show(scope, model, name, chosen, lambda: _block(how, row, column, found))

        return guard.costly(on_move)

    first = guard.costly(_on_model(scope, len(one.moves)))
    one.model.input(first, [one.model, one.shown_in, one.found], one.everything, **_LAYER)
    inputs = [one.model, one.layer, one.shown_in, one.row, one.column, one.found]
    one.layer.input(mover("median"), inputs, one.outputs, **_LAYER)
    for how, button in one.moves.items():
        button.click(mover(how), inputs, one.outputs, **_LAYER)
    one.shown_in.change(_again(layer.panel), [one.found, one.shown_in], one.panel, **_LAYER)


def _on_model(scope: Microscope, moves: int) -> Callable[..., Iterator[list[Any]]]:
    """A model's layers, a typical block of the first, and the buttons, so many, that move on."""

    def on_model(model: str, chosen: str, before: Found = None) -> Iterator[list[Any]]:
        waiting = [gr.Button(interactive=False)] * moves
        yield [gr.skip(), panels.notice(text.READING, "info"), *[gr.skip()] * 4, *waiting]
        try:
            _refuse_visitors(model)
            names = [found["name"] for found in scope.layers(model)]
        except SettingsError as error:
            awake = [gr.Button(interactive=before is not None)] * moves
            yield [gr.skip(), panels.notice(str(error)), *[gr.skip()] * 4, *awake]
            return
        shown = _show(scope, model, names[0], chosen, lambda: MEDIAN)
        awake = [gr.Button(interactive=True)] * moves
        yield [gr.Dropdown(names, value=names[0]), *shown, *awake]

    return on_model


def _show(
    scope: Microscope,
    model: str,
    name: str,
    chosen: str,
    block: Callable[[], dict[str, Any]],
) -> list[Any]:
    """A block of a layer; what cannot be shown is said, and all else stays as it is."""
    try:
        _refuse_visitors(model)
        found = scope.layer(model, name, block())
    except SettingsError as error:
        return [panels.notice(str(error)), *[gr.skip()] * 4]
    return ["", found, layer.panel(found, chosen), found["row"], found["column"]]


def _block(how: str, row: float | None, column: float | None, found: Found) -> dict[str, Any]:
    """What to ask for; "next" is the block after the one that is shown."""
    if how == "random":
        return {"how": how, "seed": random.randrange(1 << 31)}
    if how == "at":
        if row is None or column is None:
            raise SettingsError(text.NO_PLACE)
        return {"how": how, "row": int(row), "column": int(column)}
    if how == "next" and found:
        rows, columns = found["shape"]
        at = (found["row"] * columns + found["column"] + _BLOCK) % (rows * columns)
        return {"how": "at", "row": at // columns, "column": at % columns}
    return {"how": "worst"} if how == "worst" else MEDIAN


def _wire_all(scope: Microscope, everything: AllLayers, one: OneLayer) -> None:
    one.model.change(
        lambda model: gr.Button(text.MEASURE.format(model=model)),
        one.model,
        everything.measure,
        queue=False,
        **QUIET,
    )
    everything.measure.click(guard.costly(_on_all(scope)), one.model, everything.panel, **QUIET)


def _on_all(scope: Microscope) -> Callable[[str], Iterator[str]]:
    def on_all(model: str) -> Iterator[str]:
        yield layers.progress(model, None)
        try:
            _refuse_visitors(model)
            for line in scope.model(model):
                if "tell" in line:
                    yield layers.progress(model, line["tell"])
                else:
                    yield layers.panel(line["answer"])
        except SettingsError as error:
            yield panels.notice(str(error))

    return on_all


def _wire_opening(
    scope: Microscope, tab: gr.Tab, numbers: Numbers, one: OneLayer, everything: AllLayers
) -> None:
    """The first time that somebody opens the page, it fills itself, from top to bottom."""
    look, measure = _on_look(scope), _on_all(scope)
    first = _on_model(scope, len(one.moves))

    def on_numbers(found: Found, typed: str, chosen: str) -> Iterator[list[Any]]:
        if found is None:
            yield [panels.notice(text.WAITING, "info"), *[gr.skip()] * 3]
            yield look(typed, chosen)

    def on_layer(found: Found, model: str, chosen: str) -> Iterator[list[Any]]:
        if found is None:
            yield from first(model, chosen)

    def on_layers(drawn: str, model: str) -> Iterator[str]:
        if not drawn:
            yield from measure(model)

    inputs = [numbers.found, numbers.typed, numbers.shown_in]
    opened = tab.select(guard.costly(on_numbers), inputs, numbers.outputs, **_NUMBERS)
    inputs = [one.found, one.model, one.shown_in]
    filled = opened.then(guard.costly(on_layer), inputs, one.everything, **_LAYER)
    inputs = [everything.panel, one.model]
    filled.then(guard.costly(on_layers), inputs, everything.panel, **QUIET)


def _refuse_visitors(model: str) -> None:
    visitors.refuse_model(model, guard.may_change(LocalContext.request.get(None)))
