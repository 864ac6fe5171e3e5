"""Who answers, and a file that is read while it is written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from playground.events import Facts
from playground.generate import Column, Transcript, columns_of
from playground.store import RunStore
from tests import fakes
from tests.generate.finished import finished_group


def test_the_base_of_the_first_arm_and_then_each_tuned_one(store: RunStore) -> None:
    group = finished_group(store)
    told = [(c.run_id, c.tuned, c.precision) for c in columns_of(store, group)]
    first, second = group.run_ids
    assert told == [(first, False, "fp16"), (first, True, "fp16"), (second, True, "nvfp4")]


def test_of_repetitions_the_first_with_an_adapter_answers(store: RunStore) -> None:
    group = finished_group(store, "fp16,fp16,nvfp4")
    assert [c.run_id for c in columns_of(store, group)[1:]] == [group.run_ids[0], group.run_ids[2]]
    shutil.rmtree(store.run_folder(group.run_ids[0]) / "adapter")
    assert [c.run_id for c in columns_of(store, group)] == [
        group.run_ids[1],
        group.run_ids[1],
        group.run_ids[2],
    ]


def test_a_healed_arm_answers_on_the_base_it_ended_on(store: RunStore) -> None:
    group = finished_group(store)
    store.append(group.run_ids[1], Facts(healed_at_step=3, healed_to="bf16"))
    group = store.get_group(group.id)
    assert [c.precision for c in columns_of(store, group)] == ["fp16", "fp16", "bf16"]


def test_nobody_answers_before_a_run_has_finished(store: RunStore) -> None:
    preset = fakes.preset("steady")
    group = store.create_group("quick", "Waiting", preset.configs, "1:1.0")
    assert columns_of(store, group) == []


def test_half_a_line_is_left_for_the_next_look(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    transcript = Transcript(path, [Column("r-1", True, "fp16", None)])
    assert not transcript.read()
    line = json.dumps({"column": 0, "text": "ä\nb", "tokens": 2}) + "\n"
    path.write_text(line + '{"colu')
    assert transcript.read() and transcript.columns[0].text == "ä\nb"
    assert not transcript.read() and not transcript.done
    with path.open("a") as file:
        file.write('mn": 0, "ended": "by itself", "seconds": 1.5}\n{"done": true}\n')
    assert transcript.read() and transcript.done
    (column,) = transcript.columns
    assert (column.ended, column.seconds, column.doing, column.over) == (
        "by itself",
        1.5,
        None,
        True,
    )
