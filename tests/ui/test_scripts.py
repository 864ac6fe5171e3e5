"""The charts' own arithmetic, in a browser and on an empty page: smoothing, sums, readouts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from playground.ui import charts, text

pytestmark = pytest.mark.browser
HERE = Path(charts.__file__).parent


@pytest.fixture
def script(chromium: Any) -> Any:
    """``script("averaged(line, 2)", line=...)`` evaluates with what the charts are drawn by."""
    page = chromium.new_page()
    plain = "".join((HERE / name).read_text() for name in ("curves.js", "smooth.js", "axis.js"))
    page.add_script_tag(content=f"const words = {json.dumps(text.CHARTS)};{plain}")

    def evaluate(expression: str, **names: Any) -> Any:
        return page.evaluate(f"({{{', '.join(names)}}}) => {expression}", names)

    yield evaluate
    page.close()


def line(*ys: float | None, x: list[int] | None = None) -> dict[str, Any]:
    xs = x or list(range(1, len(ys) + 1))
    return {"run": "r", "arm": "a", "x": xs, "y": list(ys), "marks": []}


def smoothed(script: Any, line: dict[str, Any], over: int, past: Any = None) -> list[Any]:
    return script("averaged(line, over, past)", line=line, over=over, past=past)["y"]


def test_an_average_starts_at_the_first_value_and_follows_slowly(script: Any) -> None:
    # Half of the past fades in a step: (0.5 * 0.5 * 4 + 0.5 * 0) / (0.5 * 0.5 + 0.5) = 4/3
    assert smoothed(script, line(4.0, 0.0), 2) == pytest.approx([4.0, 4 / 3])


def test_nothing_is_drawn_across_a_value_that_is_not_there(script: Any) -> None:
    found = smoothed(script, line(1.0, None, 1.0), 3)
    assert found[1] is None and found[2] == pytest.approx(1.0)


def test_thinned_and_whole_lines_smooth_alike(script: Any) -> None:
    every = [4 - n / 100 for n in range(1, 301)]
    whole = smoothed(script, line(*every), 60)
    thinned = smoothed(script, line(*every[::4], x=list(range(1, 301, 4))), 60)
    assert thinned == pytest.approx(whole[::4], abs=0.03)  # 0.02 at most is what was found


def test_a_part_that_is_zoomed_into_goes_on_where_its_past_was(script: Any) -> None:
    every = [4 - n / 100 for n in range(1, 101)]
    part = line(*every[50:], x=list(range(51, 101)))
    assert smoothed(script, part, 10, line(*every)) == pytest.approx(
        smoothed(script, line(*every), 10)[50:]
    )


def test_the_peak_so_far_is_that_of_the_step_along_any_axis(script: Any) -> None:
    memory = line(5.0, 6.0, 5.0, x=[1, 4, 9]) | {"peaks": [[1, 7.0], [5, 8.0]]}
    by_time = memory | {"step": memory["x"], "x": [0.1, 0.4, 0.9]}
    for drawn in (memory, by_time):
        assert script("[0, 1, 2].map((i) => peakAt(drawn, i))", drawn=drawn) == [7.0, 7.0, 8.0]
    assert script("peakAt(drawn, 0)", drawn=line(5.0)) == 0, "never told"


def test_joules_have_a_place_only_where_they_were_measured(script: Any) -> None:
    sums = {
        "gpu": {"step": [2, 4], "energy": [10.0, 30.0]},
        "cpu": {"step": [2, 4], "energy": [None, None]},
    }
    at = "position(sums, 'energy', run, step)"
    assert [script(at, sums=sums, run="gpu", step=s) for s in (0, 1, 3, 4, 5)] == [
        0, 5.0, 20.0, 30.0, None,
    ]  # fmt: skip
    assert [script(at, sums=sums, run="cpu", step=s) for s in (0, 3)] == [None, None]
