"""What a preview says, in the words that the page and the terminal share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playground.data.few import few_held_out
from playground.preview import sentences as say

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
    columns = say.COMMA.join(
        say.COLUMN.format(part=part, column=name)
        for part, name in found["format"]["columns"].items()
    )
    template = say.TEMPLATES[found["template"]]
    name = found["format"]["name"]
    return printable(say.RECOGNISED.format(name=name, columns=columns, template=template))


def row_sentence(row: Mapping[str, Any]) -> str:
    """How many tokens a row has, and what becomes of them."""
    states = say.COMMA.join(
        say.STATE.format(count=count, state=say.STATES[state])
        for state, count in row["states"].items()
        if count
    )
    shown = len(row["tokens"])
    first = say.FIRST_SHOWN.format(count=shown) if row["length"] > shown else ""
    return say.ROW.format(count=row["length"], states=states, shown=first)


def counts(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and figures, those left out at 0 that most files never have."""
    rows, epoch, batch = found["counts"], found["epoch"], found["longest_batch"]
    dropped = ("no_answer", "duplicates", "too_long", "nothing_to_learn", "unused")
    figures = {
        "read": rows["read"],
        **{name: rows[name] for name in dropped if rows[name]},
        **{name: rows[name] for name in ("kept", "cut", "train", "eval")},
        "tokens": epoch["tokens"],
        "learned": epoch["learned_tokens"],
        "steps": epoch["steps"],
        "run_steps": epoch["run_steps"],
    }
    longest = say.BATCH.format(rows=batch["rows"], tokens=batch["tokens"])
    said = [(say.COUNTS[name], f"{count:,}") for name, count in figures.items()]
    return [*said, (say.COUNTS["longest"], longest)]


def sentences(found: Mapping[str, Any]) -> list[str]:
    """What a person should know beside the figures."""
    lengths = found["lengths"]
    said = [say.LENGTHS.format(**{name: lengths[name] for name in ("median", "longest", "limit")})]
    if not found["complete"]:
        said.append(say.MORE)
    elif few := few_held_out(found["counts"]["eval"]):
        said.append(few)
    return said + [printable(note) for note in found["notes"]]
