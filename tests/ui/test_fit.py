"""Whether it fits, on the form: told about the form as it is, while the form can be used."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from playground.catalog.models import TINY
from playground.config import PRECISIONS
from playground.devices import DEVICES
from playground.fit import asking, budget
from playground.fit.background import Estimates
from playground.presets import Preset, load_preset
from playground.ui import compare, fit, form
from playground.ui.text import fit as text
from tests.ui.conftest import Served, serving
from tests.ui.driving import field


def estimate(precision: str, peak: float) -> dict[str, Any]:
    bits = PRECISIONS[precision].storage_bits
    parts = ("adapters", "optimizer", "gradients", "activations", "work", "loading")
    found = {f"{part}_mib": 10.0 for part in parts}
    return found | {"precision": precision, "weights_mib": bits * 100.0, "peak_mib": peak}


def judged(preset: Preset, device: str | None, factor: float = 1000.0) -> dict[str, Any]:
    """Each precision's peak is so many MiB for each of its bits."""
    made = [estimate(p, factor * PRECISIONS[p].storage_bits) for p in preset.precisions]
    return asking._judged(preset, budget(device), made)


class TestTheTable:
    def test_each_precision_has_its_verdict_and_its_parts(self) -> None:
        preset = form.partly("quick", {"model": "tiny"})
        shown = fit.table(judged(preset, "rtx-5090"), ["fp16", "nvfp4"])
        assert shown.count("is-does-not-fit") == 1 and shown.count("is-fits") == 8  # fp32 alone
        assert shown.count("is-ticked") == 2
        assert "16 × 128 tokens without gradient checkpointing" in shown
        assert "31.8 GiB" in shown and "3,200" in shown
        assert all(words in shown for words in text.PARTS.values())

    def test_a_model_named_like_markup_is_text(self) -> None:
        preset = load_preset("quick", {"precisions": "fp16"})
        found = judged(preset, "h100") | {"model": "<b>bold</b>"}
        assert "<b>bold" not in fit.table(found, []) and "<b>" not in fit.waiting("<b>x</b>", 0)

    def test_whose_word_it_is_and_what_heals(self) -> None:
        preset = form.partly("quick", {"model": "Qwen/Qwen3-4B"})
        found = judged(preset, "h100")
        found["precisions"][-1]["counted_in"] = "bf16"
        shown = fit.table(found, [])
        assert text.BY_CATALOG in shown and "so it is counted in BF16" in shown


def test_weights_alone_are_told_at_once() -> None:
    shown = fit.weights_alone("Qwen/Qwen3-4B")
    assert "7.49 GiB in FP16" in shown and "2.63 GiB in NVFP4" in shown
    assert fit.weights_alone("somebody/unheard-of") == "" == fit.weights_alone("no such")
    assert "MiB in NVFP4" in fit.weights_alone(str(TINY.path))
    assert fit.weights_alone(str(TINY.path), stranger=True) == ""


def test_how_long_an_estimate_has_taken_is_said_and_nothing_promised() -> None:
    assert "12 s so far" in fit.waiting("tiny", 12.3)


def test_only_the_fields_that_matter_are_read() -> None:
    preset = form.partly("quick", {"model": "tiny", "lora_r": "7", "precisions": []})
    assert preset.config.lora.lora_r == 7 and set(preset.precisions) == set(PRECISIONS)
    heals = form.partly("quick", {"heal_after": "0.5", "heal_to": "fp8"})
    assert heals.config.quantization.heal_to == "fp8"
    assert set(fit.MATTERS) <= set(form.KEYS)


@pytest.fixture
def let_go(monkeypatch: pytest.MonkeyPatch) -> dict[str, threading.Event]:
    """The estimates of a served page: each model's comes when its event is set."""
    gates: dict[str, threading.Event] = {}

    def make(preset: Preset, into: Any, home: Path) -> dict[str, Any]:
        assert gates[preset.config.model].wait(60)
        factor = 1000.0 if preset.config.model == "tiny" else 5000.0
        device = next((key for key, d in DEVICES.items() if d.name == into.name), None)
        return judged(preset, device, factor)

    monkeypatch.setattr(compare, "Estimates", lambda home: Estimates(home, make))
    return gates


@pytest.fixture
def page_that_estimates(let_go: dict[str, threading.Event], tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "home", "tests.ui.scripted_worker") as page:
        yield page


def test_what_is_shown_is_about_the_form_as_it_is(
    page_that_estimates: Served, visit: Callable[..., Page], let_go: dict[str, threading.Event]
) -> None:
    other = "Qwen/Qwen3-4B"
    let_go |= {"tiny": threading.Event(), other: threading.Event()}
    page = visit(page_that_estimates.url)
    panel = page.locator("#fit-panel")
    expect(panel).to_be_empty()
    page.locator("#fit-device input").click()
    page.get_by_role("option", name="RTX 5090").click()
    expect(panel).to_contain_text("Estimating the memory of tiny")
    field(page, "max_seq_len").fill("64")  # the form can be used meanwhile
    field(page, "model").fill(other)
    field(page, "model").press("Enter")
    expect(panel).to_contain_text(f"Estimating the memory of {other}")
    let_go["tiny"].set()  # too late: nobody asks for it any more
    let_go[other].set()
    expect(panel).to_contain_text(f"{other} on NVIDIA GeForce RTX 5090, 31.8 GiB")
    expect(panel).to_contain_text("16 × 64 tokens")
    expect(panel.locator(".is-does-not-fit")).to_have_count(4)  # 8 bits and more
    panel.get_by_text(text.PARTS_FOLD).click()
    expect(panel.locator(".fit-parts tbody tr")).to_have_count(9)
    field(page, "lora_r").fill("0")
    expect(panel).to_contain_text("must be")
