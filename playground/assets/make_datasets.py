"""Writes the bundled datasets: ``python -m playground.assets.make_datasets [FOLDER]``.

Three small tasks with one right answer each. Same seed, same bytes: standard library only, and
``random.Random`` draws the same on every machine and Python version that we support.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

from playground.assets import words

Row = dict[str, str]

FOLDER = Path(__file__).parent / "datasets"
TRAIN_ROWS, EVAL_ROWS = 3000, 500
SEED = 20_26


def sentence_to_json(rng: Random) -> Row:
    """Someone in a sentence -> an object with the keys name, age, job, city, in this order."""
    name, city, job = words.full_name(rng), rng.choice(words.CITIES), rng.choice(words.JOBS)
    age, a_job = rng.randint(18, 89), words.article(job)
    sentence = rng.choice(
        (
            f"{name} is {a_job} from {city}, aged {age}.",
            f"{name}, {age}, works as {a_job} in {city}.",
            f"At {age}, {name} is still {a_job} in {city}.",
            f"In {city} we met {name}, {a_job} of {age}.",
            f"Our {job} in {city} is {name}, who is {age}.",
            f"{city} is home to {name}, {age}, {a_job}.",
            f"The {job} {name} lives in {city} and is {age}.",
            f"{age} years old, {a_job}, living in {city}: {name}.",
        )
    )
    answer = {"name": name, "age": age, "job": job, "city": city}
    return {"prompt": f"Write as JSON: {sentence}", "completion": json.dumps(answer)}


def iso_date(rng: Random) -> Row:
    """A date in one of many spellings -> year-month-day, as ISO 8601 has it."""
    year, month = rng.randint(1900, 2099), rng.randint(1, 12)
    day = rng.randint(1, words.MONTH_DAYS[month - 1])
    long = words.MONTHS[month - 1]
    short = long[:3]
    spelling = rng.choice(
        (
            f"{day} {long} {year}",
            f"{long} {day}, {year}",
            f"{words.ordinal(day)} of {long} {year}",
            f"{long} the {words.ordinal(day)}, {year}",
            f"{day} {short} {year}",
            f"{short} {day}, {year}",
            f"{day}-{short}-{year}",
            f"{day}.{month}.{year}",
            f"{day:02}.{month:02}.{year}",
            f"{year}, {long} {day}",
            f"day {day} of month {month} in {year}",
        )
    )
    return {"prompt": f"ISO date: {spelling}", "completion": f"{year}-{month:02}-{day:02}"}


# From, to, factor, and the largest amount to ask about: factors that are not a power of ten
# stay within a small table, since a tiny model does not multiply.
_CONVERSIONS = (
    ("km", "m", 1000, 999),
    ("m", "cm", 100, 999),
    ("cm", "mm", 10, 999),
    ("kg", "g", 1000, 999),
    ("t", "kg", 1000, 999),
    ("l", "ml", 1000, 999),
    ("hl", "l", 100, 999),
    ("weeks", "days", 7, 12),
    ("hours", "minutes", 60, 12),
    ("days", "hours", 24, 10),
)


def unit_conversion(rng: Random) -> Row:
    """An amount and a smaller unit -> the amount in it, exact."""
    source, target, factor, largest = rng.choice(_CONVERSIONS)
    with_tenths = largest == 999 and rng.random() < 0.5
    tenths = rng.randint(1, largest * 10) if with_tenths else rng.randint(1, largest) * 10
    amount = f"{tenths // 10}.{tenths % 10}" if tenths % 10 else f"{tenths // 10}"
    question = rng.choice(
        (
            f"{amount} {source} in {target}",
            f"Convert {amount} {source} to {target}.",
            f"How many {target} are {amount} {source}?",
            f"{target} in {amount} {source}?",
        )
    )
    return {"prompt": question, "completion": f"{tenths * factor // 10} {target}"}


GENERATORS: dict[str, Callable[[Random], Row]] = {
    "sentences-to-json": sentence_to_json,
    "iso-dates": iso_date,
    "unit-conversion": unit_conversion,
}


def rows(dataset: str) -> tuple[list[Row], list[Row]]:
    """The train and held-out rows of a dataset; no prompt occurs twice in either or in both."""
    rng = Random(f"{SEED} {dataset}")
    drawn: dict[str, Row] = {}
    while len(drawn) < TRAIN_ROWS + EVAL_ROWS:
        row = GENERATORS[dataset](rng)
        drawn.setdefault(row["prompt"], row)
    everything = list(drawn.values())
    return everything[:TRAIN_ROWS], everything[TRAIN_ROWS:]


def to_jsonl(rows: list[Row]) -> bytes:
    """One JSON object a line, in UTF-8 with line feeds."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def write(folder: Path) -> None:
    """Writes ``<folder>/<dataset>/{train,eval}.jsonl`` for every dataset."""
    for dataset in GENERATORS:
        train, held_out = rows(dataset)
        (folder / dataset).mkdir(parents=True, exist_ok=True)
        (folder / dataset / "train.jsonl").write_bytes(to_jsonl(train))
        (folder / dataset / "eval.jsonl").write_bytes(to_jsonl(held_out))
        print(f"{dataset}: {len(train)} rows to train on, {len(held_out)} held out")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
