"""Earlier comparisons are found, sorted and paged by the database, and named by people."""

from __future__ import annotations

import math
import sqlite3

import pytest

from playground.compare import RunRecord, verdict
from playground.config import SettingsError
from playground.events import Eval, Status
from playground.presets import Preset
from playground.store import Group, RunStore, Search
from tests import fakes


def finished(
    store: RunStore, title: str, preset: Preset, losses: dict[tuple[str, int], float]
) -> Group:
    """A comparison whose runs ended with these held-out losses, by precision and seed."""
    group = store.create_group(preset.name, title, preset.configs, "1:1.0")
    for run in group.runs:
        loss = losses[run.precision, run.config.training.seed]
        last = Eval(step=5, when="after", loss=loss, tokens=100)
        store.append(run.id, last, Status(status="finished"))
    return store.get_group(group.id)


def titles(store: RunStore, **asked: object) -> list[str]:
    return [group.title for group in store.search(Search(**asked)).groups]


@pytest.fixture
def three(store: RunStore) -> list[Group]:
    two = fakes.preset("steady")
    one = fakes.preset("loading", precisions="mxfp4")
    groups = [
        finished(store, "Österreich first", two, {("fp16", 42): 0.5, ("nvfp4", 42): 0.53}),
        finished(store, "second", two, {("fp16", 42): 0.5, ("nvfp4", 42): 0.49}),
        store.create_group("smollm2", "100%_third", one.configs, "1:1.0"),
    ]
    with store.writing() as db:
        for day, group in enumerate(groups, 1):
            db.execute("UPDATE groups SET created_at = ? WHERE id = ?", (day * 86400.0, group.id))
    return groups


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["100%_third", "second", "Österreich first"]),
        ({"words": "öSTERREICH"}, ["Österreich first"]),
        ({"words": "quick steady"}, ["second", "Österreich first"]),
        ({"words": "quick third"}, []),
        ({"words": "%_"}, ["100%_third"]),
        ({"words": "'; DROP TABLE runs; --"}, []),
        ({"precision": "mxfp4"}, ["100%_third"]),
        ({"precision": "nvfp4", "words": "second"}, ["second"]),
        ({"status": "queued"}, ["100%_third"]),
        ({"status": "finished"}, ["second", "Österreich first"]),
        ({"since": 2 * 86400.0}, ["100%_third", "second"]),
        ({"until": 2 * 86400.0}, ["Österreich first"]),
        ({"descending": False}, ["Österreich first", "second", "100%_third"]),
        ({"by": "title", "descending": False}, ["100%_third", "second", "Österreich first"]),
        ({"by": "model", "words": "first"}, ["Österreich first"]),
        ({"by": "state", "descending": False}, ["100%_third", "second", "Österreich first"]),
        # What has no difference is last whichever way it is sorted.
        ({"by": "difference"}, ["Österreich first", "second", "100%_third"]),
        ({"by": "difference", "descending": False}, ["second", "Österreich first", "100%_third"]),
    ],
)
def test_a_search_finds_and_sorts(
    store: RunStore, three: list[Group], asked: dict, found: list[str]
) -> None:
    assert titles(store, **asked) == found
    assert store.search(Search(**asked)).total == len(found)


def test_a_note_is_searched_too(store: RunStore, three: list[Group]) -> None:
    store.annotate(three[1].id, "the one with the strange plateau")
    assert titles(store, words="PLATEAU strange") == ["second"]


def test_pages_follow_each_other_without_a_gap(store: RunStore) -> None:
    for number in range(23):
        store.create_group("quick", f"{number}", [fakes.config()], "1:1.0")
    pages = [store.search(Search(), limit=10, offset=offset) for offset in (0, 10, 20, 30)]
    assert [page.total for page in pages] == [23] * 4
    assert [g.title for page in pages for g in page.groups] == [f"{n}" for n in range(22, -1, -1)]


def test_a_page_takes_as_many_queries_however_many_it_holds(store: RunStore) -> None:
    def queries(limit: int) -> int:
        said: list[str] = []
        db: sqlite3.Connection = store._connection()
        db.set_trace_callback(said.append)
        store.search(Search(by="difference"), limit=limit)
        db.set_trace_callback(None)
        return len(said)

    for number in range(12):
        store.create_group("quick", f"{number}", fakes.preset("steady").configs, "1:1.0")
    assert queries(12) == queries(1)


DIFFERENCES = [
    ("fp16,nvfp4", {("fp16", 42): 0.5, ("nvfp4", 42): 0.53}),
    # The fewest bits, wherever it stands; of two with 4.5 bits, the first.
    ("fp16,nf4,fp8,nvfp4", dict(zip([("fp16", 42), ("nf4", 42), ("fp8", 42), ("nvfp4", 42)],
                                    [0.5, 0.51, 0.7, 0.8], strict=True))),
    # The yardstick is the first arm, also where it has fewer bits.
    ("nvfp4,fp16", {("fp16", 42): 0.5, ("nvfp4", 42): 0.53}),
    ("fp16", {("fp16", 42): 0.5}),
    ("fp16,nvfp4", {("fp16", 42): 0.5, ("nvfp4", 42): math.nan}),
    ("fp16,nvfp4", {("fp16", 42): math.inf, ("nvfp4", 42): 0.5}),
]  # fmt: skip


@pytest.mark.parametrize(("precisions", "losses"), DIFFERENCES)
def test_the_difference_is_the_verdicts(store: RunStore, precisions: str, losses: dict) -> None:
    group = finished(store, "one", fakes.preset("steady", precisions=precisions), losses)
    found = store.search(Search(by="difference")).differences.get(group.id)
    records = [RunRecord.of(run, [], store.evals(run.id)) for run in group.runs]
    wanted = verdict(records).loss_delta
    assert found == (wanted if wanted is None else pytest.approx(wanted))


def test_the_difference_of_repeated_arms_is_over_the_seeds_that_both_have(store: RunStore) -> None:
    from dataclasses import replace

    losses = {("fp16", 42): 0.5, ("nvfp4", 42): 0.53, ("fp16", 43): 0.6, ("nvfp4", 43): 0.61}
    group = finished(store, "two", replace(fakes.preset("steady"), seeds=2), losses)
    assert store.search(Search()).differences == {group.id: pytest.approx(0.02)}


def test_a_new_name_is_kept_as_typed_and_pages_see_that_it_changed(store: RunStore) -> None:
    group = store.create_group("quick", "old", [fakes.config()], "1:1.0")
    before = store.change_token(group.id)
    store.rename(group.id, " <b>$(x)</b> 🧪 ")
    store.annotate(group.id, "line one\nline two")
    found = store.get_group(group.id)
    assert (found.title, found.note) == ("<b>$(x)</b> 🧪", "line one\nline two")
    assert store.change_token(group.id) > before
    store.annotate(group.id, "")
    assert store.get_group(group.id).note == ""


@pytest.mark.parametrize("title", ["", "   ", "x" * 301])
def test_a_name_that_cannot_be_is_refused(store: RunStore, title: str) -> None:
    group = store.create_group("quick", "old", [fakes.config()], "1:1.0")
    with pytest.raises(SettingsError, match="characters long; give it 1 to 300"):
        store.rename(group.id, title)
    assert store.get_group(group.id).title == "old"


def test_what_is_not_there_cannot_be_named(store: RunStore) -> None:
    for change in (store.rename, store.annotate):
        with pytest.raises(SettingsError, match="'g-none' is unknown"):
            change("g-none", "x")
