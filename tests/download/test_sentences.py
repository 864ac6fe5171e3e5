"""Whatever the hub or the way to it does, one sentence says what is wrong and what to do."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from huggingface_hub import constants
from huggingface_hub.errors import LocalEntryNotFoundError

from playground.catalog.models import TINY
from playground.config import SettingsError
from playground.data import hub as asking
from playground.data.hub import Unreachable, ask_hub, hub_files, refuse_unusable, said_of
from tests.catalog.hub_cache import put_in_cache
from tests.download.conftest import go_to
from tests.fakes_hub import Hub, Repo

TOKEN = "hf_abcdefghijklmnop"


def said(kind: str, hub_id: str) -> str:
    with pytest.raises(SettingsError) as caught:
        ask_hub(kind, hub_id)
    text = str(caught.value)
    assert f"'{hub_id}'" in text and text.endswith((".", "?")) and "\n" not in text
    assert TOKEN not in text
    return text


def test_the_files_of_a_repository_are_told_with_their_sizes(hub: Hub) -> None:
    hub.repos["a/tiny"] = Repo(TINY.path)
    found = ask_hub("model", "a/tiny")
    assert found.files["model.safetensors"] == TINY.size_bytes
    assert hub_files("model", "a/tiny") == list(found.files)


@pytest.mark.parametrize("kind", ["model", "dataset"])
def test_what_is_gated_says_where_its_terms_are_and_how_to_log_in(hub: Hub, kind: str) -> None:
    hub.repos["a/gated"] = Repo(TINY.path, kind=kind, mood="gated")
    text = said(kind, "a/gated")
    page = f"{hub.url}/{'datasets/' if kind == 'dataset' else ''}a/gated"
    assert f"gated: open {page}, accept its terms, log in by `hf auth login`" in text


def test_who_is_logged_in_and_may_not_read_is_told_so(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repos["a/gated"] = Repo(TINY.path, mood="gated")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert "who you are logged in as has no access" in said("model", "a/gated")
    hub.tokens.add(TOKEN)
    assert "model.safetensors" in hub_files("model", "a/gated")


def test_what_does_not_exist_is_offered_the_nearest_of_the_catalog(hub: Hub) -> None:
    assert "does not exist on the hub, or is private" in said("model", "no/such")
    assert "Did you mean 'Qwen/Qwen3-0.6B'?" in said("model", "Qwen/Qwen3-06B")
    assert "Did you mean" not in said("dataset", "Qwen/Qwen3-06B")


def test_a_dataset_given_as_a_model_is_told_apart_and_the_other_way_round(hub: Hub) -> None:
    hub.repos["a/rows"] = Repo(TINY.path, kind="dataset")
    hub.repos["a/tiny"] = Repo(TINY.path)
    assert "'a/rows' is a dataset on the hub and no model" in said("model", "a/rows")
    assert "'a/tiny' is a model on the hub and no dataset" in said("dataset", "a/tiny")


@pytest.mark.parametrize(
    ("mood", "says"),
    [
        ("error", "(HTTP 500); try again later"),
        ("busy", "asked too often to give model 'a/tiny' (HTTP 429)"),
        ("refuses token", "does not accept the token in use; log in again"),
        ("portal", "what answers in the hub's place makes no sense"),
    ],
)
def test_a_hub_that_refuses_is_quoted(hub: Hub, mood: str, says: str) -> None:
    hub.repos["a/tiny"] = Repo(TINY.path, mood=mood)
    assert says in said("model", "a/tiny")


def test_a_hub_that_does_not_answer_is_not_waited_for_long(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ANSWER_WITHIN_S", 0.3)
    hub.repos["a/tiny"] = Repo(TINY.path, mood="silent")
    assert "there is no connection to the hub (timed out)" in said("model", "a/tiny")


def test_without_a_connection_it_is_said_what_can_be_used(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_cache(Path(constants.HF_HUB_CACHE), "some/one", TINY.path)
    go_to("http://127.0.0.1:9", monkeypatch)  # nothing listens there
    with pytest.raises(Unreachable):
        ask_hub("model", "a/tiny")
    text = said("model", "a/tiny")
    assert "use what is on this machine: tiny, smollm2-135m, some/one, or a local folder" in text
    assert "sentences-to-json" in said("dataset", "a/rows")


def test_offline_by_choice_names_the_variable(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "cannot be fetched while HF_HUB_OFFLINE is set; unset it" in said("model", "a/tiny")


def test_many_models_in_the_cache_are_counted_and_not_all_named(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(7):
        put_in_cache(Path(constants.HF_HUB_CACHE), f"some/n{number}", TINY.path)
    go_to("http://127.0.0.1:9", monkeypatch)
    assert "some/n3 and 3 more, or a local folder" in said("model", "a/tiny")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.ENOSPC, "No space left"), "has no room for the files of model 'a/b'"),
        (PermissionError(13, "Permission denied"), "see that its folder can be written"),
        (LocalEntryNotFoundError("cut off"), "no connection to the hub (cut off)"),
        (ConnectionResetError("reset by peer"), "no connection to the hub (reset by peer)"),
        (TimeoutError(), "no connection to the hub (TimeoutError)"),
    ],
)
def test_what_goes_wrong_on_the_way_is_said(error: Exception, says: str) -> None:
    assert says in str(said_of(error, "model", "a/b"))


def test_a_mistake_of_ours_is_not_passed_off_as_the_hubs() -> None:
    with pytest.raises(ZeroDivisionError):
        said_of(ZeroDivisionError(), "model", "a/b")


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["adapter_config.json", "adapter_model.safetensors"], "is an adapter"),
        (["config.json", "pytorch_model.bin"], "no safetensors weights"),
        (["m-Q4_0.gguf", "README.md"], "`hf download a/b m-Q4_0.gguf --local-dir .`"),
        ([], "no safetensors weights"),
    ],
)
def test_a_repository_without_a_whole_safe_model_is_refused(names: list[str], says: str) -> None:
    with pytest.raises(SettingsError) as caught:
        refuse_unusable("a/b", names)
    assert says in str(caught.value)
    refuse_unusable("a/b", ["config.json", "model.safetensors", "m.gguf"])
