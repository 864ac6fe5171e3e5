"""The text that the tiny model is pretrained on: short chats, written by a seeded generator.

It teaches the skills (copying, finding a person's particulars in a sentence, months and numbers,
moving a decimal point, small structured outputs), never the shapes that the bundled datasets ask
for: no object with their keys, no ISO date, none of their instructions. Those are left for LoRA.
"""
# ruff: noqa: SIM905 - a list of words reads best as a line of text.

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random

from playground.assets import words

Turn = tuple[str, str]  # what the user says, what the assistant answers
Chat = list[dict[str, str]]

SYSTEM_PROMPTS = (
    "Answer briefly.",
    "You are a careful assistant.",
    "You are a helpful assistant.",
)


# --- particulars of a person ------------------------------------------------------------------


def _person(rng: Random) -> tuple[str, dict[str, str]]:
    """A sentence about someone, and what it says by field."""
    name, city = words.full_name(rng), rng.choice(words.CITIES)
    if rng.random() < 0.25:
        name = f"{words.invented(rng).title()} {words.invented(rng).title()}"
    if rng.random() < 0.15:
        city = words.invented(rng).title()
    job, age = rng.choice(words.JOBS), str(rng.randint(1, 99))
    a_job, colour, thing = words.article(job), rng.choice(words.COLOURS), rng.choice(words.OBJECTS)
    full = {"name": name, "age": age, "job": job, "city": city}
    sentence, keys = rng.choice(
        (
            (f"{name} is {age} and lives in {city}.", "name age city"),
            (f"{name} is {a_job} in {city}.", "name job city"),
            (f"{name} ({age}) is {a_job} from {city}.", "name age job city"),
            (f"{name}, {age}, {a_job}, lives in {city}.", "name age job city"),
            (f"From {city} comes {name}, {a_job}, {age} years old.", "name age job city"),
            (f"{name} of {city} is {age} and works as {a_job}.", "name age job city"),
            (f"Meet {name}: {job}, {age}, {city}.", "name age job city"),
            (f"In {city} lives {a_job} named {name}, aged {age}.", "name age job city"),
            (f"At the age of {age}, {name} moved to {city} as {a_job}.", "name age job city"),
            (f"The {job} is called {name} and is {age}; home is {city}.", "name age job city"),
            (f"{age} is the age of {name}, {a_job} in {city}.", "name age job city"),
            (f"{a_job.capitalize()} from {city}, {age}: {name}.", "name age job city"),
            (f"{name} of {city} has a {colour} {thing}.", "name city thing colour"),
            (f"The {colour} {thing} belongs to {name}, {age}.", "name age thing colour"),
        )
    )
    full |= {"thing": thing, "colour": colour}
    return sentence, {key: full[key] for key in keys.split()}


_QUESTIONS = {
    "name": ("Who is it?", "Name?", "What is the name?"),
    "age": ("How old?", "Age?", "What age?"),
    "job": ("What job?", "Job?", "What is the work?"),
    "city": ("Where?", "City?", "Which city?"),
    "thing": ("What thing?", "Which object?"),
    "colour": ("What colour?", "Colour?"),
}


def particular(rng: Random) -> Turn:
    """One field of a sentence."""
    sentence, fields = _person(rng)
    key = rng.choice(list(fields))
    question = rng.choice(_QUESTIONS[key])
    ask = f"{sentence} {question}" if rng.random() < 0.5 else f"{question} {sentence}"
    return ask, fields[key]


def particulars(rng: Random) -> Turn:
    """Several fields in the order asked for, in one of a few plain shapes."""
    sentence, fields = _person(rng)
    keys = rng.sample(list(fields), rng.randint(2, len(fields)))
    shape, join, pair = rng.choice(
        (
            ("lines", "\n", "{key}: {value}"),
            ("pairs", "; ", "{key}={value}"),
            ("tags", " ", "<{key}>{value}</{key}>"),
            ("table", " | ", "{value}"),
            ("list", ", ", "{value}"),
            ("brackets", " ", "{key}[{value}]"),
        )
    )
    answer = join.join(pair.format(key=key, value=fields[key]) for key in keys)
    return f"As {shape}, {', '.join(keys)}: {sentence}", answer


def sentence_of(rng: Random) -> Turn:
    """The way back: fields to a sentence."""
    name, city, age = words.full_name(rng), rng.choice(words.CITIES), rng.randint(1, 99)
    pairs = [f"name={name}", f"city={city}", f"age={age}"]
    rng.shuffle(pairs)
    return f"Say it: {'; '.join(pairs)}", f"{name} is {age} and lives in {city}."


# --- copying and letters ----------------------------------------------------------------------


