"""Home folders with comparisons in every state, made up without a process."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from playground.events import Event, Status, Step
from playground.presets import load_preset
from playground.store import Group, RunStore
from tests.fakes import someone_else
from tests.generate.finished import finished_group
from tests.report.scripted import scripted
from tests.ui.scripted_worker import train_in

LONG = "A title as long as a title may become when somebody writes everything into it, lr=3e-4_" * 2
ASKED = (
    ("Amira booked a table for four at Ostra on 3 May.", '{"who": "Amira", "count": 4}'),
    ("Jonas returned 12 chairs to <b>Lager 9</b> in March.", '{"who": "Jonas", "count": 12}'),
    ("On Friday Li Wei sold one bicycle.", '{"who": "Li Wei", "count": 1}'),
)


def over(store: RunStore) -> dict[str, str]:
    """Comparisons that have ended, each in its own way."""
    four = "fp32,bf16,fp16,nvfp4"
    nine = "fp32,bf16,fp16,fp8,nvfp4,nvfp4-2d,nvfp4-weight-only,mxfp4,nf4"
    seeds = {"seeds": "3", "probe_every": "20", "cross_precisions": "fp16, nvfp4"}
    memory = {"only": "nvfp4", "heal_at": 40, "memory_ends_at": 50}
    found = {
        "ladder": scripted(store, "The precision ladder", precisions=nine),
        "four": scripted(store, "Four precisions", {"skipped_at": [9]}, precisions=four),
        "repeated": scripted(store, "Quick look, 3 seeds", memory, heal_after="0.7", **seeds),
        "diverged": scripted(store, f"NaN at step 31 {LONG}", {"nan_at": [31], "diverge_at": 31}),
        "paused": _paused(_begun(store, "Paused half way", 34), store),
        "answered": finished_group(store, title="Sentences to JSON", answers=ASKED),
        "other": scripted(store, "Quick look, higher rate", learning_rate="3e-3", max_steps="90"),
        "finished": scripted(
            store, "Quick look", {}, facts={"predicted_peak_mib": 352.0}, probe_every="20"
        ),
    }
    store.annotate(found["four"].id, "Repeat this with another seed, and on the larger model.")
    for at, group in enumerate(found.values()):
        _lasted(store, group, 41.0 + 3 * at)
    ids = {name: group.id for name, group in found.items()}
    laid = (found["finished"].run_ids[1], found["other"].run_ids[1])
    return ids | {"runs": ",".join(laid)}


def running(store: RunStore) -> dict[str, str]:
    """One whose first precision has finished and whose second is under way; one that waits."""
    group = _begun(store, "Quick look", 34, finished=1)
    store.create_group("quick", "Waits", load_preset("quick").configs, someone_else())
    return {"running": group.id}


def end(store: RunStore) -> None:
    """Whatever is still under way there: no process of its own would end it."""
    for run in store.live():
        store.settle(run.id, "stopped", None, owner=someone_else())


def _begun(store: RunStore, title: str, step: int, finished: int = 0, **settings: str) -> Group:
    """The run after the first ``finished`` has come to ``step``."""
    owner = someone_else()
    (store.home / "script.json").write_text(json.dumps({}))
    train = train_in(store.home)
    group = store.create_group("quick", title, load_preset("quick", settings).configs, owner)
    for position in range(finished + 1):
        run = store.claim_next(owner)
        folder = store.run_folder(run.id)
        folder.mkdir(parents=True, exist_ok=True)
        events = train(run.config, folder=folder, should_stop=lambda: False)
        store.append(run.id, *(_up_to(events, step) if position == finished else events))
        if position < finished:
            store.settle(run.id, "failed", None, owner=owner)
    return store.get_group(group.id)


def _up_to(events: Iterable[Event], step: int) -> Iterator[Event]:
    for event in events:
        yield event
        if isinstance(event, Step) and event.step == step:
            return


def _paused(group: Group, store: RunStore) -> Group:
    store.request_stop(*group.run_ids, kind="pause")
    store.append(group.run_ids[0], Status(status="paused"))
    store.settle(group.run_ids[0], "failed", None, owner=someone_else())
    return store.get_group(group.id)


def _lasted(store: RunStore, group: Group, seconds: float) -> None:
    """They were stored in an instant; a picture of that would say that they took no time."""
    with store.writing() as db:
        db.execute(
            "UPDATE runs SET started_at = ended_at - ? WHERE group_id = ? AND ended_at IS NOT NULL"
            " AND started_at IS NOT NULL",
            (seconds, group.id),
        )
