"""kill -9 at random moments, many times: is any committed step lost, any checkpoint half there?

    python -m benchmarks.kill_loop [--kills 50] [--precision nvfp4-2d] [--steps 200] [--seed 1]

One run goes to its end undisturbed. The same run is then killed with SIGKILL again and again, at
moments drawn from ``--seed``, looked over, and resumed, until it has been killed often enough and
may finish. Exits 0 if each look found every committed step in place and each checkpoint complete,
and in the end all of it, losses, adapter and digests, is the undisturbed run's to the last bit.
About ten seconds a kill on a quiet machine, most of them for loading the libraries.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playground.events import FINAL
from playground.launcher import Launcher
from playground.presets import load_preset
from playground.store import RunStore

_NOT_OF_THE_RUN = {"step_ms", "tokens_per_s", "warmup", "power_w", "energy_j"}
_NEVER_S = 600  # a run of this size that says nothing for so long never will


def held(store: RunStore, run_id: str) -> dict[str, Any]:
    """All that the store and the folder hold of a run that must not depend on how often it died."""
    facts = store.get_run(run_id).facts
    adapter = store.run_folder(run_id) / "adapter" / "adapter_model.safetensors"
    return {
        "steps": _steps(store, run_id),
        "evals": store.evals(run_id),
        "rows": [store.eval_rows(run_id, when) for when in ("before", "after")],
        "batches_sha256": facts.batches_sha256,
        "adapter_init_sha256": facts.adapter_init_sha256,
        "peak_mib": facts.peak_mib,
        "adapter": adapter.read_bytes() if adapter.exists() else None,
    }


def damage(store: RunStore, run_id: str, whole: dict[str, Any], before: set[int]) -> list[str]:
    """What is wrong with a run that has just been killed; nothing should be.

    Args:
        whole: ``held`` of the undisturbed run.
        before: steps that were committed when it was looked at last.
    """
    steps, found = _steps(store, run_id), []
    if lost := before - steps.keys():
        found.append(f"committed steps are lost: {sorted(lost)}")
    if list(steps) != list(range(1, len(steps) + 1)):
        found.append(f"steps are missing in between: {list(steps)}")
    found += [f"step {n} differs" for n, step in steps.items() if step != whole["steps"][n]]
    for folder in _checkpoints(store, run_id):
        try:
            step = _read_whole(folder)
        except Exception as error:  # whatever it is: the folder's name says that it is complete
            found.append(f"{folder.name} is not complete: {error!r}")
            continue
        if step > max(steps, default=0):
            found.append(f"{folder.name} is ahead of the store, which ends at {max(steps)}")
    return found


def _steps(store: RunStore, run_id: str) -> dict[int, dict[str, Any]]:
    return {s.step: s.model_dump(exclude=_NOT_OF_THE_RUN) for s in store.steps(run_id)}


def _checkpoints(store: RunStore, run_id: str) -> list[Path]:
    parent = store.run_folder(run_id) / "checkpoints"
    return [path for path in parent.glob("step-*") if not path.name.endswith(".partial")]


def _read_whole(folder: Path) -> int:
    import torch
    from safetensors.torch import load_file

    torch.load(folder / "state.pt", weights_only=True)
    load_file(folder / "adapter" / "adapter_model.safetensors")
    json.loads((folder / "adapter" / "adapter_config.json").read_text())
    return json.loads((folder / "run.json").read_text())["step"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--precision", default="nvfp4-2d")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--checkpoint-every", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    settings = {
        "max_steps": str(given.steps),
        "checkpoint_every": str(given.checkpoint_every),
        "eval_every": "7",
        "lora_dropout": "0.1",
        "precisions": given.precision,
    }
    with tempfile.TemporaryDirectory() as home:
        store = RunStore(Path(home))
        launcher = Launcher(store)
        try:
            return _loop(store, launcher, load_preset("quick", settings), given)
        finally:
            for run in store.live():
                launcher.stop(run.id)
            _wait(lambda: not store.live(), "the last process to go")
            launcher.close()


def _loop(store: RunStore, launcher: Launcher, preset: Any, given: argparse.Namespace) -> int:
    (whole_id,) = launcher.start(preset, title="undisturbed").run_ids
    _wait(lambda: _ended(store, whole_id), "the undisturbed run to end")
    whole = held(store, whole_id)
    (run_id,) = launcher.start(preset, title="killed").run_ids
    draw, problems, committed, kills = random.Random(given.seed), [], set[int](), 0
    while kills < given.kills and _kill(store, run_id, draw, given, kills):
        _wait(lambda: _ended(store, run_id), "the launcher to see it")
        kills += 1
        found = damage(store, run_id, whole, committed)
        committed = set(_steps(store, run_id))
        names = [path.name for path in _checkpoints(store, run_id)]
        print(f"kill {kills}: {len(committed)} steps, {names}", *found, sep="; ", flush=True)
        problems += found
        launcher.resume(run_id)
    _wait(lambda: _ended(store, run_id), "the killed run to end")
    end, status = held(store, run_id), store.get_run(run_id).status
    problems += [f"{name} differs in the end" for name in whole if end[name] != whole[name]]
    if status != "finished" or kills < given.kills:
        problems.append(f"it ended as {status} after {kills} kills")
    print(f"{kills} kills, {given.steps} steps, {given.precision}:", end=" ")
    print("; ".join(problems) or "nothing lost, nothing half there, the same to the last bit")
    return 1 if problems else 0


def _kill(
    store: RunStore, run_id: str, draw: random.Random, given: argparse.Namespace, kills: int
) -> bool:
    """Kills the run's process at a drawn moment; False if the run ended before it came."""
    _wait(lambda: store.get_run(run_id).pid or _ended(store, run_id), "its process")
    last = store.last_step(run_id)
    left = given.steps - (last.step if last else 0)
    # Some changes of what the store holds, and then a part of a step: on the way to the first
    # step there are about forty, then one or two a step, and what is left must last.
    changes = draw.randrange(1, 40 + max(2, 3 * left // (given.kills - kills + 1)))
    for _ in range(changes):
        seen = store.change_token()
        _wait(lambda seen=seen: store.change_token() != seen or _ended(store, run_id), "a change")
    time.sleep(draw.random() * 0.05)
    run = store.get_run(run_id)
    if run.over or run.pid is None:
        return False
    os.kill(run.pid, signal.SIGKILL)
    return True


def _ended(store: RunStore, run_id: str) -> bool:
    run = store.get_run(run_id)
    return run.status in FINAL and run.pid is None


def _wait(true: Any, what: str) -> None:
    deadline = time.monotonic() + _NEVER_S
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {_NEVER_S} s for {what}")
        time.sleep(0.01)


if __name__ == "__main__":
    sys.exit(main())
