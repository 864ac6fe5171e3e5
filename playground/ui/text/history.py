"""Sentences of the History page: the list, one comparison's name and end, and runs side by side."""

from __future__ import annotations

from playground import language

TAB = "History"
HEADING = "Earlier comparisons"
INTRO = (
    "Open one to see its charts and verdict again, tick two to eight runs to lay them over each "
    "other, or manage one: name, note, resume, run again, delete."
)
EMPTY = "Nothing here yet: what you start on Compare or in a terminal is kept and listed here."
NOTHING_LIKE_IT = "No comparison is like that; take a filter away."

# Filters.
FILTERS = "Filter the list"
WORDS = "Find"
WORDS_INFO = "In name, note, preset, model, data or id"
PRECISION = "With a run in"
STATUS = "With a run that is"
ANY = "any"
SINCE = "From"
UNTIL = "To"
DAY_INFO = "Day, as 2026-01-31"
BAD_DAY = "{field} is '{value}'; write a day as 2026-01-31, or leave it empty."

# The list.
COLUMNS = {
    "started": "Started",
    "title": "Comparison",
    "model": "Model, data and steps",
    "state": "Runs",
    "difference": "Held-out loss difference",
}
SORT_BY = "Sort by {column}"
MANAGE = "Manage"
MANAGE_ONE = "Manage {title}"
TICK = "Lay {run} of {title} over others"
RUNS_OF = "{label} × {count}"
DIFFERENCE = "{value} nats"
PAGE = "{first} to {last} of {total}"
NEWER = "Previous"
OLDER = "Next"
PAGES = "Pages of the list"

# Said by the browser while runs are ticked.
TICKED = {
    "none": "Tick two to eight runs to lay them over each other.",
    "one": "1 run ticked: tick one more.",
    "several": "{count} runs ticked.",
    "lay": "Lay them over each other",
    "clear": "Clear",
}

# One comparison.
CLOSE = "Close"
TITLE = "Name"
NOTE = "Note"
NOTE_INFO = "For yourself; it is searched too"
SAVE = "Save name and note"
SAVED = "Name and note of “{title}” are saved."
OPEN = "Open on Compare"
RESUME = "Resume"
RESUMED = "It goes on, or waits for its turn."
SHOW_IT = "Show it"
GONE = "Comparison “{group}” is not there any more; it was deleted."
AGAIN_HEADING = "Run again with one change"
AGAIN_SETTING = "Change"
AGAIN_VALUE = "To"
AGAIN_VALUE_INFO = "Now: {value}"
AGAIN = "Fill the form"
AGAIN_NOT_CHOSEN = "Change is empty; choose which setting is to be another."
AGAIN_SAME = "“{label}” is {value} already; give another value."
AGAIN_FILLED = (
    "The form holds the settings of “{title}”, with “{label}” {new} for {old}. Start it below."
)
NOTHING = "nothing"

# Deleting.
DELETE = "Delete…"
DELETE_HEADING = "Delete “{title}”?"
DELETE_GOES = (
    "{runs} with every step and figure, {adapters} and {size} MB on disk go for good. "
    "Nothing brings them back."
)
ONE_RUN = "1 run"
SEVERAL_RUNS = "{count} runs"
NO_ADAPTER = "no adapter"
ONE_ADAPTER = "1 adapter"
SEVERAL_ADAPTERS = "{count} adapters"
DELETE_FOR_GOOD = "Delete for good"
KEEP = "Keep it"
DELETED = "“{title}” is deleted."

# Runs side by side.
OVERLAY_HEADING = "{count} runs over each other"
OVERLAY_RUN = "{label}, seed {seed}"
OVERLAY_FEW = "The address names {count} runs; tick two to eight in the list."
OVERLAY_GONE = "Fewer than two of these runs are left, for {count} were deleted; tick others below."
OVERLAY_LEFT = "{count} more in the address were deleted and are left out."
NOT_CONTROLLED = (
    "No controlled comparison. These runs differ in {names}: what the curves show may come from "
    "any of these."
)
NOT_PROVED = "No controlled comparison, though the settings agree. {problem}"
ONLY_PRECISION = "They differ in the precision alone, so this is a controlled comparison."
ALIKE = "They have the same settings, so this shows how far repetitions lie apart."
SEED_TOO = "the seed"
DIFFERENCES = "What differs between them"
SETTINGS_DIFFER = "Settings"
ENVIRONMENT_DIFFERS = "What they ran in"
NO_DIFFERENCE = "No setting and nothing that was recorded about the machine."
NOT_RECORDED = "not recorded"

language.words(__name__)
