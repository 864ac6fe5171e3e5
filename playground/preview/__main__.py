"""The child: ``python -m playground.preview FOLDER`` answers the request that lies there.

``request.json`` names a run's configuration and how many rows to show, or a dataset, or a file that
was uploaded; ``answer.json`` then has the answer, or the sentence that refuses it.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

from playground.catalog import resolve_dataset, resolve_model
from playground.config import RunConfig, SettingsError

_UPLOAD_MEMORY = 2 * 2**30
"""Bytes in which a stranger's file must be read: a hundred times what an honest one takes."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """``{"answer": ...}`` or ``{"refused": sentence}``."""
    try:
        if "upload" in request:
            return {"answer": _upload(Path(request["upload"]))}
        if "dataset" in request:
            return {"answer": _columns(request["dataset"])}
        return {"answer": _preview(request)}
    except SettingsError as error:
        return {"refused": str(error)}


def _preview(request: dict[str, Any]) -> dict[str, Any]:
    config = RunConfig.model_validate(request["config"])
    entry, source = resolve_model(config.model), resolve_dataset(config.dataset)
    # Imported here: torch and transformers take seconds, and a wrong name shows before.
    from playground.data.check import check_rows
    from playground.data.preview import preview
    from playground.training.parsed import of_home
    from playground.training.pretrained import load_tokenizer

    check_rows(source, config)  # a mistake in the first rows shows before the model is looked at
    keep = of_home(request.get("home"))
    tokenizer = load_tokenizer(entry, config.data.max_seq_len, keep)
    every = request.get("every", False)
    return preview(source, config, tokenizer, request["rows"], every=every)


def _columns(dataset: str) -> dict[str, Any]:
    from playground.data.rows import first_row
    from playground.data.uploads import columns_of

    return columns_of(first_row(resolve_dataset(dataset)))


def _upload(file: Path) -> dict[str, Any]:
    from playground.data.uploads import look

    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_UPLOAD_MEMORY, most))
    try:
        return look(file)
    except MemoryError:
        raise SettingsError(
            f"'{file.name}' needs more than {_UPLOAD_MEMORY // 2**30} GiB to be read, far more "
            "than rows do; look what it holds, and divide it."
        ) from None


def main() -> None:
    folder = Path(sys.argv[1])
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    found = json.dumps(answer(request), allow_nan=False)
    # A lone surrogate, which JSON can hold, is no UTF-8; escaped it is.
    (folder / "answer.json").write_text(found, encoding="ascii")


if __name__ == "__main__":
    main()
