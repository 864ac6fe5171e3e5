"""What a preview says, in the words that the page and the terminal share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

FATES = {
    "training": "to train on",
    "held out": "held out for the evaluation",
    "no answer": "left out, it holds nothing to learn",
    "a copy": "left out, it says the same as another row",
    "not needed": "not needed by this run",
    "too long": "dropped, it is longer than the limit",
    "nothing to learn": "dropped, nothing to learn is left within the limit",
}

_TEMPLATES = {
    "own": "written in the model's own chat template",
    "plain": "written as User: ... Assistant: ..., for the model has no chat template",
    "none": "written without a chat template",
}

# The control pictures of Unicode; a terminal would obey the characters themselves.
_CONTROLS = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"}
_SHOWN = str.maketrans(_CONTROLS | {0x7F: "␡"} | {code: "�" for code in range(0x80, 0xA0)})


def printable(text: str) -> str:
    """Text of which nothing is obeyed: no escape sequence, and no half character."""
    return text.translate(_SHOWN).encode("utf-8", "replace").decode("utf-8")


def cells_of(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Columns and cells of a row, as read."""
    for name, value in row["cells"].items():
        yield printable(name), printable(value)


def format_sentence(found: Mapping[str, Any]) -> str:
    """How the rows were recognised, and from which columns; the notes name those not used."""
    columns = ", ".join(
        f"{part} from “{name}”" for part, name in found["format"]["columns"].items()
    )
    said = f"Recognised as {found['format']['name']}: {columns}. "
    return printable(f"{said}Rows are {_TEMPLATES[found['template']]}.")


def row_sentence(row: Mapping[str, Any]) -> str:
    """How many tokens a row has, and what becomes of them."""
    of = ", ".join(f"{count:,} {state}" for state, count in row["states"].items() if count)
    left = row["length"] - len(row["tokens"])
    shown = f"; the first {len(row['tokens']):,} are shown" if left else ""
    return f"{row['length']:,} tokens: {of}{shown}"


def counts(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and figures, those left out at 0 that most files never have."""
    rows, epoch, batch = found["counts"], found["epoch"], found["longest_batch"]
    dropped = [
        ("dropped: no answer", rows["no_answer"]),
        ("dropped: copies of other rows", rows["duplicates"]),
        ("dropped: longer than the limit", rows["too_long"]),
        ("dropped: nothing to learn within the limit", rows["nothing_to_learn"]),
        ("not needed by this run", rows["unused"]),
    ]
    return [
        ("rows read", f"{rows['read']:,}"),
        *((name, f"{count:,}") for name, count in dropped if count),
        ("kept", f"{rows['kept']:,}"),
        ("of these cut to the limit", f"{rows['cut']:,}"),
        ("of these to train on", f"{rows['train']:,}"),
        ("of these held out", f"{rows['eval']:,}"),
        ("tokens in one pass", f"{epoch['tokens']:,}"),
        ("of these learned", f"{epoch['learned_tokens']:,}"),
        ("steps in one pass", f"{epoch['steps']:,}"),
        ("steps of the run", f"{epoch['run_steps']:,}"),
        ("longest batch", f"{batch['rows']:,} × {batch['tokens']:,} tokens"),
    ]


def sentences(found: Mapping[str, Any]) -> list[str]:
    """What a person should know beside the figures."""
    lengths = found["lengths"]
    said = [
        f"Rows have {lengths['median']:,g} tokens in the middle and {lengths['longest']:,} at "
        f"most; the limit is {lengths['limit']:,}."
    ]
    if not found["complete"]:
        said.append(
            "The run reads more rows than were looked at here, so the counts are of the first ones."
        )
    return said + [printable(note) for note in found["notes"]]
