"""What the preview says is learned is what the labels of a run's own batches hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from playground.catalog import resolve_dataset, resolve_model
from playground.config import parse_config
from playground.data.batches import MicroBatch
from playground.data.preview import preview
from playground.data.tokenise import IGNORED
from playground.presets import defaults
from playground.training.pretrained import load_tokenizer
from tests.tiny import save_tiny
from tests.training.prepared import ready

ROWS = [
    {"prompt": f"Ask {i} " + "?" * (i % 5) * 20, "completion": "ä😀 " * (i % 7) + str(i)}
    for i in range(48)
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("model"))


def _rows_of(batch: MicroBatch) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Ids and labels of each row; those of a packed sequence begin where positions do."""
    for i, length in enumerate(batch.attention_mask.sum(1).tolist()):
        starts = [0]
        if batch.position_ids is not None:
            starts = (batch.position_ids[i, :length] == 0).nonzero().flatten().tolist()
        for start, end in zip(starts, [*starts[1:], length], strict=True):
            ids, labels = batch.input_ids[i, start:end], batch.labels[i, start:end]
            yield tuple(ids.tolist()), tuple(labels.tolist())


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"max_seq_len": 64},
        {"max_seq_len": 80, "too_long": "drop"},
        {"learn_from": "everything", "max_seq_len": 100},
        {"packing": True, "max_seq_len": 200},
    ],
    ids=["whole", "cut", "dropped", "everything", "packed"],
)
def test_every_batch_of_a_pass(model: Path, tmp_path: Path, data: dict[str, Any]) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    values = defaults() | {"model": str(model), "dataset": str(file), "precision": "fp32"}
    values["data"] = values["data"] | {"eval_rows": 4} | data
    config = parse_config(values)
    tokenizer = load_tokenizer(resolve_model(config.model), config.data.max_seq_len)
    found = preview(resolve_dataset(config.dataset), config, tokenizer, len(ROWS))
    said = Counter(
        (
            tuple(token["id"] for token in kept),
            tuple(token["id"] if token["state"] == "learned" else IGNORED for token in kept),
        )
        for row in found["rows"]
        if row["fate"] == "training"
        for kept in [[token for token in row["tokens"] if token["state"] != "cut"]]
    )
    run = ready(config)
    assert len(run.train) == found["counts"]["train"]
    trained: Counter[Any] = Counter()
    steps = run.batches()
    for step in (next(steps) for _ in range(found["epoch"]["steps"])):
        for batch in step:
            trained.update(_rows_of(batch))
            assert (batch.labels[batch.attention_mask == 0] == IGNORED).all()
    assert trained == said and trained
    learned = sum(label != IGNORED for _, labels in trained for label in labels)
    assert learned == found["epoch"]["learned_tokens"]
    answers = {row["completion"] for row in ROWS}
    for _, labels in trained:
        spoken = tokenizer.decode([label for label in labels if label != IGNORED])
        if not data:
            assert spoken.removesuffix("<|end|>") in answers and spoken.endswith("<|end|>")
