"""A model is fetched from the hub, stopped half way, gone on with, and used off line."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import torch
from filelock import FileLock
from huggingface_hub import constants

from playground.catalog import ModelEntry, list_models, resolve_model
from playground.catalog.models import TINY
from playground.config import SettingsError
from playground.download import fetched
from playground.download.__main__ import wanted
from playground.events import Message, Stage
from playground.launcher import Launcher
from playground.presets import load_preset
from playground.processes import ROOT
from playground.store import RunStore
from tests.download.conftest import go_to
from tests.fakes_hub import COMMIT, Hub, Repo
from tests.tiny import tiny_llama, tiny_tokenizer

SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


class Stopped(Exception):
    pass


def goes_on() -> None:
    pass


def fetch(
    hub_id: str, check: Callable[[], None] = goes_on, **more: object
) -> tuple[ModelEntry, list[Stage | Message]]:
    """The model as it is loaded, and what was said on the way."""
    said: list[Stage | Message] = []
    going = fetched(resolve_model(hub_id), check, **more)
    while True:
        try:
            said.append(next(going))
        except StopIteration as end:
            return end.value, said


def cached(name: str) -> list[Path]:
    return sorted(Path(constants.HF_HUB_CACHE).rglob(name))


@pytest.fixture
def sharded(tmp_path: Path) -> Path:
    """A model whose weights come in two files."""
    folder = tmp_path / "served"
    tiny_llama().save_pretrained(folder, max_shard_size="60KB")
    tiny_tokenizer().save_pretrained(folder)
    assert tuple(sorted(p.name for p in folder.glob("*.safetensors"))) == SHARDS
    return folder


@pytest.mark.parametrize("how", ["config.json", "a file", "the index"])
def test_what_is_quantised_already_is_refused_before_its_weights_are_fetched(
    how: str, hub: Hub, sharded: Path
) -> None:
    if how == "config.json":
        config = json.loads((sharded / how).read_text())
        config["quantization_config"] = {"quant_method": "gptq", "bits": 4}
        (sharded / how).write_text(json.dumps(config))
    elif how == "a file":
        (sharded / "hf_quant_config.json").write_text("{}")
    else:
        index = json.loads((sharded / "model.safetensors.index.json").read_text())
        index["weight_map"]["model.layers.0.mlp.up_proj.qweight"] = SHARDS[0]
        (sharded / "model.safetensors.index.json").write_text(json.dumps(index))
    hub.repos["a/packed"] = Repo(sharded)
    with pytest.raises(SettingsError, match="'a/packed' is already quantised"):
        fetch("a/packed")
    assert cached("*.safetensors") == []


def test_a_model_is_fetched_and_loaded_from_where_it_lies(hub: Hub) -> None:
    from playground.training.pretrained import load_checkpoint

    hub.repos["a/tiny"] = Repo(TINY.path)
    entry, said = fetch("a/tiny")
    assert (entry.id, entry.hub_id, entry.gguf_file) == ("a/tiny", "a/tiny", None)
    assert said[0] == Stage(name="asking the hub", detail="a/tiny")
    asked = len(hub.asked)
    model = load_checkpoint(entry, 64, torch.float32).model
    assert sum(p.numel() for p in model.parameters()) == TINY.parameters
    assert len(hub.asked) == asked  # loading asks nobody
    assert [found.where for found in list_models() if found.id == "a/tiny"] == ["cache"]
    assert entry.revision == COMMIT and TINY.revision is None


def test_a_model_on_this_machine_asks_nobody(hub: Hub) -> None:
    assert fetch("tiny") == (TINY, []) and hub.asked == []


def test_how_far_it_is_is_said_on_the_way(hub: Hub, sharded: Path) -> None:
    hub.repos["a/b"] = Repo(sharded, gate=(SHARDS[1],))
    shares: list[float] = []
    for event in fetched(resolve_model("a/b"), goes_on):
        if isinstance(event, Stage) and event.name == "fetching the model":
            assert re.fullmatch(r"a/b, \d+ kB of \d+ kB", event.detail)
            shares.append(event.progress)
            if 0.3 < event.progress < 1:  # the first file is there, the second is on its way
                hub.go_on.set()
    assert shares == sorted(shares) and hub.go_on.is_set()


def test_stop_leaves_no_process_and_no_half_and_the_rest_is_fetched_later(
    hub: Hub, sharded: Path
) -> None:
    hub.repos["a/b"] = Repo(sharded, gate=(SHARDS[1],))

    def check() -> None:
        if hub.half_sent.is_set() and cached(SHARDS[0]):
            raise Stopped

    with pytest.raises(Stopped):
        fetch("a/b", check)
    assert [p for p in psutil.Process().children(recursive=True) if "download" in p.cmdline()] == []
    assert cached("*.incomplete") == [] and not cached(SHARDS[1])
    assert not [entry for entry in list_models() if entry.id == "a/b"]  # half a model is none

    hub.go_on.set()
    entry, _ = fetch("a/b")
    assert {p.name for p in entry.path.glob("*.safetensors")} == set(SHARDS)
    assert (hub.fetched(SHARDS[0]), hub.fetched(SHARDS[1])) == (1, 2)


def test_a_half_that_nobody_writes_goes_and_one_that_is_written_stays(hub: Hub) -> None:
    hub.repos["a/tiny"] = Repo(TINY.path)
    folder = Path(constants.HF_HUB_CACHE) / "models--a--tiny" / "blobs"
    folder.mkdir(parents=True)
    left, written = folder / "aa.11111111.incomplete", folder / "bb.22222222.incomplete"
    left.touch()
    written.touch()
    with FileLock(Path(constants.HF_HUB_CACHE) / ".locks" / "models--a--tiny" / "bb.lock"):
        fetch("a/tiny")
        assert cached("*.incomplete") == [written]
    fetch("a/tiny")
    assert cached("*.incomplete") == []


def test_a_half_that_was_closed_and_not_yet_moved_goes_with_a_stop(hub: Hub) -> None:
    half = Path(constants.HF_HUB_CACHE) / "models--a--b" / "blobs" / "aa.11111111.incomplete"
    child = f"""