def _something(rng: Random) -> str:
    kind = rng.randrange(6)
    if kind == 0:
        return words.full_name(rng)
    if kind == 1:
        return str(rng.randint(0, 10 ** rng.randint(1, 6)))
    if kind == 2:
        return " ".join(words.invented(rng) for _ in range(rng.randint(1, 4)))
    if kind == 3:
        return ", ".join(rng.sample(words.OBJECTS, rng.randint(2, 4)))
    if kind == 4:
        return " ".join(str(rng.randint(0, 99)) for _ in range(rng.randint(2, 5)))
    return f"{rng.choice(words.COLOURS)} {rng.choice(words.OBJECTS)} in {rng.choice(words.CITIES)}"


def copying(rng: Random) -> Turn:
    """The same again, plain, quoted, twice or in capitals."""
    text = _something(rng)
    how, answer = rng.choice(
        (
            ("Repeat", text),
            ("Quote", f'"{text}"'),
            ("In brackets", f"[{text}]"),
            ("Twice", f"{text} {text}"),
            ("In capitals", text.upper()),
        )
    )
    return f"{how}: {text}", answer


def picking(rng: Random) -> Turn:
    """The first, last or next item of a list; or the list turned round."""
    kind = rng.randrange(3)
    count = rng.randint(3, 6)
    if kind == 0:
        items = list(dict.fromkeys(words.invented(rng) for _ in range(count)))
    else:
        items = rng.sample((words.CITIES, words.OBJECTS)[kind - 1], count)
    which = rng.randrange(len(items) - 1) if len(items) > 1 else -1
    how, answer = rng.choice(
        (
            ("First", items[0]),
            ("Last", items[-1]),
            (f"After {items[which]}", items[which + 1]),
            ("Turned round", ", ".join(reversed(items))),
        )
    )
    return f"{how}: {', '.join(items)}", answer


def spelling(rng: Random) -> Turn:
    """A word letter by letter, and back."""
    word = rng.choice(
        (rng.choice(words.FIRST_NAMES), words.invented(rng), rng.choice(words.CITIES))
    )
    letters = "-".join(word)
    return (f"Spell: {word}", letters) if rng.random() < 0.6 else (f"Join: {letters}", word)


# --- numbers, months, units -------------------------------------------------------------------

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def in_words(number: int) -> str:
    """0..99 in English."""
    if number < 20:
        return _SMALL[number]
    ten, one = divmod(number, 10)
    return _TENS[ten - 2] + (f"-{_SMALL[one]}" if one else "")


def numbers(rng: Random) -> Turn:
    """Counting on, padding, ordering, numerals and words."""
    number = rng.randint(0, 99)
    some = rng.sample(range(100), rng.randint(2, 4))
    month = rng.randint(1, 12)
    return rng.choice(
        (
            (f"In words: {number}", in_words(number)),
            (f"In digits: {in_words(number)}", str(number)),
            (f"One more than {number}", str(number + 1)),
            (f"Largest: {' '.join(map(str, some))}", str(max(some))),
            (f"Two digits: {month}", f"{month:02}"),
            (f"Three digits: {number}", f"{number:03}"),
            (f"Without zeros in front: {number:03}", str(number)),
            (f"Digits of {number * 37}", " ".join(str(number * 37))),
            (f"Ordinal of {month}", words.ordinal(month)),
            (f"Number of {words.ordinal(number)}", str(number)),
        )
    )


