"""The sentences of a preview. English in the terminal; the page says its visitor's."""

from __future__ import annotations

from playground import language

FATES = {
    "training": "to train on",
    "held out": "held out for the evaluation",
    "no answer": "left out, it holds nothing to learn",
    "a tool call": "left out, a reply in it only calls a tool and says nothing",
    "a copy": "left out, it says the same as another row",
    "not needed": "not needed by this run",
    "too long": "dropped, it is longer than the limit",
    "nothing to learn": "dropped, nothing to learn is left within the limit",
}
TEMPLATES = {
    "own": "Rows are written in the model's own chat template.",
    "plain": "Rows are written as User: ... Assistant: ..., for the model has no chat template.",
    "none": "Rows are written without a chat template.",
}
STATES = {"learned": "learned", "not learned": "not learned", "cut": "cut"}
RECOGNISED = "Recognised as {name}: {columns}. {template}"
COLUMN = "{part} from “{column}”"
COMMA = ", "
ROW = "{count:,} tokens: {states}{shown}"
STATE = "{count:,} {state}"
FIRST_SHOWN = "; the first {count:,} are shown"
COUNTS = {
    "read": "rows read",
    "no_answer": "dropped: no answer",
    "duplicates": "dropped: copies of other rows",
    "too_long": "dropped: longer than the limit",
    "nothing_to_learn": "dropped: nothing to learn within the limit",
    "unused": "not needed by this run",
    "kept": "kept",
    "cut": "of these cut to the limit",
    "train": "of these to train on",
    "eval": "of these held out",
    "tokens": "tokens in one pass",
    "learned": "of these learned",
    "steps": "steps in one pass",
    "run_steps": "steps of the run",
    "longest": "longest batch",
}
BATCH = "{rows:,} × {tokens:,} tokens"
LENGTHS = (
    "Rows have {median:,g} tokens in the middle and {longest:,} at most; the limit is {limit:,}."
)
MORE = "The run reads more rows than were looked at here, so the counts are of the first ones."

language.words(__name__)