import pathlib, time
half = pathlib.Path({str(half)!r})
half.parent.mkdir(parents=True)
half.write_text("all of it")
time.sleep(600)
"""

    def check() -> None:
        if half.exists():
            raise Stopped

    with pytest.raises(Stopped):
        fetch("a/b", check, child=("-c", child))
    assert not half.exists()


def test_without_a_connection_the_copy_in_the_cache_serves_and_that_is_said(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repos["a/tiny"] = Repo(TINY.path)
    first, _ = fetch("a/tiny")
    go_to("http://127.0.0.1:9", monkeypatch)
    again, said = fetch("a/tiny")
    assert again.path == first.path
    [message] = [event for event in said if isinstance(event, Message)]
    assert "no connection to the hub" in message.text
    assert message.text.endswith("Its copy in the cache is used.")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    _, said = fetch("a/tiny")
    assert "HF_HUB_OFFLINE is set. Its copy in the cache is used." in said[-1].text


def test_what_was_fetched_serves_though_the_login_is_gone(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repos["a/gated"] = Repo(TINY.path, mood="gated")
    hub.tokens.add("hf_abcdefghijklmnop")
    monkeypatch.setenv("HF_TOKEN", "hf_abcdefghijklmnop")
    first, _ = fetch("a/gated")
    monkeypatch.delenv("HF_TOKEN")
    again, said = fetch("a/gated")
    assert again.path == first.path
    assert said[-1].text == "Model 'a/gated' is gated. Its copy in the cache is used."


def test_without_a_connection_and_without_a_copy_it_is_refused(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_to("http://127.0.0.1:9", monkeypatch)
    with pytest.raises(SettingsError, match="'a/tiny' cannot be reached.*tiny, smollm2-135m"):
        fetch("a/tiny")


def test_what_the_hub_refuses_is_refused_here(hub: Hub, tmp_path: Path) -> None:
    hub.repos["a/gated"] = Repo(TINY.path, mood="gated")
    with pytest.raises(SettingsError, match="'a/gated' is gated: open http"):
        fetch("a/gated")
    pickled = tmp_path / "pickled"
    shutil.copytree(TINY.path, pickled, ignore=shutil.ignore_patterns("*.safetensors"))
    (pickled / "pytorch_model.bin").touch()
    hub.repos["a/pickled"] = Repo(pickled)
    with pytest.raises(SettingsError, match="'a/pickled' has no safetensors weights"):
        fetch("a/pickled")
    (pickled / "consolidated.safetensors").touch()
    with pytest.raises(SettingsError, match=r"'a/pickled' has no model.safetensors, nor an index"):
        fetch("a/pickled")
    (pickled / "model.safetensors.index.json").write_text("{}")
    with pytest.raises(SettingsError, match="that names no weights; pick another checkpoint"):
        fetch("a/pickled")


def test_a_child_that_dies_is_a_sentence(hub: Hub) -> None:
    with pytest.raises(SettingsError, match=r"'a/b' could not be fetched \(no such luck\)"):
        fetch("a/b", child=("-c", "raise SystemExit('no such luck')"))


def test_more_than_the_disk_holds_is_refused_before_the_first_byte(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    from playground.download import __main__ as child

    with pytest.raises(SettingsError, match=r"'a/b' needs \d+\.\d GB in .*; free some, or move"):
        child._refuse_full_disk("a/b", 10**18)
    child._refuse_full_disk("a/b", 0)


def test_of_a_repository_only_what_loading_needs_is_fetched() -> None:
    names = ["config.json", "tokenizer.json", "tokenizer.model", "chat_template.jinja", "README.md"]
    names += ["consolidated.safetensors", "pytorch_model.bin", "onnx/model.safetensors"]
    needed = {"config.json", "tokenizer.json", "tokenizer.model", "chat_template.jinja"}
    assert set(wanted([*names, "model.safetensors"])) == needed | {"model.safetensors"}
    assert set(wanted([*names, *SHARDS], SHARDS)) == needed | set(SHARDS)


@pytest.mark.slow
def test_a_run_fetches_its_model_and_the_next_one_needs_no_hub(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repos["a/tiny"] = Repo(TINY.path)
    first = _run(tmp_path, "a/tiny")
    assert (first["status"], first["steps"]) == ("finished", 1), first["error"]
    go_to("http://127.0.0.1:9", monkeypatch)
    second = _run(tmp_path, "a/tiny")
    assert second["train_loss_first"] == first["train_loss_first"]


def test_a_run_is_stopped_while_it_fetches(hub: Hub, sharded: Path, tmp_path: Path) -> None:
    hub.repos["a/b"] = Repo(sharded, gate=(SHARDS[1],))
    store = RunStore(tmp_path / "home")
    launcher = Launcher(store)
    group = launcher.start(load_preset("quick", {"model": "a/b", "precisions": "fp32"}))
    [run_id] = group.run_ids
    assert hub.half_sent.wait(60)
    worker = psutil.Process(store.get_run(run_id).pid)
    children = worker.children(recursive=True)
    assert children  # the one that fetches
    launcher.stop(group.id)
    _until(lambda: store.get_run(run_id).over and not store.get_run(run_id).pid)
    ended = store.get_run(run_id)
    launcher.close()
    assert (ended.status, ended.error) == ("stopped", None)
    _, alive = psutil.wait_procs([worker, *children], timeout=10)
    assert alive == [] and cached("*.incomplete") == []


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _run(tmp_path: Path, model: str) -> dict:
    file = tmp_path / "out.json"
    settings = {"model": model, "max_steps": 1, "eval_rows": 2, "train_rows": 20}
    settings |= {"exact_match_rows": 0, "merge_check": "false", "cross_precisions": "none"}
    command = [sys.executable, "-m", "playground", "run", "quick", "--precision", "fp32"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    command += ["--json", str(file), "--home", str(tmp_path / "home")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert file.is_file(), done.stdout + done.stderr
    return json.loads(file.read_text())["runs"][0]
