"""A comparison that a scripted worker would have made, stored here and now, without a process."""

from __future__ import annotations

import json
from typing import Any

from playground.config import SettingsError
from playground.events import Answer, EvalAnswers, Facts
from playground.presets import load_preset
from playground.store import Group, RunStore
from tests.fakes import someone_else
from tests.ui.scripted_worker import train_in

MARKUP = "<script>alert(1)</script><b>&amp;"


def scripted(
    store: RunStore,
    title: str = "Scripted",
    script: dict[str, Any] | None = None,
    answers: tuple[str, str, str] | None = None,
    facts: dict[str, Any] | None = None,
    **settings: str,
) -> Group:
    """Runs ``quick`` with ``settings``, one arm after another.

    Args:
        script: the part to play, see ``scripted_worker``.
        answers: prompt, reference and answer of the one held-out row that is answered.
        facts: what each run says of itself beside what the script does.
    """
    owner = someone_else()
    (store.home / "script.json").write_text(json.dumps(script or {}))
    train = train_in(store.home)
    group = store.create_group("quick", title, load_preset("quick", settings).configs, owner)
    for _ in group.runs:
        run = store.claim_next(owner)
        folder = store.run_folder(run.id)
        folder.mkdir(parents=True, exist_ok=True)
        error, cause = "It did not say how it ended.", None
        try:
            for event in train(run.config, folder=folder, should_stop=lambda: False):
                store.append(run.id, event)
        except MemoryError as full:
            error, cause = str(full), "out of memory"
        except SettingsError as refused:
            error, cause = str(refused), "refused"
        if facts:
            store.append(run.id, Facts(**facts))
        if answers:
            said = Answer(row=0, prompt=answers[0], reference=answers[1], answer=answers[2])
            store.append(run.id, EvalAnswers(step=60, when="after", answers=(said,)))
        store.settle(run.id, "failed", error, owner=owner, cause=cause)
    return store.get_group(group.id)
