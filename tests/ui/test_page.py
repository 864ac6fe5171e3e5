"""The page in a real browser, over scripted runs.

Life of a run:  start, reload, second browser, stop, verdict, five clicks, queue
Wrong input:    one sentence, the form keeps what was typed, correct it and start
Text as typed:  markup, paths and 300 characters in a name
Layout:         nothing wider than its window, light and dark
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.report.scripted import scripted
from tests.ui.conftest import Served
from tests.ui.driving import (
    at_rest,
    field,
    open_ended,
    open_tab,
    points,
    start_quick,
    unfold,
    unfold_settings,
    wait_for_points,
)

pytestmark = pytest.mark.browser


def test_a_comparison_from_start_to_verdict(served: Served, visit) -> None:
    served.hold_at(20)
    page = visit(served.url)
    expect(page.get_by_text("Nothing has run yet")).to_be_visible()
    start_quick(page)
    wait_for_points(page, 0, 20)
    fp16 = page.get_by_role("progressbar", name="FP16: step 20 of 60")
    expect(fp16).to_be_visible()
    expect(page.locator("#progress")).to_contain_text("waits for its turn")
    served.hold_at(60)
    expect(page.locator(".verdict-text")).to_contain_text("NVFP4 ends at a held-out loss of")
    assert points(page) == [60, 60]
    expect(page.locator("#heading .chip")).to_have_text("finished")
    expect(page.locator(".tiles")).to_contain_text("+0.0")
    expect(page.locator(".tiles")).to_contain_text("not compared")  # emulated: no speed claim
    expect(page.locator("#outcome")).to_contain_text("4.50 bits")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_hidden()
    command = page.locator("#command textarea")
    expect(command).to_have_value(
        f".venv/bin/python -m playground compare quick --home {served.home}"
    )


@pytest.mark.slow
def test_the_quick_preset_really_trains(served_for_real: Served, visit) -> None:
    page = visit(served_for_real.url)
    page.get_by_role("button", name="Data ▼").click()
    short = {"max_steps": 4, "micro_batch_size": 2, "eval_rows": 8, "exact_match_rows": 0}
    for key, value in short.items():
        field(page, key).fill(str(value))
    page.get_by_role("button", name="Start comparison").click()
    wait = {"timeout": 240_000}  # two processes import torch, on a machine that may be busy
    expect(page.locator(".verdict-text")).to_contain_text("NVFP4 ends at a held-out loss", **wait)
    assert points(page) == [4, 4]
    expect(page.locator(".legend .badge")).to_have_text(["emulated", "emulated"])
    unfold(page, "Details and proof of fairness")
    expect(page.locator("ul.fair li.is-yes")).to_have_count(3)
    expect(page.locator("table.whole")).to_contain_text("4.50")


def test_the_details_prove_fairness(served: Served, visit) -> None:
    page = open_ended(served, visit)
    unfold(page, "Details and proof of fairness")
    table = page.locator("table.whole")
    expect(table).to_be_visible()
    assert "5b5b5b5b5b5b" in table.inner_text()
    expect(page.locator("ul.fair li.is-yes")).to_have_count(3)
    page.get_by_role("button", name="What was converted").click()
    expect(page.locator("ul.kept li").first).to_contain_text("lm_head")


def test_a_reload_finds_the_run_again(served: Served, visit) -> None:
    served.hold_at(5)
    page = visit(served.url)
    start_quick(page)
    wait_for_points(page, 0, 5)
    page.reload()
    wait_for_points(page, 0, 5)
    served.hold_at(15)
    wait_for_points(page, 0, 15)
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_enabled()


def test_a_second_browser_sees_it_and_can_stop_it(served: Served, visit) -> None:
    served.hold_at(10)
    first = visit(served.url)
    start_quick(first)
    wait_for_points(first, 0, 10)
    second = visit(served.url)
    wait_for_points(second, 0, 10)
    second.get_by_role("button", name="Stop", exact=True).click()
    for page in (first, second):
        expect(page.locator("#heading .chip")).to_have_text("stopped")
        expect(page.locator("#outcome")).to_contain_text("stopped at step 10")
    assert not served.store.live()


def test_five_clicks_start_one_comparison(served: Served, visit) -> None:
    served.hold_at(3)
    page = visit(served.url)
    button = page.get_by_role("button", name="Start comparison")
    for _ in range(5):
        button.click()
    wait_for_points(page, 0, 3)
    button.click()
    expect(page.locator("#notice")).to_contain_text("not started twice")
    assert len(served.store.list_groups()) == 1


def test_a_second_comparison_waits_visibly(served: Served, visit) -> None:
    served.hold_at(3)
    page = visit(served.url)
    start_quick(page)
    wait_for_points(page, 0, 3)
    other = visit(served.url)
    field(other, "title").fill("the second")
    other.get_by_role("button", name="Start comparison").click()
    expect(other.locator("#heading")).to_contain_text("the second")
    expect(other.locator("#heading .notice")).to_contain_text("It waits for “Quick look”")
    served.hold_at(60)
    expect(other.locator(".verdict-text")).to_contain_text("NVFP4 ends at")


def test_what_runs_and_what_waits_is_a_list(served: Served, visit) -> None:
    served.hold_at(3)
    page = visit(served.url)
    for name in ("one", "two", "three"):
        field(page, "title").fill(name)
        page.get_by_role("button", name="Start comparison").click()
        expect(page.locator("#heading h2")).to_have_text(name)
    expect(page.locator("#heading .notice")).to_contain_text("It waits for “one” and “two”")
    listed = page.locator(".queue li")
    expect(listed).to_have_text(["runningone", "waitingtwo", "waitingthree shown here"])
    # A reload shows what was started here, not what happens to run.
    page.reload()
    expect(page.locator("#heading h2")).to_have_text("three")
    page.locator(".queue a", has_text="one").click()
    expect(page.locator("#heading h2")).to_have_text("one")
    expect(page.locator("#heading .notice")).to_contain_text("2 more waiting")
    wait_for_points(page, 0, 3)
    served.hold_at(60)
    expect(page.locator(".queue")).to_have_count(0)


def test_an_earlier_comparison_is_set_up_again(served: Served, visit) -> None:
    page = visit(served.url)
    field(page, "max_steps").fill("4")
    page.get_by_role("button", name="Start comparison").click()
    page.wait_for_selector(".verdict.is-done")
    assert f"?group={served.store.list_groups()[0].id}" in page.url
    card = page.locator(".preset", has=page.get_by_role("button", name="Start smollm2"))
    card.get_by_role("button", name="Adjust first").click()
    expect(field(page, "max_steps")).to_have_value("30")
    page.get_by_role("button", name="Set up the same again").click()
    expect(field(page, "max_steps")).to_have_value("4")
    expect(field(page, "model")).to_have_value(re.compile("tiny"))
    expect(page.locator("#form")).to_contain_text("Based on the preset quick")
    expect(page.locator("#notice")).to_contain_text("holds the settings of “Quick look")
    page.get_by_role("button", name="Start comparison").click()
    page.wait_for_function(
        "id => !location.search.includes(id)", arg=served.store.list_groups()[-1].id
    )
    first, second = served.store.list_groups()
    assert first.runs[0].config == second.runs[0].config


WRONG = [
    ("learning_rate", "0,0002", "'0,0002'", "0.0002"),
    ("learning_rate", "nan", "finite", "2e-4"),
    ("max_steps", "-1", "at least 1", "5"),
    ("model", "tinny", "see Model", "tiny"),
]


def test_wrong_input_is_kept_and_can_be_corrected(served: Served, visit) -> None:
    page = visit(served.url)
    field(page, "title").fill("kept")
    for key, wrong, said, right in WRONG:
        field(page, key).fill(wrong)
        field(page, key).press("Tab")
        page.get_by_role("button", name="Start comparison").click()
        expect(page.locator("#notice").get_by_role("alert")).to_contain_text(said)
        expect(field(page, key)).to_have_value(wrong)
        expect(field(page, "title")).to_have_value("kept")
        told = "model-card" if key == "model" else f"wrong-{key}"  # beside the field
        expect(page.locator(f"#{told}")).to_contain_text(wrong)
        expect(field(page, key)).to_have_attribute("aria-describedby", told)
        field(page, key).fill(right)
        expect(page.locator(f"#wrong-{key}")).to_have_count(0)
        field(page, key).press("Tab")
    assert served.store.list_groups() == []
    # What is wrong in a folded section unfolds it; and a reload changes nothing of the form.
    unfold(page, "Training")
    field(page, "warmup_share").fill("2")
    unfold(page, "Training")
    page.reload()
    expect(field(page, "title")).to_have_value("kept")
    page.get_by_role("button", name="Start comparison").click()
    expect(page.locator("#wrong-warmup_share")).to_be_visible()
    at_rest(page)
    field(page, "warmup_share").fill("0.1")
    page.get_by_role("button", name="Start comparison").click()
    expect(page.locator("#heading h2")).to_have_text("kept")
    expect(page.locator("#notice")).to_be_empty()


NAMES = [
    "<script>window.broken = 1</script><img src=x onerror=window.broken=1>",
    "../../x a/b $(touch x) `id` {{value}} ${props}",
    "🧪 " + "long" * 75,
]


def test_names_are_shown_as_typed(served: Served, visit) -> None:
    page = visit(served.url, width=390, height=844)
    field(page, "max_steps").fill("2")
    for name in NAMES:
        field(page, "title").fill(name)
        page.get_by_role("button", name="Start comparison").click()
        expect(page.locator("#heading h2")).to_have_text(name)
    page.wait_for_selector(".verdict.is-done")  # the last of them is
    open_tab(page, "History")
    expect(page.locator(".past a")).to_have_text(NAMES[::-1])
    page.locator(".past a").last.click()
    expect(page.locator("#heading h2")).to_have_text(NAMES[0])
    expect(page.locator(".verdict.is-done")).to_be_visible()
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_history_opens_an_earlier_comparison(served: Served, visit) -> None:
    scripted(served.store, "first", max_steps="4")
    page = open_ended(served, visit, title="second", max_steps="4")
    expect(page.locator("#heading h2")).to_have_text("second")
    open_tab(page, "History")
    expect(page.locator(".past a")).to_have_text(["second", "first"])
    expect(page.locator(".past td.delta").first).to_contain_text("nats")
    page.locator(".past a", has_text="first").click()
    expect(page.locator("#heading h2")).to_have_text("first")
    wait_for_points(page, 1, 4)


def test_an_unknown_link_says_so(served: Served, visit) -> None:
    page = visit(served.url + "/?group=g-nothing<b>")
    expect(page.get_by_role("alert")).to_contain_text("No comparison is called “g-nothing<b>”")


def test_a_preset_can_be_adjusted_first(served: Served, visit) -> None:
    page = visit(served.url)
    card = page.locator(".preset", has=page.get_by_role("button", name="Start smollm2"))
    card.get_by_role("button", name="Adjust first").click()
    expect(field(page, "model")).to_have_value(re.compile("smollm2"))
    expect(field(page, "max_steps")).to_have_value("30")
    expect(page.locator("#form")).to_contain_text("Based on the preset smollm2")


def test_no_page_is_wider_than_its_window(served: Served, visit) -> None:
    page = open_ended(served, visit)
    unfold_settings(page)
    unfold(page, "Details and proof of fairness")
    page.locator("table.whole").wait_for()
    for tab in ("Compare", "History"):
        open_tab(page, tab)
        for width in (390, 768, 1400):
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{tab} is {wide} pixels wide in a window of {width}"


def test_a_wide_table_keeps_its_first_column_in_view(served: Served, visit) -> None:
    page = open_ended(served, visit, width=390, precisions="fp32,bf16,fp16,nvfp4")
    unfold(page, "Details and proof of fairness")
    expect(page.locator(".sideways")).to_contain_text("all 4 runs")
    table = page.locator(".wide:has(.whole)")
    table.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
    edge = table.bounding_box()
    head = page.locator("table.whole th[scope=row]").first.bounding_box()
    last = page.locator("table.whole thead th").last.bounding_box()
    assert abs(head["x"] - edge["x"]) < 2
    assert last["x"] + last["width"] <= edge["x"] + edge["width"] + 1


def test_a_list_opens_below_its_field(served: Served, visit) -> None:
    page = visit(served.url)
    unfold(page, "Training")
    for key in ("dataset", "schedule"):
        field(page, key).click()
        listed = page.locator(f"#field-{key} .options").bounding_box()
        shown = field(page, key).bounding_box()
        assert listed["y"] >= shown["y"] + shown["height"] - 1
        seen = page.locator(f"#field-{key} [role=option]").last
        seen.click()  # in view, not cut off by what it stands in
        expect(page.locator(f"#field-{key} .options")).to_have_count(0)


def test_light_and_dark_follow_the_browser(served: Served, visit) -> None:
    for dark, paper in ((False, "rgb(246, 247, 249)"), (True, "rgb(13, 16, 21)")):
        page = visit(served.url, dark=dark)
        colour = "getComputedStyle(document.querySelector('.gradio-container')).backgroundColor"
        assert page.evaluate(colour) == paper
