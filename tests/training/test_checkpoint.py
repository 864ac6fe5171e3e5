"""What is on the disk after a run has been saved: complete or absent, newest only, no pickle."""

from __future__ import annotations

import json
import os
import pickletools
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from playground.config import RunConfig
from playground.events import Event, Message, Status, Step
from playground.failures import ResumeError
from playground.training import checkpoint, durable, loop
from playground.training.durable import remove_folder, remove_partial, whole_folder
from playground.training.loop import train
from tests.training.test_resume import only, stopped_after, until_step

Configure = Callable[..., RunConfig]


class TestAWholeFolder:
    def test_appears_with_all_that_is_in_it(self, tmp_path: Path) -> None:
        with whole_folder(tmp_path / "a" / "b") as partial:
            (partial / "x").write_text("1")
            assert not (tmp_path / "a" / "b").exists()
        assert [p.name for p in (tmp_path / "a").iterdir()] == ["b"]
        assert (tmp_path / "a" / "b" / "x").read_text() == "1"

    def test_is_on_the_disk_before_it_has_its_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        done: list[str] = []
        replace, flush = os.replace, durable._flush
        monkeypatch.setattr(durable, "_flush", lambda p: (done.append(p.name), flush(p)))
        monkeypatch.setattr(os, "replace", lambda a, b: (done.append("named"), replace(a, b)))
        with whole_folder(tmp_path / "b") as partial:
            (partial / "inner").mkdir()
            (partial / "inner" / "x").write_text("1")
        assert set(done[:3]) == {"inner", "x", "b.partial"}
        assert done[3:] == ["named", tmp_path.name]

    def test_takes_the_place_of_an_earlier_one_only_when_complete(self, tmp_path: Path) -> None:
        for text in ("old", "new"):
            with whole_folder(tmp_path / "b") as partial:
                (partial / "x").write_text(text)
        with pytest.raises(OSError, match="full"), whole_folder(tmp_path / "b") as partial:
            (partial / "x").write_text("newest")
            raise OSError("full")
        assert (tmp_path / "b" / "x").read_text() == "new"
        assert [p.name for p in tmp_path.iterdir()] == ["b"]

    def test_is_removed_under_another_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with whole_folder(tmp_path / "b") as partial:
            (partial / "x").write_text("1")
        with monkeypatch.context() as broken:  # killed in the middle of it
            broken.setattr(durable.shutil, "rmtree", lambda *_, **__: None)
            remove_folder(tmp_path / "b")
        assert [p.name for p in tmp_path.iterdir()] == ["b.old.partial"]
        remove_partial(tmp_path)
        assert list(tmp_path.iterdir()) == []


def test_only_the_newest_stays(configure: Configure, tmp_path: Path) -> None:
    config = configure(max_steps=5, checkpoint_every=2)
    folders = []
    for event in train(config, folder=tmp_path):
        if isinstance(event, Step):
            folders.append(sorted(p.name for p in (tmp_path / "checkpoints").iterdir()))
    assert folders == [[f"step-{n:06d}"] for n in (0, 0, 2, 2, 4)]
    assert not (tmp_path / "checkpoints").exists()


def test_its_adapter_is_of_use_by_itself(
    configure: Configure, model_folder: Path, tmp_path: Path
) -> None:
    stopped_after(configure(), tmp_path, 3)
    (folder,) = (tmp_path / "checkpoints").iterdir()
    base = AutoModelForCausalLM.from_pretrained(model_folder)
    model = PeftModel.from_pretrained(base, folder / "adapter")
    assert any(p.abs().sum() > 0 for n, p in model.named_parameters() if "lora_B" in n)


def test_it_holds_nothing_but_tensors_numbers_and_text(
    configure: Configure, tmp_path: Path
) -> None:
    stopped_after(configure(precision="fp16", max_steps=2), tmp_path, 1)
    (folder,) = (tmp_path / "checkpoints").iterdir()
    assert sorted(p.name for p in folder.iterdir()) == ["adapter", "run.json", "state.pt"]
    described = json.loads((folder / "run.json").read_text())
    assert (described["step"], described["healed"]) == (1, False)
    torch.load(folder / "state.pt", weights_only=True)
    with zipfile.ZipFile(folder / "state.pt") as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("data.pkl"))
        opcodes = pickletools.genops(archive.read(name))
        named = {arg for op, arg, _ in opcodes if op.name in ("GLOBAL", "STACK_GLOBAL")}
    assert named <= {
        "torch._utils _rebuild_tensor_v2", "torch FloatStorage", "torch ByteStorage",
        "collections OrderedDict", "collections defaultdict", "__builtin__ dict",
    }  # fmt: skip


