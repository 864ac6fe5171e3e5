"""A report as JSON: what ``compare`` writes, and every step and evaluation behind it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any

from pydantic import BaseModel

from playground import hardware
from playground.compare import RunRecord, group_json
from playground.report.content import Content
from playground.store import RunStore

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def json_parts(store: RunStore, content: Content) -> Iterator[str]:
    """The JSON of ``compare`` with, for each run, ``config``, ``every_step`` and ``evaluations``.

    In parts: laid end to end they are the file. Fields are as in ``events``; what was not measured
    is left out, and a number that is not finite is null.
    """
    group, records = content.group, content.records(store)
    result = group_json(
        group=group.id,
        preset=group.preset,
        device=hardware.detect().to_dict(),
        records=records,
    )
    runs = result.pop("runs")
    result |= {"title": group.title, "note": group.note, "created_at": group.created_at}
    yield f'{_open(result)},"runs":['
    for place, (run, record) in enumerate(zip(runs, records, strict=True)):
        yield ("," if place else "") + _open(run | _more(content, record))
        yield from _list("layer_errors", [map(dict, store.layer_errors(record.id))])
        yield from _list("every_step", store.step_pages(record.id))
        yield "}"
    yield "]}\n"


def _more(content: Content, record: RunRecord) -> dict[str, Any]:
    more: dict[str, Any] = {
        "config": record.config.model_dump(mode="json"),
        "evaluations": [_event(found) for found in record.evals],
        "messages": [_event(message) for message in content.messages[record.id]],
    }
    if content.answers is not None:
        more["answers"] = {
            when: [_event(answer) for answer in given]
            for when, given in content.answers[record.id].items()
        }
    return more


def _open(values: dict[str, Any]) -> str:
    """An object that more can be added to."""
    return _encode(values)[:-1]


def _list(name: str, pages: Iterable[Iterable[dict[str, Any]]]) -> Iterator[str]:
    yield f',"{name}":['
    comma = ""
    for page in pages:
        if events := _encode(list(map(_plain, page)))[1:-1]:
            yield comma + events
            comma = ","
    yield "]"


def _event(event: BaseModel) -> dict[str, Any]:
    return _plain(dict(event))


def _plain(event: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if value.__class__ is float and not isfinite(value) else value
        for name, value in event.items()
        if value is not None and name != "kind"
    }
