"""The model's part of the form: what the list and the card say, and a wrong id put right."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants
from playwright.sync_api import Route, expect

from playground.catalog import list_models, resolve_model
from playground.catalog.models import TINY
from playground.config import SettingsError
from playground.ui import models, visitors
from playground.ui.text import models as text
from tests.catalog.hub_cache import put_in_cache, use_cache
from tests.download.conftest import hub  # noqa: F401  (a fixture)
from tests.fakes_hub import Hub
from tests.ui.conftest import PATIENCE_MS, Served
from tests.ui.driving import at_rest, field


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return use_cache(monkeypatch, tmp_path / "hub-cache")


def test_the_list_says_size_licence_and_what_is_here(cache: Path) -> None:
    put_in_cache(cache, "Qwen/Qwen3-0.6B", TINY.path)
    labels = {id: label for label, id in models.choices(list_models())}
    assert list(labels)[:3] == ["tiny", "smollm2-135m", "Qwen/Qwen3-0.6B"]
    assert labels["tiny"] == "Tiny (1.2 M) (tiny) · 4.79 MB, on this machine"
    assert labels["Qwen/Qwen3-0.6B"].endswith(", on this machine")
    assert labels["Qwen/Qwen3-1.7B"] == "Qwen/Qwen3-1.7B · 4.06 GB to fetch · Apache-2.0"
    assert labels["google/gemma-3-1b-it"].endswith("· 2 GB to fetch · Gemma, gated")


def test_a_card_tells_all_that_is_known(cache: Path) -> None:
    told = models.told("meta-llama/Llama-3.2-1B")
    for said in ("Llama 3.2 1B", "1.24 B", "2.47 GB", "Llama 3.2", "131,072 tokens"):
        assert said in told
    assert text.TO_FETCH in told and text.GATED in told and text.NO_TEMPLATE in told
    assert "<code>hf auth login</code>" in told and "/meta-llama/Llama-3.2-1B" in told
    put_in_cache(cache, "meta-llama/Llama-3.2-1B", TINY.path)
    told = models.told("meta-llama/Llama-3.2-1B")
    assert text.HERE in told and text.PLACES["cache"] in told
    assert "hf auth login" not in told  # it has been fetched, so its terms were accepted


def test_a_card_of_what_is_not_in_the_list_says_so(cache: Path) -> None:
    told = models.told("someone/else")
    assert text.UNKNOWN in told and text.TO_FETCH in told
    assert text.PARAMETERS not in told and text.LICENCE not in told  # nothing is made up


def test_who_may_have_been_gated_is_said_to_be_so(cache: Path) -> None:
    assert text.MAY_ASK in models.told("mistralai/Mistral-7B-Instruct-v0.3")


def test_off_line_by_choice_is_said(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert text.OFFLINE in models.told("Qwen/Qwen3-0.6B")
    assert text.OFFLINE not in models.told("tiny")


def test_a_wrong_name_gets_its_sentence_and_an_empty_one_nothing(cache: Path) -> None:
    assert "Did you mean &#x27;tiny&#x27;?" in models.told("tinny")
    assert models.told("  ") == ""


def test_markup_in_a_name_is_shown_as_text(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "<img src=x>"
    shutil.copytree(TINY.path, folder)
    for told in (models.told(str(folder)), models.told("<img src=x>")):
        assert "<img" not in told and "&lt;img src=x&gt;" in told


def test_a_visitor_learns_nothing_of_folders(tmp_path: Path, cache: Path) -> None:
    shutil.copytree(TINY.path, tmp_path / "mine")
    assert "1.2 M" in models.told(str(tmp_path / "mine"))
    there, not_there = str(tmp_path / "mine"), str(tmp_path / "none")
    said = {models.told(name, stranger=True) for name in (there, not_there)}
    assert len(said) == 1 and text.NOT_FOR_VISITORS in said.pop()
    assert "1.2 M" in models.told("tiny", stranger=True)


def test_a_visitor_may_name_what_the_list_offers(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_cache(cache, "owner/fetched", TINY.path)
    for name in ("tiny", "Qwen/Qwen3-0.6B", "owner/fetched"):
        visitors.refuse_model(name, may_change=False)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(TINY.path, tmp_path / "Qwen" / "Qwen3-1.7B")  # a folder wins over a hub id
    for name in ("owner/not-fetched", "Qwen/Qwen3-1.7B", str(TINY.path), "tinny", ""):
        with pytest.raises(SettingsError, match="shown to those who have logged in"):
            visitors.refuse_model(name, may_change=False)
        visitors.refuse_model(name, may_change=True)


def test_nothing_is_fetched_for_a_visitor(cache: Path) -> None:
    put_in_cache(cache, "Qwen/Qwen3-1.7B", TINY.path)
    for name in ("tiny", "Qwen/Qwen3-1.7B"):
        visitors.refuse_unfetched(name, may_change=False)
    with pytest.raises(SettingsError, match="nothing is fetched for visitors; whoever runs this"):
        visitors.refuse_unfetched("Qwen/Qwen3-0.6B", may_change=False)
    visitors.refuse_unfetched("Qwen/Qwen3-0.6B", may_change=True)


def test_no_card_holds_a_home_folder(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copytree(TINY.path, tmp_path / "mine")
    assert str(tmp_path) not in models.card(resolve_model(str(tmp_path / "mine")))
    local = list_models([tmp_path / "mine"])
    assert not [label for label, _ in models.choices(local) if str(tmp_path) in label]


def test_a_model_is_searched_and_its_card_follows(
    served: Served, visit: Callable[..., Any], cache: Path
) -> None:
    page = visit("about:blank", ready=None)
    late: list[Route] = []
    typed = False
    page.route("**/gradio_api/run/**", lambda r: r.continue_() if typed else late.append(r))
    page.goto(served.url)
    model = field(page, "model")
    model.click()
    model.fill("")
    model.press_sequentially("llama-3.2-3")
    # What the page asked for as it was opened is answered only now, and undoes no search.
    typed = True
    for route in late:
        route.continue_()
        route.request.response().finished()
    at_rest(page)
    expect(page.get_by_role("option")).to_have_count(1)
    page.get_by_role("option").click()
    card = page.locator("#model-card")
    expect(card).to_contain_text("Llama 3.2 3B Instruct")
    expect(card).to_contain_text(text.GATED)
    model.fill("tinny")
    model.press("Enter")
    expect(card).to_contain_text("Did you mean 'tiny'?")


def test_an_id_that_does_not_exist_is_put_right_without_a_reload(
    hub: Hub,  # noqa: F811
    served_for_real: Served,
    visit: Callable[..., Any],
) -> None:
    page = visit(served_for_real.url)
    field(page, "max_steps").fill("1")
    model = field(page, "model")
    model.fill("Qwen/Qwen3-06B")
    model.press("Enter")
    expect(page.locator("#model-card")).to_contain_text(text.UNKNOWN)
    page.get_by_role("button", name="Start comparison").click()
    progress = page.locator("#progress")
    sentence = "does not exist on the hub"
    expect(progress).to_contain_text(sentence, timeout=4 * PATIENCE_MS)
    expect(progress).to_contain_text("Did you mean 'Qwen/Qwen3-0.6B'?")

    model.fill("tiny")
    model.press("Enter")
    expect(page.locator("#model-card")).to_contain_text(text.PLACES["bundled"])
    page.get_by_role("button", name="Start comparison").click()
    expect(progress).not_to_contain_text(sentence)
    [newest, _] = served_for_real.store.list_groups(2)
    assert {run.config.model for run in newest.runs} == {"tiny"}


def test_a_refusal_that_the_card_tells_is_not_told_again_elsewhere() -> None:
    with pytest.raises(SettingsError) as refused:
        resolve_model("no such")
    assert models.elsewhere(str(refused.value), "no such") == text.SEE_MODEL
    assert "owner/name; choose one of these." in models.told("no such")
    assert "Steps" in models.elsewhere("max_steps is 0.", "no such")
    assert "Steps" in models.elsewhere("max_steps is 0.", "tiny")
