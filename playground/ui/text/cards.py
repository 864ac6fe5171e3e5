"""Sentences of the presets' cards on Compare, and of saving one of your own."""

from __future__ import annotations

from playground import language

ANY_MACHINE = "On any machine"
FOR_A_GPU = "For a GPU"
NO_GPU = (
    "{reason} These models would take days on it, if they fit at all. Adjust one to look at its "
    "settings; its memory can be estimated for a GPU by name."
)
YOURS = "Yours"
YOURS_NONE = "None yet: the form below saves its settings as a preset."

START = "Start {name}"
ADJUST = "Adjust first"
DELETE = "Delete"
DELETE_ONE = "Delete the preset {name}"
RENAME = "Rename"
RENAME_ONE = "Rename the preset {name}"
RENAME_HEADING = "Another name for the preset “{name}”"
RENAMED = "The preset “{name}” is called “{new}” now."
EXPECT = "What to expect"
NO_WORDS = "Nothing is written about it yet: say what it is, and what to expect, in {file}."

FACTS = "About {title} on this machine"
TOOK = "Took {time} here on {date}"
TAKES = "Takes {words}"
FETCHED = "Fetches {size} from the Hugging Face hub first"
FETCHED_GATED = "Fetches {size} from the hub first, which asks to accept terms and log in"
FETCHED_ROWS = "Fetches its rows from the Hugging Face hub first"
ITS_MODEL = "its model"
OFFLINE = "Not here, and the hub may not be asked: HF_HUB_OFFLINE is set"
TIME_UNKNOWN = "How long it takes here is not known: it was not run yet"
HOW = {
    "native": "{labels}: native here",
    "weight-only": "{labels}: weight-only here",
    "emulated": "{labels}: emulated here",
}
HOW_IF = "{labels}: native here, once a self-test has passed"
FITS = {
    "fits": "Fits this machine",
    "tight": "Tight: it nearly fills this machine's memory",
    "does not fit": "Does not fit this machine’s memory",
    "unknown": "",
}
FITS_BUT = "{labels} {verdict}"
FITS_SHORT = {"fits": "fits", "tight": "is tight", "does not fit": "does not fit"}

# Saving one.
SAVE_HEADING = "Save as a preset of your own"
SAVE_NAME = "Its name"
SAVE_NAME_INFO = "Small letters, digits, hyphens"
SAVE = "Save as preset"
SAVED = "Saved as “{name}”. It is among the presets under Yours, and in a terminal: {command}"
REPLACE_HEADING = "Write over the preset “{name}”?"
REPLACE_SAID = "Its settings become those of the form; what you wrote about it stays."
REPLACE = "Write over it"
DELETE_HEADING = "Delete the preset “{name}”?"
DELETE_SAID = "Its file goes for good. Comparisons that were started from it stay."
DELETE_FOR_GOOD = "Delete for good"
KEEP = "Keep it"
DELETED = "The preset “{name}” is deleted."

# The form's steps.
STEP_MODEL = "1. Model"
STEP_DATA = "2. Data"
STEP_SETTINGS = "3. Precisions and settings"

language.words(__name__)
