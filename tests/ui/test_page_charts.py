"""The charts in a real browser: zoom, keyboard, what is read off them, when they are redrawn."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.ui.conftest import Served
from tests.ui.driving import open_ended, points, start_quick, wait_for_points
from tests.ui.waiting import until

pytestmark = pytest.mark.browser


def test_zoom_stays_while_steps_arrive(served: Served, visit) -> None:
    served.hold_at(25)
    page = visit(served.url)
    start_quick(page)
    wait_for_points(page, 0, 25)
    box = page.locator(".plot-loss .plot-box svg").bounding_box()
    inner = (52, box["width"] - 14)  # the margins that charts.js draws in
    at = [box["x"] + inner[0] + (inner[1] - inner[0]) * step / 60 for step in (10, 20)]
    middle = box["y"] + box["height"] / 2
    page.mouse.move(at[0], middle)
    page.mouse.down()
    page.mouse.move(at[1], middle, steps=4)
    page.mouse.up()
    zoomed = page.locator(".charts").get_attribute("data-zoom")
    assert [round(float(v)) for v in zoomed.split(",")] == [10, 20]
    served.hold_at(40)
    wait_for_points(page, 0, 40)
    served.hold_at(60)
    wait_for_points(page, 1, 60)
    assert page.locator(".charts").get_attribute("data-zoom") == zoomed
    ticks = page.locator(".plot-loss .tick").all_text_contents()
    assert "20" in ticks and "60" not in ticks
    page.get_by_role("button", name="Reset zoom").click()
    assert page.locator(".charts").get_attribute("data-zoom") == ""


def test_zooming_into_a_long_run_shows_every_step(served: Served, visit) -> None:
    page = open_ended(served, visit, max_steps="2000", precisions="fp16")  # one arm is enough
    assert points(page)[0] < 600
    plot = page.locator(".plot-loss .plot-box svg")
    plot.focus()
    for _ in range(7):
        plot.press("+")
    page.wait_for_function("Number(document.querySelector('.charts').dataset.finer) > 12")
    first, last = (float(v) for v in page.locator(".charts").get_attribute("data-zoom").split(","))
    drawn = int(page.locator(".charts").get_attribute("data-finer"))
    assert last - first < 20 and drawn >= int(last - first)


def test_nothing_is_redrawn_while_nothing_changes(served: Served, visit) -> None:
    served.hold_at(8)
    page = visit(served.url)
    start_quick(page)
    wait_for_points(page, 0, 8)
    expect(page.locator("#progress")).to_contain_text("training")
    with page.expect_response(lambda r: "/news?" in r.url and r.status == 204):
        pass  # it shows what there is
    page.evaluate("document.querySelector('.plot-loss .line').id = 'same'")
    for _ in range(3):
        with page.expect_response(lambda r: "/news?" in r.url) as answer:
            pass
        assert answer.value.status == 204, "nothing at all is sent"
    assert page.locator("#same").count() == 1


def test_a_page_that_nobody_looks_at_asks_nothing_and_catches_up(served: Served, visit) -> None:
    served.hold_at(8)
    page = visit(served.url)
    start_quick(page)
    wait_for_points(page, 0, 8)
    hide = "is => { Object.defineProperty(document, 'hidden', { value: is, configurable: true });"
    hide += " document.dispatchEvent(new Event('visibilitychange')); }"
    page.evaluate(hide, True)
    asked: list[str] = []
    page.on("request", lambda r: asked.append(r.url) if "/news?" in r.url else None)
    served.hold_at(60)
    until(lambda: not served.store.live(), "both runs to end")
    assert len(asked) <= 1 and points(page)[0] < 60, "one may have been under way"
    page.evaluate(hide, False)
    wait_for_points(page, 1, 60)
    page.wait_for_selector(".verdict.is-done")


def test_nan_is_marked_and_the_run_reads_diverged(served: Served, visit) -> None:
    page = open_ended(served, visit, script={"nan_at": [7], "diverge_at": 7})
    expect(page.locator("#heading .chip")).to_have_text(re.compile("diverged"))
    mark = page.locator('.plot-loss .mark[data-kind="not finite"]')
    expect(mark).to_have_count(1)
    assert "step 7: not a finite number" in mark.locator("title").text_content()
    expect(page.locator(".arm-error").last).to_contain_text("NaN at step 7")


def test_the_chart_is_read_and_zoomed_with_the_keyboard(served: Served, visit) -> None:
    page = open_ended(served, visit)
    plot = page.locator(".plot-loss .plot-box svg")
    plot.focus()
    plot.press("ArrowRight")
    tip = page.locator(".plot-loss .tip")
    expect(tip).to_contain_text("step 31")
    expect(tip).to_contain_text("FP16")
    expect(tip).to_contain_text("NVFP4")
    for row in page.locator(".plot-memory_mib .tip-row").all():
        expect(row).to_contain_text("peak so far 360.0")
    plot.press("+")
    assert page.locator(".charts").get_attribute("data-zoom") != ""
    plot.press("Escape")
    assert page.locator(".charts").get_attribute("data-zoom") == ""
    page.get_by_role("button", name="FP16 emulated").click()
    expect(page.locator(".plot-loss .line")).to_have_count(1)


def test_held_out_losses_are_read_with_the_others(served: Served, visit) -> None:
    page = open_ended(served, visit)
    expect(page.locator(".kinds")).to_contain_text("held out")
    plot = page.locator(".plot-loss .plot-box svg")
    plot.focus()
    plot.press("ArrowLeft")  # to 29; no evaluation there
    expect(page.locator(".plot-loss .tip")).not_to_contain_text("held out")
    plot.press("ArrowRight")
    expect(page.locator(".plot-loss .tip")).to_contain_text("NVFP4 held out")


def test_curves_that_coincide_are_all_seen(served: Served, visit) -> None:
    page = open_ended(served, visit, precisions="fp32,bf16,fp16,nvfp4")
    # The scripted curves of three of them are the same to the letter.
    drawn = page.locator(".plot-loss path.turn").evaluate_all("all => all.map(p => p.classList[1])")
    assert drawn[:3] == ["arm-fp32", "arm-bf16", "arm-fp16"]
    places = "all => all.map(p => p.getAttribute('d').split(/[Ml]/)[1])"
    eyed = page.locator(".plot-loss .eval").evaluate_all(places)
    assert len(eyed) == 4 * 7 and len(set(eyed)) == len(eyed)


def test_tokens_and_seconds_can_run_along_the_charts(served: Served, visit) -> None:
    served.hold_at(30)
    page = visit(served.url)
    start_quick(page)
    wait_for_points(page, 0, 30)
    ticks = page.locator(".plot-loss .tick")
    page.get_by_role("button", name="tokens", exact=True).click()
    page.wait_for_selector('.charts[data-axis="tokens"]')
    assert "tokens" in ticks.all_text_contents() and "40,000" in ticks.all_text_contents()
    served.hold_at(60)
    wait_for_points(page, 1, 60)  # new steps find their place too
    page.wait_for_selector(".verdict.is-done")
    assert points(page) == [60, 60]
    page.get_by_role("button", name="seconds", exact=True).click()
    page.wait_for_selector('.charts[data-axis="time"]')
    expect(page.locator(".plot-loss .plot-note")).to_contain_text("not a speed claim")
    ends = page.locator(".plot-loss .line").evaluate_all(
        "all => all.map(line => line.getPointAtLength(line.getTotalLength()).x)"
    )
    assert ends[0] < ends[1] - 20, "NVFP4's steps take longer in this script"
    plot = page.locator(".plot-loss .plot-box svg")
    plot.focus()
    plot.press("+")
    assert page.locator(".charts").get_attribute("data-zoom") != ""
    page.get_by_role("button", name="steps", exact=True).click()
    page.wait_for_selector('.charts[data-axis="step"]')
    assert page.locator(".charts").get_attribute("data-zoom") == ""
    assert "60" in ticks.all_text_contents()


def test_other_axes_read_every_arm_and_say_at_which_step(served: Served, visit) -> None:
    page = open_ended(served, visit)
    joules = page.get_by_role("button", name="joules", exact=True)
    expect(joules).to_have_attribute("aria-disabled", "true")
    expect(joules).to_have_attribute("title", re.compile("Not measured"))
    joules.click(force=True)
    page.get_by_role("button", name="seconds", exact=True).click()
    page.wait_for_selector('.charts[data-axis="time"]')
    plot = page.locator(".plot-loss .plot-box svg")
    plot.focus()
    for _ in range(3):
        plot.press("ArrowLeft")
        for name in ("FP16", "NVFP4"):
            row = page.locator(".plot-loss .tip-row", has_text=re.compile(rf"^{name}\d"))
            expect(row).to_contain_text("step")
    expect(page.locator(".charts .said")).to_contain_text("NVFP4")


def test_smoothing_is_the_same_for_all_and_keeps_what_was_measured(served: Served, visit) -> None:
    page = open_ended(served, visit)
    page.get_by_label("Smoothing").select_option(label="over about 6 steps")
    expect(page.locator(".plot-loss .raw")).to_have_count(2)
    expect(page.locator(".plot-memory_mib .raw")).to_have_count(0)
    expect(page.locator(".kinds")).to_contain_text("average over about 6 steps")
    page.get_by_text("Values as a table").click()
    table = page.locator(".values table")
    expect(table.locator("tbody tr")).to_have_count(2)
    expect(table.locator("caption")).to_contain_text("Newest")
    plot = page.locator(".plot-loss .plot-box svg")
    plot.focus()
    plot.press("ArrowRight")
    expect(page.locator(".plot-loss .tip")).to_contain_text("average")
    expect(table.locator("caption")).to_have_text("step 31")
