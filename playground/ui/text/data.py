"""The sentences about a dataset on the form: uploading one, and what its columns mean."""

from __future__ import annotations

from playground import language

UPLOAD = "Upload a file"
UPLOAD_INFO = (
    "JSONL, JSON, CSV, TSV, Parquet or text, also packed as .gz or .zst; {most} MiB at most."
)
UPLOAD_WAITING = "Checking “{name}”…"
UPLOADED = "“{name}” was kept on this machine and is the dataset now."
UPLOAD_CHOICE = "{name} (uploaded)"
NOT_ARRIVED = "The file did not arrive whole; choose it again."

COLUMNS = "Columns"
COLUMNS_RECOGNISED = "Columns, as recognised: {mapping}"
COLUMNS_BY_HAND = "Columns, as you said: {mapping}"
COLUMNS_UNKNOWN = "Columns: say what they mean"
COLUMNS_OF_PART = "{part} from {column}"
COLUMNS_AND = ", "
COLUMNS_UNREAD = "Columns: not known"
NOT_FOR_VISITORS = (
    "Datasets that are not in the list are shown to those who have logged in; log in, or pick one "
    "of the list."
)
COLUMN_NAME = "Column"
COLUMN_EXAMPLE = "In the first row"
COLUMN_EMPTY = "(empty)"
NO_COLUMN = "–"
AS_RECOGNISED = "As recognised"
MORE_COLUMNS = "and {count} more columns"
PARTS = {
    "prompt": ("Prompt", "What is asked"),
    "input": ("Context", "Follows the prompt"),
    "answer": ("Answer", "What is learned"),
    "system": ("System", "Stands before the prompt"),
    "text": ("Text", "Learned whole"),
    "messages": ("Messages", "A list of turns"),
}
PART_WORDS = {
    "prompt": "prompt",
    "input": "context",
    "answer": "answer",
    "system": "system",
    "text": "text",
    "messages": "messages",
}
KINDS = {
    "text": "text",
    "number": "a number",
    "list": "a list",
    "object": "an object",
    "nothing": "nothing",
}
NOT_RECOGNISED = (
    "None of the usual names is among these columns; choose the text, the messages, or the prompt "
    "and its answer."
)
INCOMPLETE = (
    "A row is text alone, or messages alone, or a prompt and its answer; {missing} to make it one."
)
CHOOSE_ALSO = "choose the {part} as well"
TAKE_AWAY = "take the {part} away"
TWICE = "The {first} and the {second} both come from “{column}”; choose another column for one."
NOT_TURNS = (
    "“{column}” holds {kind} in the first row, and messages are a list of turns; "
    "choose another column."
)
NOT_TEXT = (
    "“{column}” holds {kind} in the first row, and the {part} is text; choose another column."
)
NOT_THERE = (
    "The setting Columns takes the {part} from “{column}”, and there is no such column here."
)

language.words(__name__)
