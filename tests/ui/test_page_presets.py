"""Presets in a real browser: the cards in groups, one's own saved, started and deleted."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from playground.presets import load_preset, own_folder
from tests.ui.conftest import Served, until
from tests.ui.driving import field, unfold

pytestmark = pytest.mark.browser


def test_the_form_is_saved_as_a_preset_started_and_deleted(served: Served, visit) -> None:
    page = visit(served.url)
    own = page.locator("#own-presets")
    expect(own).to_contain_text("None yet")
    field(page, "max_steps").fill("4")
    field(page, "title").fill("Four steps")
    unfold(page, "Save as a preset of your own")
    name = page.locator("#preset-name").locator("input, textarea")
    for wrong, said in (("../x", "small letters"), ("quick", "comes with the project")):
        name.fill(wrong)
        page.get_by_role("button", name="Save as preset").click()
        expect(page.locator("#saved").get_by_role("alert")).to_contain_text(said)
        expect(field(page, "max_steps")).to_have_value("4")
    name.fill("mine")
    page.get_by_role("button", name="Save as preset").click()
    expect(page.locator("#saved")).to_contain_text("playground compare mine")
    expect(own.get_by_role("heading")).to_have_text("Four steps")
    assert load_preset("mine", home=served.home).config.training.max_steps == 4

    # Once more under this name writes over it, if that is what is wanted.
    field(page, "max_steps").fill("5")
    page.get_by_role("button", name="Save as preset").click()
    dialog = page.get_by_role("dialog", name="Write over the preset “mine”?")
    dialog.get_by_role("button", name="Write over it").click()
    expect(dialog).to_have_count(0)
    until(lambda: load_preset("mine", home=served.home).config.training.max_steps == 5, "5 steps")
    page.get_by_role("button", name="Rename the preset mine").click()
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_be_focused()
    page.keyboard.type("ours")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text("called “ours” now")
    page.get_by_role("button", name="Rename the preset ours").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("mine")
    page.keyboard.press("Enter")
    expect(own.get_by_role("heading")).to_have_text("Four steps")

    # Another visitor finds it, and one click starts it.
    other = visit(served.url)
    other.get_by_role("button", name="Start mine").click()
    expect(other.locator("#heading h2")).to_have_text("Four steps")
    until(lambda: served.store.list_groups()[0].over, "the end of its runs", 120)
    expect(other.locator("#form")).to_contain_text("Based on the preset mine")
    expect(other.locator("#command textarea")).to_have_value(re.compile("compare mine --home"))
    other.reload()
    expect(other.locator("#own-presets .card-facts")).to_contain_text("Took")

    page.get_by_role("button", name="Delete the preset mine").click()
    dialog = page.get_by_role("dialog", name="Delete the preset “mine”?")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Delete the preset mine").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(own).to_contain_text("None yet")
    assert not list(own_folder(served.home).iterdir())
    # Gone for the other too: it says so, and starts nothing.
    other.get_by_role("button", name="Start mine").click()
    expect(other.locator("#notice")).to_contain_text("'mine' is unknown")
    assert len(served.store.list_groups()) == 1
    # A comparison from it can still be set up again.
    other.get_by_role("button", name="Set up the same again").click()
    expect(field(other, "max_steps")).to_have_value("5")


def test_presets_for_a_gpu_are_folded_on_a_machine_without_one(served: Served, visit) -> None:
    page = visit(served.url)
    adjust = page.locator("#gpu-presets").get_by_role("button", name="Adjust first")
    expect(page.locator(".card-facts").first).to_contain_text("emulated here")
    expect(adjust.first).to_be_hidden()
    unfold(page, "For a GPU")
    expect(page.locator("#gpu-presets .why")).to_contain_text("would take days")
    expect(page.get_by_role("button", name="Start qwen3-4b")).to_have_count(0)
    adjust.first.click()
    expect(field(page, "model")).to_have_value(re.compile("Llama-3.2-1B-Instruct"))
