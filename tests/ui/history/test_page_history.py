"""The History page in a real browser, over comparisons that were made beforehand."""

from __future__ import annotations

import os
import re

import pytest
from playwright.sync_api import expect

from playground.presets import load_preset
from playground.processes import ProcessId
from playground.store import Group, RunStore
from tests.ui.conftest import Served, until
from tests.ui.driving import field, open_tab, wait_for_points
from tests.ui.scripted_worker import train_in

pytestmark = pytest.mark.browser


def made(store: RunStore, title: str, **changes: str) -> Group:
    """An ended comparison, without a process."""
    preset = load_preset("quick", {"max_steps": "6"} | changes)
    elsewhere = str(ProcessId.of(os.getppid()))  # it lives, so that no launcher takes over
    group = store.create_group("quick", title, preset.configs, elsewhere)
    for run in group.runs:
        folder = store.run_folder(run.id)
        (folder / "adapter").mkdir(parents=True)
        (folder / "adapter" / "weights").write_bytes(b"x" * 1_000_000)
        store.append(run.id, *train_in(store.home)(run.config, folder=folder, should_stop=bool))
    return store.get_group(group.id)


def test_the_list_is_filtered_and_sorted(served: Served, visit) -> None:
    made(served.store, "alpha")
    made(served.store, "beta", precisions="mxfp4,nvfp4", lora_r="32")
    page = visit(served.url + "/?page=history", ready=None)
    titles = page.locator(".past a")
    expect(titles).to_have_text(["beta", "alpha"])
    page.locator("#filter-words").locator("input, textarea").fill("ALPHA tiny")
    expect(titles).to_have_text(["alpha"])
    page.locator("#filter-words").locator("input, textarea").fill("")
    expect(titles).to_have_count(2)
    page.locator("#filter-precision input").click()
    page.get_by_role("option", name="MXFP4").click()
    expect(titles).to_have_text(["beta"])
    page.locator("#filter-precision input").click()
    page.get_by_role("option", name="any").click()
    page.locator("#filter-since").locator("input, textarea").fill("tomorrow")
    expect(page.get_by_role("alert")).to_contain_text("From is 'tomorrow'; write a day as")
    page.locator("#filter-since").locator("input, textarea").fill("2020-01-01")
    expect(page.locator("#past-refused .notice")).to_have_count(0)
    head = page.get_by_role("columnheader", name="Comparison")
    head.get_by_role("button").press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(titles).to_have_text(["alpha", "beta"])


def test_a_comparison_is_renamed_noted_and_deleted_after_asking(served: Served, visit) -> None:
    group = made(served.store, "old name")
    other = visit(f"{served.url}/?group={group.id}")
    wait_for_points(other, 1, 6)
    page = visit(served.url + "/?page=history", ready=None)
    page.get_by_role("button", name="Manage old name").click()
    page.locator("#managed-title").locator("input, textarea").fill("<b>new</b> name")
    page.locator("#managed-note textarea").fill("the flat one")
    page.get_by_role("button", name="Save name and note").click()
    expect(page.locator(".past a")).to_have_text("<b>new</b> name")
    expect(page.locator(".past .note")).to_have_text("the flat one")
    other.reload()
    expect(other.locator("#heading h2")).to_have_text("<b>new</b> name")
    page.locator("#managed-title").locator("input, textarea").fill("  ")
    page.locator("#managed-note textarea").fill("not lost by it")
    page.get_by_role("button", name="Save name and note").click()
    expect(page.get_by_role("alert")).to_contain_text("give it 1 to 300")
    expect(page.locator("#managed-note textarea")).to_have_value("not lost by it")

    dialog = page.get_by_role("dialog", name="Delete “<b>new</b> name”?")
    page.get_by_role("button", name="Delete…").click()
    expect(dialog).to_contain_text("2 runs with every step and figure, 2 adapters and 2.0 MB")
    expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Keep it").click()
    expect(dialog).to_have_count(0)
    assert served.store.get_group(group.id)
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.locator("#past-refused")).to_contain_text("“<b>new</b> name” is deleted")
    expect(page.locator("#past")).to_contain_text("Nothing here yet")
    expect(page.locator("#managed")).to_be_hidden()
    expect(other.get_by_role("alert")).to_contain_text("was deleted; open History")
    assert not any((served.home / "runs").iterdir())


