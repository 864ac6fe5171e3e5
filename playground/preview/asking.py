"""Asks a child process about rows: whatever a file or a tokenizer does to it is a sentence."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from playground.config import RunConfig, SettingsError
from playground.processes import child_environment, last_line, run_to_end

CHILD = ("-P", "-m", "playground.preview")  # -P: never import from the cwd
ROWS = 3
_LONGEST_S = 180.0  # a hub's tokenizer may have to be fetched
_LONGEST_EVERY_S = 3600.0  # asked for in so many words, by who can end it


def ask(
    config: RunConfig,
    rows: int = ROWS,
    home: Path | None = None,
    child: tuple[str, ...] = CHILD,
    *,
    offline: bool = False,
    every: bool = False,
) -> dict[str, Any]:
    """What a run with ``config`` would read and learn; ``data.preview`` says of what parts.

    Args:
        rows: how many of the first rows are shown.
        home: where the runs are kept, and what they read of GGUF files, which takes half a minute.
        child: arguments of the interpreter that answers.
        offline: asks no hub, and takes what its cache holds.
        every: counts all rows that the run would read and not the first few thousand.
    Raises:
        SettingsError: what the run itself would say, or the child came to no good end.
    """
    request: dict[str, Any] = {"config": config.model_dump(mode="json"), "rows": rows}
    if home is not None:
        request["home"] = str(home)
    if every:
        request["every"] = True
    return _answer(request, child, offline, _LONGEST_EVERY_S if every else _LONGEST_S)


def ask_columns(dataset: str, child: tuple[str, ...] = CHILD) -> dict[str, Any]:
    """The columns of a dataset by its first row; ``data.uploads.columns_of`` says of what parts.

    Raises:
        SettingsError: there is no such dataset, or its first row cannot be read.
    """
    return _answer({"dataset": dataset}, child)


def ask_upload(file: Path, child: tuple[str, ...] = CHILD) -> dict[str, Any]:
    """Whether a stranger's file can be read, and its columns, as ``data.uploads.look`` says.

    Raises:
        SettingsError: it cannot.
    """
    return _answer({"upload": str(file)}, child)


def _answer(
    request: dict[str, Any],
    child: tuple[str, ...],
    offline: bool = False,
    longest_s: float = _LONGEST_S,
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="fp4-preview-") as name:
        folder = Path(name)
        (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        _carry_out([sys.executable, *child, name], folder / "output.log", offline, longest_s)
        try:
            found = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise SettingsError(
                f"No answer that can be read came of the rows ({type(error).__name__}); try again."
            ) from None
    if "refused" in found:
        raise SettingsError(found["refused"])
    return found["answer"]


def _carry_out(command: list[str], output: Path, offline: bool, longest_s: float) -> None:
    # A GPU that trains must not be asked for memory by somebody who only looks.
    environment = child_environment() | {"CUDA_VISIBLE_DEVICES": ""}
    environment |= {"HF_HUB_OFFLINE": "1"} if offline else {}
    try:
        code = run_to_end(command, output, longest_s, environment)
    except TimeoutError:
        raise SettingsError(
            f"Reading the rows took more than {longest_s / 60:.0f} minutes and was ended; "
            "try it with fewer or shorter rows."
        ) from None
    if code < 0:
        raise SettingsError(
            f"Reading the rows was ended by {signal.Signals(-code).name}, which memory that runs "
            "out does; try it with fewer or shorter rows."
        )
    if code > 0:
        reason = last_line(output) or "it said nothing"
        raise SettingsError(
            f"Reading the rows ended with exit code {code} ({reason}); try other rows."
        )