def test_a_full_disk_costs_a_warning_and_not_the_run(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(stored: dict, path: Path) -> None:
        calls.append(path)
        if len(calls) == 2:
            raise RuntimeError("PytorchStreamWriter failed writing file: no space left")
        save(stored, path)

    calls: list[Path] = []
    save = torch.save
    monkeypatch.setattr(checkpoint.torch, "save", full)
    events: list[Event] = []
    for event in train(configure(max_steps=3, checkpoint_every=2), folder=tmp_path):
        events.append(event)
        if isinstance(event, Message) and event.level == "warning":
            assert [p.name for p in (tmp_path / "checkpoints").iterdir()] == ["step-000000"]
    (warning,) = [told for told in only(Message, events) if told.level == "warning"]
    assert warning.text.startswith("The checkpoint of step 2 could not be written: Pytorch")
    assert events[-1] == Status(status="finished")


@pytest.mark.parametrize("damage", ["run.json", "state.pt", "adapter/adapter_model.safetensors"])
def test_a_damaged_one_says_what_to_do(damage: str, configure: Configure, tmp_path: Path) -> None:
    stopped_after(configure(), tmp_path, 2)
    path = tmp_path / "checkpoints" / "step-000002" / damage
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ResumeError, match="'step-000002' cannot be read .*; remove it from the"):
        list(train(configure(), folder=tmp_path, resume=True))


def rewritten(change: Callable[[dict], object]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        described = json.loads((folder / "run.json").read_text())
        change(described)
        (folder / "run.json").write_text(json.dumps(described))

    return damage


def restored(change: Callable[[dict], object]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        state = torch.load(folder / "state.pt", weights_only=True)
        change(state)
        torch.save(state, folder / "state.pt")

    return damage


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (rewritten(dict.clear), "step: Field required"),
        (rewritten(lambda d: d.pop("config")), "config: Field required"),
        (rewritten(lambda d: d.update(config=[])), "config: Input should be an object"),
        (rewritten(lambda d: d.update(step=99)), "it says that it is of step 99"),
        (rewritten(lambda d: d.update(step=-1)), "step: Input should be greater than or equal"),
        (rewritten(lambda d: d.update(peaks={})), "KeyError: 'largest_batch'"),
        (restored(lambda s: s.pop("random")), "KeyError: 'random'"),
        (restored(lambda s: s.update(optimiser={})), "KeyError: 'adamw'"),
        (lambda folder: (folder / "run.json").write_text("[]"), "run.json: Input should be"),
        (lambda folder: (folder / "state.pt").unlink(), "FileNotFoundError"),
    ],
)
def test_one_that_can_be_read_but_lacks_something_says_so_too(
    damage: Callable[[Path], object], reason: str, configure: Configure, tmp_path: Path
) -> None:
    stopped_after(configure(), tmp_path, 2)
    damage(tmp_path / "checkpoints" / "step-000002")
    with pytest.raises(ResumeError, match="'step-000002' cannot be read") as refused:
        list(train(configure(), folder=tmp_path, resume=True))
    assert reason in str(refused.value)


def test_what_a_dead_process_left_half_written_is_swept_away(
    configure: Configure, tmp_path: Path
) -> None:
    seen: list[Event] = []
    config = configure(max_steps=3, checkpoint_every=1)
    until_step(train(config, folder=tmp_path), 2, seen)
    for name in ("step-000002.partial", "step-000000.old.partial"):
        (tmp_path / "checkpoints" / name / "adapter").mkdir(parents=True)
    (tmp_path / "adapter.partial").mkdir()
    events = train(config, folder=tmp_path, resume=True)
    next(events)
    assert [p.name for p in (tmp_path / "checkpoints").iterdir()] == ["step-000001"]
    assert not (tmp_path / "adapter.partial").exists()
    assert [e.step for e in only(Step, list(events))] == [2, 3]


def test_saving_is_no_part_of_a_steps_time(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(loop, "StepTimer", partial(loop.StepTimer, clock=lambda: now[0]))
    save = checkpoint.save_checkpoint

    def slow(*arguments: object) -> None:
        now[0] += 1000
        save(*arguments)

    monkeypatch.setattr(checkpoint, "save_checkpoint", slow)

    class Ticking(torch.optim.AdamW):
        def step(self, *arguments: object) -> object:
            now[0] += 1
            return super().step(*arguments)

    monkeypatch.setattr(torch.optim, "AdamW", Ticking)
    events = list(train(configure(max_steps=3, checkpoint_every=1), folder=tmp_path))
    assert [e.step_ms for e in only(Step, events)] == [1000.0] * 3
