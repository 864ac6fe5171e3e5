"""A comparison of many runs in a real browser: repetitions, pause and resume, failures, marks."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.conftest import Served
from tests.ui.driving import field, open_ended, points, start_quick, unfold, wait_for_points

pytestmark = pytest.mark.browser


def test_pause_and_resume_go_on_with_the_same_chart(served: Served, visit) -> None:
    served.hold_at(10)
    page = visit(served.url)
    pause = page.get_by_role("button", name="Pause", exact=True)
    resume = page.get_by_role("button", name="Resume", exact=True)
    start_quick(page)
    wait_for_points(page, 0, 10)
    expect(resume).to_be_hidden()
    pause.click()
    expect(page.locator("#heading .chip")).to_have_text("paused")
    expect(page.locator("#outcome")).to_contain_text("paused at step 10")
    expect(pause).to_be_hidden()
    resume.click()
    expect(page.locator("#heading .chip")).to_have_text("running")
    served.hold_at(60)
    page.wait_for_selector(".verdict.is-done")
    assert points(page) == [60, 60]
    # Only FP16 had begun: NVFP4 was paused while it waited, and starts at its beginning.
    mark = page.locator('.plot-loss .mark[data-kind="resumed"]')
    expect(mark).to_have_count(1)
    assert "FP16, step 11: resumed" in mark.locator("title").text_content()
    expect(page.locator(".kinds")).to_contain_text("resumed")
    expect(resume).to_be_hidden()


def test_a_stopped_comparison_can_be_resumed_from_another_page(served: Served, visit) -> None:
    served.hold_at(5)
    page = visit(served.url)
    start_quick(page)
    wait_for_points(page, 0, 5)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator("#heading .chip")).to_have_text("stopped")
    page.reload()
    page.get_by_role("button", name="Resume", exact=True).click()
    served.hold_at(60)
    page.wait_for_selector(".verdict.is-done")
    expect(page.locator("#heading .chip")).to_have_text("finished")


def test_repetitions_share_a_colour_a_legend_entry_and_a_mean(served: Served, visit) -> None:
    page = visit(served.url)
    field(page, "seeds").fill("3")
    field(page, "max_steps").fill("20")
    page.get_by_role("button", name="Start comparison").click()
    page.wait_for_selector(".verdict.is-done")
    expect(page.locator("#heading h2")).to_contain_text("3 seeds")
    assert points(page) == [20] * 6
    expect(page.locator(".legend .arm")).to_have_count(2)
    expect(page.locator(".legend")).to_contain_text("NVFP4 × 3")
    expect(page.locator(".plot-loss .repeat")).to_have_count(6)
    expect(page.locator(".plot-loss .line")).to_have_count(2)
    plot = page.locator(".plot-loss .plot-box svg")
    plot.focus()
    plot.press("ArrowRight")
    row = page.locator(".plot-loss .tip-row.arm-nvfp4")
    mean = float(row.locator("b").inner_text())
    low, high = (float(part) for part in row.locator(".range").inner_text().split(" – "))
    assert low < mean < high
    expect(page.locator("#progress .arm-line")).to_have_count(2)
    expect(page.get_by_role("progressbar", name="NVFP4, seed 44: step 20 of 20")).to_be_visible()
    expect(page.locator(".tiles")).to_contain_text("over 3 seeds")
    expect(page.locator(".headline")).to_contain_text("NVFP4")
    expect(page.locator(".verdict-text")).to_be_hidden()
    page.get_by_text("All that was found").click()
    expect(page.locator(".verdict-text")).to_contain_text("Seeds 42, 43 and 44")
    command = page.locator("#command textarea")
    expect(command).to_have_value(
        ".venv/bin/python -m playground compare quick --set max_steps=20 --seeds 3"
        f" --home {served.home}"
    )
    page.get_by_role("button", name="Set up the same again").click()
    expect(field(page, "seeds")).to_have_value("3")
    page.get_by_role("button", name="NVFP4 × 3").click()
    expect(page.locator(".plot-loss .repeat")).to_have_count(3)


def test_a_mean_goes_no_further_than_every_repetition_that_has_begun(served: Served, visit) -> None:
    script = {"only": "nvfp4", "seed": 43, "memory_ends_at": 12}
    page = open_ended(served, visit, script=script, seeds="2", max_steps="20")
    expect(page.locator("#heading .chip")).to_have_text("failed")
    assert points(page) == [20, 20, 20, 11]
    for arm, drawn in {"fp16": 20, "nvfp4": 11}.items():
        path = page.locator(f".plot-loss .line.arm-{arm}").get_attribute("d")
        assert len(path.replace("M", "L").split("L")) - 1 == drawn and "NaN" not in path
    expect(page.locator(".arm-error")).to_contain_text("after step 11, seed 43")


def test_what_happened_to_a_run_is_marked_and_told(served: Served, visit) -> None:
    served.script('{"only": "nvfp4", "skipped_at": [4], "heal_at": 8, "memory_ends_at": 12}')
    page = visit(served.url)
    start_quick(page)
    expect(page.locator("#heading .chip")).to_have_text("failed")
    for kind, said in {
        "skipped update": "FP16, step 4: update skipped",
        "healed": "NVFP4, step 8: healed: BF16 from here on",
        "out of memory": "NVFP4, step 11: out of memory",
    }.items():
        mark = page.locator(f'.plot-loss .mark[data-kind="{kind}"]')
        expect(mark).to_have_count(1)
        assert said in mark.locator("title").text_content()
    expect(page.locator(".kinds")).to_contain_text("out of memory")
    card = page.locator(".arm-error")
    expect(card).to_contain_text("out of memory after step 11")
    expect(card).to_contain_text("asking for 2.00 GiB more")
    expect(card).to_contain_text("“Rows per pass” to 8")
    plot = page.locator(".plot-loss .plot-box svg")
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 52 + (box["width"] - 66) * 11 / 60, box["y"] + box["height"] / 2)
    expect(page.locator(".plot-loss .tip")).to_contain_text("out of memory")
    # The arm that finished keeps its result.
    expect(page.locator("#outcome")).to_contain_text("Only FP16 finished, at a held-out loss of")


def test_measured_things_have_their_places(served: Served, visit) -> None:
    asked = {"probe_every": "10", "cross_precisions": "fp16,nvfp4", "merge_check": "true"}
    page = open_ended(served, visit, **asked)
    unfold(page, "Details and proof of fairness")
    crossed = page.locator("table.crossed")
    expect(crossed.locator("tbody tr")).to_have_count(2)
    expect(crossed).to_contain_text("merged into NVFP4")
    page.get_by_role("button", name="Memory by kind").click()
    expect(page.locator(".kinds-of")).to_have_count(2)
    expect(page.locator("table.errors").last).to_contain_text("model.layers.3.down_proj")
    for width in (390, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