def test_a_live_comparison_is_not_deleted(served: Served, visit) -> None:
    served.hold_at(2)
    page = visit(served.url)
    page.get_by_role("button", name="Start quick").click()
    wait_for_points(page, 0, 2)
    open_tab(page, "History")
    page.get_by_role("button", name="Manage Quick look").click()
    page.get_by_role("button", name="Delete…").click()
    expect(page.get_by_role("alert")).to_contain_text("is still running or waiting; stop it first")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_it_is_run_again_with_one_change(served: Served, visit) -> None:
    made(served.store, "first", heal_after="0.5")
    page = visit(served.url + "/?page=history", ready=None)
    page.get_by_role("button", name="Manage first").click()
    value = page.locator("#again-value").locator("input, textarea")
    page.locator("#again-setting input").fill("Heal to")
    page.get_by_role("option", name="Heal to", exact=True).click()
    expect(value).to_have_value("bf16")
    value.fill("nf5")
    page.get_by_role("button", name="Fill the form").click()
    expect(page.get_by_role("alert")).to_contain_text("nf5")
    page.get_by_role("button", name="Manage first").click()
    expect(value).to_have_value("")
    expect(page.locator("#again-setting input")).to_have_value("")
    page.locator("#again-setting input").fill("Heal to")
    page.get_by_role("option", name="Heal to", exact=True).click()
    expect(value).to_have_value("bf16")
    value.fill("fp8")
    page.get_by_role("button", name="Fill the form").click()
    expect(page.locator("#notice")).to_contain_text("with “Heal to” fp8 for bf16")
    marked = page.locator("#form .is-changed")
    expect(marked).to_have_count(1)
    expect(marked).to_be_in_viewport()
    expect(field(page, "heal_to")).to_have_value("FP8")
    expect(field(page, "max_steps")).to_have_value("6")
    page.get_by_role("button", name="Start comparison").click()
    until(lambda: len(served.store.list_groups()) == 2, "a second comparison")
    again, first = (g.runs[1].config for g in served.store.list_groups())
    assert again.quantization.heal_to == "fp8"
    assert again.model_copy(update={"quantization": first.quantization}) == first


def test_ticked_runs_are_laid_over_each_other(served: Served, visit) -> None:
    one = made(served.store, "one")
    other = made(served.store, "other", learning_rate="3e-3", max_steps="9")
    page = visit(served.url + "/?page=history", ready=None)
    page.locator("#past input").first.check()
    expect(page.locator(".ticked")).to_contain_text("tick one more")
    # Ticks outlive another view of the list.
    page.locator("#filter-words").locator("input, textarea").fill("one")
    expect(page.locator(".past a")).to_have_text(["one"])
    page.get_by_role("checkbox", name="Lay NVFP4 of one over others").check()
    expect(page.locator(".ticked")).to_contain_text("2 runs ticked")
    page.get_by_role("link", name="Lay them over each other").click()
    drawn = page.locator("#overlay-charts .charts")
    expect(drawn).to_have_attribute("data-points", "9,6")
    expect(page.locator("#overlay-heading .notice")).to_contain_text("No controlled comparison")
    expect(page.locator("#differences")).to_contain_text("0.003")
    page.wait_for_url(re.compile("runs="))
    assert "group=" not in page.url

    # The address alone opens the same in another browser.
    ids = f"{other.run_ids[0]},{one.run_ids[1]}"
    second = visit(f"{served.url}/?runs={ids}", width=390, ready=None)
    expect(second.locator("#overlay-charts .charts")).to_have_attribute("data-points", "9,6")
    second.locator("#overlay-charts").get_by_role("button", name="tokens").click()
    expect(second.locator("#overlay-charts .charts")).to_have_attribute("data-axis", "tokens")
    assert second.evaluate("document.documentElement.scrollWidth") <= 390
    second.get_by_role("button", name="Close").first.click()
    expect(second.locator("#overlay-charts")).to_be_hidden()
    wrong = visit(f"{served.url}/?runs={ids},r-none", ready=None)
    expect(wrong.locator("#overlay-heading")).to_contain_text("1 more in the address were deleted")
    # A deleted comparison's runs do not stay ticked.
    third = visit(served.url + "/?page=history", ready=None)
    for name in ("one", "other"):
        third.get_by_role("checkbox", name=f"Lay NVFP4 of {name} over others").check()
    expect(third.locator(".ticked")).to_contain_text("2 runs ticked")
    third.get_by_role("button", name="Manage one").click()
    third.get_by_role("button", name="Delete…").click()
    third.get_by_role("button", name="Delete for good").click()
    expect(third.locator(".ticked")).to_contain_text("1 run ticked")
