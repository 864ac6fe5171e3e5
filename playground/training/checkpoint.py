"""A run's state on disk, to go on from: complete or absent, and only ever the newest.

    checkpoints/step-000050/adapter/      in peft's own format; of use by itself
                            state.pt      optimizer, loss scaler, random states: tensors and numbers
                            run.json      step, batches so far, peak memory, device, settings

Nothing in it is a pickle of anything but tensors and numbers, and nothing else is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import torch
from pydantic import BaseModel, Field, ValidationError
from safetensors import SafetensorError

from playground.config import PRECISIONS, RunConfig, SettingsError, TrainingSettings
from playground.events import Event, Message
from playground.failures import ResumeError, is_out_of_memory
from playground.training.adapter import load_adapter, save_adapter
from playground.training.durable import remove_folder, remove_partial, whole_folder
from playground.training.heal import heal
from playground.training.random_state import RandomState
from playground.training.state import TrainingState

_NAME = re.compile(r"step-(\d{6,})")
_UNKNOWN = object()


class _Described(BaseModel):
    """``run.json``: where the run was, and what it must be again.

    step: the last completed. healed: the base was a wider one by then. batches_sha256: of all
    batches so far. peaks: bytes, as ``meters`` names them. config: RunConfig as plain values.
    """

    step: Annotated[int, Field(ge=0)]
    healed: bool
    device: str
    batches_sha256: str
    peaks: dict[str, int]
    config: dict[str, Any]


def checkpoint_is_due(step: int, settings: TrainingSettings) -> bool:
    """After each ``checkpoint_every`` steps, and before the first: what came before it is kept."""
    every = settings.checkpoint_every
    return every > 0 and step % every == 0


def keep_checkpoint(state: TrainingState, parent: Path) -> Iterator[Event]:
    """Writes the state after its last completed step; then the earlier checkpoints go.

    A disk that is full costs a warning and not the run: an earlier checkpoint is still there.
    """
    try:
        save_checkpoint(state, parent)
    except (OSError, RuntimeError, SafetensorError) as error:  # each writer raises its own
        if is_out_of_memory(error):
            raise
        why = " ".join(str(error).split())[:200].rstrip(".")
        text = f"The checkpoint of step {state.step} could not be written: {why}."
        yield Message(level="warning", text=f"{text} The one before it, if any, is kept.")


def save_checkpoint(state: TrainingState, parent: Path) -> None:
    """As ``keep_checkpoint``, but raises whatever kept it from being written."""
    folder = parent / f"step-{state.step:06d}"
    if not folder.exists():
        with whole_folder(folder) as partial:
            _write(state, partial)
    for other in _complete(parent):
        if other != folder:
            remove_folder(other)


def newest_checkpoint(parent: Path, config: RunConfig) -> Path | None:
    """The checkpoint to go on from, or None. What was left in the middle of writing is removed.

    Raises:
        SettingsError: it is of a run with another precision or other settings.
        ResumeError: it cannot be read.
    """
    remove_partial(parent)
    complete = _complete(parent)
    if not complete:
        return None
    _refuse_another_run(_described(complete[-1]), config)
    return complete[-1]


def restore_checkpoint(
    state: TrainingState, folder: Path, check: Callable[[], None]
) -> Iterator[Event]:
    """Brings ``state``, just made, to where the checkpoint was written, to the last bit.

    Yields what healing says, if the run had healed, and a warning if that was on another device.

    Raises:
        ResumeError: the checkpoint cannot be read, or the rows are not those that it was made with.
    """
    run, described = state.run, _described(folder)
    state.skip_to(described.step, check)
    if state.digest.hexdigest() != described.batches_sha256:
        raise ResumeError(
            f"The rows of dataset '{run.config.dataset}' are not those of the first {state.step} "
            "steps any more; put the old ones back, or start a new run."
        )
    yield from heal(run, state.step, check)
    with _readable(folder):
        stored = torch.load(folder / "state.pt", map_location="cpu", weights_only=True)
        load_adapter(run.model, folder / "adapter")
        state.optimiser.load_state_dict(stored["optimiser"])
        run.memory.load_peaks(described.peaks)
        state.random = RandomState(**stored["random"])
        state.random.restore(run)
    run.memory.recount(state.optimiser.state_tensors())
    if described.device != run.detected.name:
        text = (
            f"The steps up to {state.step} were made on {described.device}, the rest on "
            f"{run.detected.name}: neither their times nor their last bits can be compared."
        )
        yield Message(level="warning", text=text)


def remove_checkpoints(parent: Path) -> None:
    """Of a run that is finished."""
    if parent.exists():
        remove_folder(parent)


def _write(state: TrainingState, folder: Path) -> None:
    run = state.run
    save_adapter(run.model, folder / "adapter", state.base_name)
    stored = {"optimiser": state.optimiser.state_dict(), "random": asdict(state.random)}
    torch.save(stored, folder / "state.pt")
    first_healed = run.config.first_healed_step
    described = _Described(
        step=state.step,
        healed=first_healed is not None and state.step >= first_healed,
        device=run.detected.name,
        batches_sha256=state.digest.hexdigest(),
        peaks=run.memory.peaks(),
        config=run.config.model_dump(mode="json"),
    )
    (folder / "run.json").write_text(described.model_dump_json(indent=1), encoding="utf-8")


def _complete(parent: Path) -> list[Path]:
    found = [path for path in parent.glob("step-*") if _NAME.fullmatch(path.name)]
    return sorted(found, key=_step_of)


def _step_of(folder: Path) -> int:
    return int(folder.name.removeprefix("step-"))


def _described(folder: Path) -> _Described:
    with _readable(folder):
        try:
            described = _Described.model_validate_json((folder / "run.json").read_bytes())
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "run.json"
            raise ValueError(f"{where}: {first['msg']}") from None
        if described.step != _step_of(folder):
            raise ValueError(f"it says that it is of step {described.step}")
        return described


@contextmanager
def _readable(folder: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever the three formats raise for a damaged file
        if is_out_of_memory(error):
            raise
        why = " ".join(str(error).split())[:200]
        raise ResumeError(
            f"Checkpoint '{folder.name}' cannot be read ({type(error).__name__}: {why}); remove it "
            "from the run's folder to resume from step 0."
        ) from error


def _refuse_another_run(described: _Described, config: RunConfig) -> None:
    step, theirs, ours = described.step, described.config, config.model_dump(mode="json")
    label = {name: info.label for name, info in PRECISIONS.items()}
    if (made_in := theirs.get("precision")) != config.precision:
        was = label.get(made_in, made_in)
        raise SettingsError(
            f"The checkpoint of step {step} was made in {was} and this run is in "
            f"{label[config.precision]}; a run goes on in its own precision only, so start a new "
            "one."
        )
    if differing := _differing(theirs, ours):
        raise SettingsError(
            f"The checkpoint of step {step} was made with another {' and '.join(differing)}; a run "
            "goes on with its own settings only, so start a new one."
        )


def _differing(theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """Names of the settings that are not alike; one that came later is as it was without it."""
    found = []
    for name, value in ours.items():
        other = theirs.get(name, _UNKNOWN)
        if isinstance(value, dict) and isinstance(other, dict):
            found += _differing(other, value)
        elif other is not _UNKNOWN and other != value:
            found.append(name)
    return found