def shifting(rng: Random) -> Turn:
    """Times or divided by ten, a hundred, a thousand: moving the point."""
    zeros = rng.randint(1, 3)
    whole, tenth = rng.randint(1, 10 ** rng.randint(1, 3)), rng.randint(0, 9)
    value = f"{whole}.{tenth}" if tenth and rng.random() < 0.7 else str(whole)
    tenths = whole * 10 + (tenth if "." in value else 0)
    if rng.random() < 0.75:
        return f"{value} times {10**zeros}", str(tenths * 10**zeros // 10)
    return f"{whole * 10**zeros} divided by {10**zeros}", str(whole)


_PREFIXES = (
    ("kilometre", "km", "1000 m"), ("metre", "m", "100 cm"), ("centimetre", "cm", "10 mm"),
    ("kilogram", "kg", "1000 g"), ("tonne", "t", "1000 kg"), ("litre", "l", "1000 ml"),
    ("hectolitre", "hl", "100 l"), ("week", "weeks", "7 days"), ("hour", "hours", "60 minutes"),
    ("day", "days", "24 hours"),
)  # fmt: skip


def units(rng: Random) -> Turn:
    """What a unit is called and made of; times tables of the odd ones."""
    long, short, parts = rng.choice(_PREFIXES)
    odd, factor = rng.choice((("weeks", 7), ("hours", 60), ("days", 24)))
    count = rng.randint(1, 12)
    return rng.choice(
        (
            (f"One {long} is", parts),
            (f"Short for {long}", short),
            (f"Which unit holds {parts}?", long),
            (f"{count} times {factor} ({odd})", str(count * factor)),
        )
    )


def months(rng: Random) -> Turn:
    """Names, numbers and order of the months, long and short."""
    index = rng.randrange(12)
    name, number = words.MONTHS[index], index + 1
    return rng.choice(
        (
            (f"Number of {name}", str(number)),
            (f"Number of {name[:3]}", str(number)),
            (f"Number of {name}, two digits", f"{number:02}"),
            (f"Number of {name[:3]}, two digits", f"{number:02}"),
            (f"Month {number}", name),
            (f"Month {number:02}", name),
            (f"Short for {name}", name[:3]),
            (f"Month after {name}", words.MONTHS[(index + 1) % 12]),
        )
    )


def dates(rng: Random) -> Turn:
    """A date taken apart or written another way; never year-month-day."""
    year, index = rng.randint(1900, 2099), rng.randrange(12)
    name, month = words.MONTHS[index], index + 1
    day = rng.randint(1, words.MONTH_DAYS[index])
    written = rng.choice(
        (
            f"{day} {name} {year}",
            f"{name} {day}, {year}",
            f"{day} {name[:3]} {year}",
            f"the {words.ordinal(day)} of {name}, {year}",
            f"{day}.{month}.{year}",
            f"{day:02}.{month:02}.{year}",
            f"{name[:3]} {words.ordinal(day)} {year}",
        )
    )
    how, answer = rng.choice(
        (
            ("Day", str(day)),
            ("Month", name),
            ("Year", str(year)),
            ("Month number", f"{month:02}"),
            ("Parts", f"year {year}, month {month}, day {day}"),
            ("With dots", f"{day:02}.{month:02}.{year}"),
            ("With slashes", f"{day:02}/{month:02}/{year}"),
            ("Year first, in words", f"{year} {name} {day}"),
            ("In full", f"{day} {name} {year}"),
        )
    )
    return f"{how}: {written}", answer


# --- small structured outputs of other shapes -------------------------------------------------


def json_shapes(rng: Random) -> Turn:
    """Lists, counts, pairs and look-ups in JSON; no object about a person."""
    things = rng.sample(words.OBJECTS, rng.randint(2, 4))
    counts = {thing: rng.randint(0, 99) for thing in things}
    colours = {thing: rng.choice(words.COLOURS) for thing in things}
    thing, numbers = rng.choice(things), list(counts.values())
    places = rng.sample(words.CITIES, 2)
    return rng.choice(
        (
            (f"JSON list: {', '.join(things)}", json.dumps(things)),
            (
                f"JSON list: {' '.join(map(str, numbers))}",
                json.dumps(numbers),
            ),
            (
                f"JSON counts: {', '.join(f'{n} {t}' for t, n in counts.items())}",
                json.dumps(counts),
            ),
            (
                f"JSON colours: {', '.join(f'{t} is {c}' for t, c in colours.items())}",
                json.dumps(colours),
            ),
            (f"Value of {thing}: {json.dumps(counts)}", str(counts[thing])),
            (f"Keys: {json.dumps(colours)}", ", ".join(colours)),
            (
                f"JSON trip: {places[0]} to {places[1]}",
                json.dumps({"from": places[0], "to": places[1]}),
            ),
        )
    )


TASKS: dict[Callable[[Random], Turn], int] = {
    particular: 4,
    particulars: 8,
    sentence_of: 1,
    copying: 4,
    picking: 2,
    spelling: 1,
    numbers: 2,
    shifting: 3,
    units: 1,
    months: 1,
    dates: 5,
    json_shapes: 5,
}
"""Every kind of turn and how often it comes, relative to the others."""


def chats(seed: int) -> Iterator[Chat]:
    """Endless chats of one to three turns, some with a system prompt. Same seed, same chats."""
    rng = Random(f"corpus {seed}")
    tasks, weights = list(TASKS), list(TASKS.values())
    while True:
        chat: Chat = []
        if rng.random() < 0.1:
            chat.append({"role": "system", "content": rng.choice(SYSTEM_PROMPTS)})
        for task in rng.choices(tasks, weights, k=rng.choice((1, 1, 1, 2, 3))):
            question, answer = task(rng)
            chat.append({"role": "user", "content": question})
            chat.append({"role": "assistant", "content": answer})
        yield chat
