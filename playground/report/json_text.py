"""A report as JSON: what ``compare`` writes, and every step and evaluation behind it."""

from __future__ import annotations

import json
import math
from typing import Any

from pydantic import BaseModel

from playground import hardware
from playground.compare import group_json
from playground.report.content import Content


def json_text(content: Content) -> str:
    """The JSON of ``compare`` with, for each run, ``config``, ``every_step`` and ``evaluations``.

    Fields are as in ``events``; what was not measured is left out, and a number that is not finite
    is null.
    """
    group = content.group
    result = group_json(
        group=group.id,
        preset=group.preset,
        device=hardware.detect().to_dict(),
        records=content.records,
    )
    result |= {"title": group.title, "note": group.note, "created_at": group.created_at}
    for run, record in zip(result["runs"], content.records, strict=True):
        run["config"] = record.config.model_dump(mode="json")
        run["every_step"] = [_plain(step) for step in record.steps]
        run["evaluations"] = [_plain(found) for found in record.evals]
        run["layer_errors"] = [_plain(error) for error in record.layer_errors]
        run["messages"] = [_plain(message) for message in content.messages[record.id]]
        if content.answers is not None:
            run["answers"] = {
                when: [_plain(answer) for answer in given]
                for when, given in content.answers[record.id].items()
            }
    return json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _plain(event: BaseModel) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in event
        if value is not None and name != "kind"
    }
