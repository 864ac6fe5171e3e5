"""The child: ``python -m playground.preview FOLDER`` answers the request that lies there.

``request.json`` has the run's configuration and how many rows to show; ``answer.json`` then has the
preview, or the sentence that refuses it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from playground.catalog import resolve_dataset, resolve_model
from playground.config import RunConfig, SettingsError


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The preview, or why there is none: ``{"preview": ...}`` or ``{"refused": sentence}``."""
    try:
        config = RunConfig.model_validate(request["config"])
        entry, source = resolve_model(config.model), resolve_dataset(config.dataset)
        # Imported here: torch and transformers take seconds, and a wrong name shows before.
        from playground.data.check import check_rows
        from playground.data.preview import preview
        from playground.training.pretrained import load_tokenizer

        check_rows(
            source, config
        )  # a mistake in the first rows shows before the model is looked at
        tokenizer = load_tokenizer(entry, config.data.max_seq_len)
        return {"preview": preview(source, config, tokenizer, request["rows"])}
    except SettingsError as error:
        return {"refused": str(error)}


def main() -> None:
    folder = Path(sys.argv[1])
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    found = json.dumps(answer(request), allow_nan=False)
    # A lone surrogate, which JSON can hold, is no UTF-8; escaped it is.
    (folder / "answer.json").write_text(found, encoding="ascii")


if __name__ == "__main__":
    main()
