"""A part of a dataset on the hub, asked for by name and fetched as it is read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import datasets
import pytest
from huggingface_hub.errors import OfflineModeIsEnabled

from playground.catalog import resolve_dataset
from playground.config import SettingsError
from playground.data import rows
from playground.data.rows import stream_hub_rows


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """What was asked of the hub, which has a dataset without end."""
    calls: list[tuple] = []

    def load(hub_id: str, config: str | None, *, split: str, streaming: bool) -> Iterator[dict]:
        calls.append((hub_id, config, split, streaming))
        if split == "missing":
            raise ValueError('Bad split: missing. Available splits: ["train"]\nmore')
        return ({"text": f"row {i}"} for i in iter(int, 1))

    monkeypatch.setattr(rows, "hub_files", lambda kind, hub_id: ["a.parquet"])
    monkeypatch.setattr(datasets, "load_dataset", load)
    return calls


def test_rows_are_fetched_as_they_are_asked_for(asked: list[tuple]) -> None:
    stream = stream_hub_rows(resolve_dataset("a/b:en[test]"))
    assert [row.place for row in islice(stream, 2)] == [
        "Row 1 of 'a/b:en[test]'",
        "Row 2 of 'a/b:en[test]'",
    ]
    assert asked == [("a/b", "en", "test", True)]


def test_what_the_hub_says_of_a_wrong_name_is_passed_on(asked: list[tuple]) -> None:
    with pytest.raises(SettingsError) as refused:
        list(stream_hub_rows(resolve_dataset("a/b[missing]")))
    assert str(refused.value) == (
        "Dataset 'a/b[missing]' could not be loaded from the hub (Bad split: missing. Available "
        "splits: [\"train\"]); check that it has a split 'missing', name its part as in "
        "a/b:config[split], or use a file."
    )


def test_a_connection_that_breaks_on_the_way_is_a_sentence(
    asked: list[tuple], monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object, **__: object) -> Iterator[dict]:
        yield {"text": "a"}
        raise OfflineModeIsEnabled("no connection")

    monkeypatch.setattr(datasets, "load_dataset", breaks)
    with pytest.raises(SettingsError, match="could not be loaded from the hub .no connection"):
        list(stream_hub_rows(resolve_dataset("a/b")))
