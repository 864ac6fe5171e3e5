"""The Formats page: figures as drawn, names never markup, and all of it in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from playground.formats import EXAMPLES, FORMATS
from playground.formats.__main__ import answer
from playground.ui.formats import cells, layer, layers, questions
from playground.ui.formats.drawing import Axis, Frame, bits, plot
from playground.ui.text import formats as text
from tests.ui.conftest import Served
from tests.ui.driving import open_tab

NASTY = '<script>alert(1)</script>"&'


def numbers(values: list[float]) -> dict[str, Any]:
    (found,) = answer({"about": "numbers", "values": values})
    return found["answer"]


def one_layer(**more: Any) -> dict[str, Any]:
    question = {"about": "layer", "model": "tiny", "layer": None, "block": {"how": "median"}}
    (found,) = answer(question)
    return found["answer"] | more


def whole_model(errors: dict[str, float | None]) -> dict[str, Any]:
    row = {"name": NASTY, "shape": [128, 64], "non_finite": 0, "errors": errors}
    gaussian = dict.fromkeys(FORMATS, 0.1)
    return {
        "model": NASTY, "layers": 1, "left_out": 2, "kept": True, "gguf": NASTY, "rows": [row],
        "total": errors, "gaussian": gaussian,
    }  # fmt: skip


def test_every_format_has_a_name() -> None:
    assert list(text.LABELS) == list(FORMATS)


class TestDrawing:
    def test_axes(self) -> None:
        assert [Axis(-6, 6).share(v) for v in (-6, 0, 6, 99)] == [0, 0.5, 1, 1]
        assert Axis(0.01, 1, log=True).share(0.1) == pytest.approx(0.5)
        assert Axis(0.01, 1, log=True).share(0) == 0

    def test_a_line_grows_upwards_and_dots_have_no_length(self) -> None:
        frame = Frame(Axis(0, 10), Axis(0, 1))
        assert 'd="M0.0 1000.0L1000.0 0.0"' in frame.line([(0, 0), (10, 1)], "a")
        assert 'd="M500.0 500.0h0"' in frame.dots([(5, 0.5)], "b")
        assert frame.line([], "a") == frame.dots([], "b") == ""

    def test_bars_leave_out_what_is_empty(self) -> None:
        frame = Frame(Axis(0, 2), Axis(0, 4))
        assert 'd="M500.0 1000.0V500.0H1000.0V1000.0z"' in frame.bars([0, 1, 2], [0, 2], "x")

    def test_a_plot_says_what_it_shows_and_its_words_are_text(self) -> None:
        frame = Frame(Axis(0, 1), Axis(0, 1))
        drawn = plot(NASTY, [], [frame.below(0.5, NASTY)], "p")
        assert "<script" not in drawn and 'role="img"' in drawn

    def test_bits_are_told_apart_by_field(self) -> None:
        fields = re.findall(r'class="is-(\w+)">(\d+)<', bits(0x7E, (1, 4, 3)))
        assert fields == [("sign", "0"), ("exponent", "1111"), ("mantissa", "110")]


class TestCells:
    @pytest.mark.parametrize("name", FORMATS)
    def test_a_cell_for_each_number(self, name: str) -> None:
        made = cells.panel(numbers(EXAMPLES["outlier"]), name)
        said = [unescape(title) for title in re.findall(r'<li title="([^"]+)"', made)]
        assert len(said) == 32
        assert said[21].startswith("0.500 over its scales is")
        assert made.count('class="lens-plot rail"') == (0 if name == "fp8" else 2)

    def test_the_chosen_format_is_marked_and_all_are_there(self) -> None:
        made = cells.panel(numbers(EXAMPLES["equal"]), "mxfp4")
        assert len(re.findall('<tr class="arm-', made)) == len(FORMATS)
        chosen = re.search(r'is-chosen"><th scope="row"><i class="swatch"></i>([^<]+)', made)
        assert chosen[1] == "MXFP4"
        assert "2⁻³ = 0.125" in made and ">01111100<" in made

    def test_a_format_that_cannot_hold_a_layer_says_so(self) -> None:
        found = numbers([1.0] * 16)
        refused = [{"name": "mxfp4", "refuses": 32}, *found["formats"][:1]]
        made = cells.panel(found | {"formats": refused}, "mxfp4")
        assert made.count("rows that blocks of 32 divide") == 2


class TestQuestions:
    def said(self, values: list[float]) -> str:
        return unescape(questions.panel(numbers(values))).replace("\xa0", " ")

    def test_sixteen_numbers_are_one_block(self) -> None:
        made = self.said(EXAMPLES["equal"])
        assert "nothing to compare" in made and 'class="pairs"' not in made

    def test_an_outlier_is_what_small_blocks_are_for(self) -> None:
        made = self.said(EXAMPLES["outlier"])
        assert re.search(r"halving the block cuts the error by 3\d % with E4M3", made)
        assert made.count('class="pair ') == 4

    def test_small_numbers_vanish_without_the_second_scale(self) -> None:
        made = self.said(EXAMPLES["small"])
        assert "without it 100 % of the block scales round to 0 and their numbers vanish" in made

    def test_where_it_buys_nothing_the_page_says_so(self) -> None:
        made = self.said([value * 50 for value in EXAMPLES["gaussian"]])
        assert "Here it buys nothing" in made and "Here it is needed" not in made

    def test_zeros(self) -> None:
        assert "nothing to scale" in self.said([0.0] * 32)


class TestLayers:
    def test_nothing_of_a_name_is_markup(self) -> None:
        errors = dict.fromkeys(FORMATS, 0.09) | {"mxfp4": None}
        shown = layers.panel(whole_model(errors)) + layers.progress(NASTY, None)
        shown += layer.panel(one_layer(layer=NASTY, dtype=NASTY), "nvfp4")
        assert "<script" not in shown and "&lt;script&gt;" in shown
        assert "—</td>" in shown  # what a format cannot hold is missing, not 0

    def test_histograms_hold_the_fifteen_values(self) -> None:
        made = layer.panel(one_layer(), "nvfp4")
        assert made.count('class="level"') == 30
        assert "Row 50, columns 224 to 239" in made

    def test_progress(self) -> None:
        made = layers.progress("tiny", {"done": 7, "layers": 35})
        assert "7 of 35 layers of tiny measured" in made and "width:20%" in made


def test_who_only_watches_learns_nothing_of_folders(tmp_path: Path) -> None:
    from playground.config import SettingsError
    from playground.ui.formats.page import _refuse_visitors

    _refuse_visitors("tiny")
    for model in (str(tmp_path), "owner/name"):  # outside a request nobody may change anything
        with pytest.raises(SettingsError, match="not in the list are shown to those who have"):
            _refuse_visitors(model)


def test_only_numbers_and_a_look_are_asked_of_a_child(tmp_path: Path) -> None:
    """Nothing is computed before somebody opens the page."""
    import gradio as gr

    from playground.ui.formats import build

    with gr.Blocks(), gr.Tab("x") as tab:
        build(tmp_path / "home", tab)
    assert not (tmp_path / "home").exists()


@pytest.mark.browser
def test_in_a_browser(served: Served, visit: Callable[..., Any]) -> None:
    page = visit(f"{served.url}/?page=formats", ready=None)  # it fills itself
    numbers, first = page.locator("#lens-numbers textarea"), page.locator("#lens-numbers-panel")
    first.locator(".cells li:not(.key)").nth(31).wait_for()
    by_layer = page.locator(".by-layer")
    by_layer.wait_for()

    # Numbers of one's own, in one format and another; what is wrong is a sentence, the text stays.
    numbers.fill("6 -3 1.5 0.2 -0.7 2.4 4.8 -4.1 0 0.9 -1.2 3.4 2.9 -0.3 1.1 -5.9")
    page.get_by_role("button", name="Look", exact=True).click()
    cell = first.locator(".cells li:not(.key)").first
    page.wait_for_function(
        "document.querySelectorAll('#lens-numbers-panel .cells li').length === 17"
    )
    assert cell.get_attribute("title").startswith("6.00 over its scales is 6.00, code 0111")
    assert first.locator(".scales").inner_text().split()[:4] == [
        "Block",
        "scale",
        "448",
        "01111110",
    ]
    page.locator("#lens-numbers-format").get_by_label("MXFP4", exact=True).check()
    first.get_by_text("2⁰ = 1").first.wait_for()
    numbers.fill("1 2 abc")
    page.get_by_role("button", name="Look", exact=True).click()
    said = page.locator("#lens-numbers-notice .notice")
    said.wait_for()
    assert said.inner_text().startswith("Number 3 is 'abc', which is not a number")
    assert numbers.input_value() == "1 2 abc" and cell.is_visible()
    page.get_by_role("button", name="All equal").click()
    page.get_by_text("nothing to compare").wait_for()
    said.wait_for(state="detached")

    # A layer, and blocks of it.
    second = page.locator("#lens-layer-panel")
    page.locator("#lens-layer input").click()
    page.get_by_role("option", name="model.layers.3.self_attn.v_proj.weight").click()
    second.get_by_text("model.layers.3.self_attn.v_proj.weight").first.wait_for()
    page.get_by_role("button", name="The worst block").click()
    second.get_by_text("; 0 % of them err more").wait_for()
    page.locator("#lens-row input").fill("2")
    page.locator("#lens-column input").fill("40")
    page.get_by_role("button", name="Go there").click()
    second.get_by_text("Row 2, columns 32 to 47").wait_for()
    page.get_by_role("button", name="The next block").click()
    second.get_by_text("Row 2, columns 48 to 63").wait_for()
    page.locator("#lens-row input").fill("999")
    page.get_by_role("button", name="Go there").click()
    page.get_by_text("Row 999, column 48 is outside this layer").wait_for()
    page.get_by_role("button", name="From the layer below").click()
    page.wait_for_function("document.querySelector('#lens-numbers textarea').value.length > 100")

    page.locator("#lens-model input").fill("tinny")
    page.keyboard.press("Enter")
    page.get_by_text("Did you mean 'tiny'?").wait_for()

    # All layers, read by pointer and by keys, and sorted.
    by_layer.scroll_into_view_if_needed()
    box = by_layer.bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 20)
    tip = by_layer.locator(".tip")
    tip.wait_for()
    assert "model.layers.0.mlp.down_proj.weight (128 × 384)" in tip.inner_text()
    by_layer.focus()
    page.keyboard.press("End")
    assert "model.layers.4.self_attn.v_proj.weight" in tip.inner_text()
    page.keyboard.press("ArrowLeft")
    assert "model.layers.4.self_attn.q_proj.weight" in tip.inner_text()
    page.keyboard.press("Escape")
    tip.wait_for(state="detached")
    page.get_by_role("button", name="MXFP4", exact=True).click()
    column = page.locator(".sortable tbody tr td:nth-child(6)")
    figures = [float(text.split()[0]) for text in column.all_inner_texts()]
    assert len(figures) == 35 and figures == sorted(figures, reverse=True)

    # Who comes back finds all as it was: each part is asked, one after the other, and has been
    # filled. The last is asked when the others have been answered.
    before, asked = _shown(page), []

    def is_last(request: Any) -> bool:
        asked.extend([request] if "queue/join" in request.url else [])
        return len(asked) == 3

    open_tab(page, "Compare")
    with page.expect_request(is_last):
        open_tab(page, "Formats")
    assert _shown(page) == before
    assert all(page.locator(".lens-buttons button").all_inner_texts())
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")


def _shown(page: Any) -> list[str]:
    panels = page.locator("#lens-numbers-panel, #lens-questions, #lens-layer-panel, #lens-layers")
    return panels.all_inner_texts()
