"""Sentences of reports, and of the section that offers them."""

from __future__ import annotations

from playground import language

HEADING = "A report to give away"
INTRO = (
    "One HTML file that opens from disk without a network, or the figures alone. It names no "
    "folder, no token, neither you nor this machine, and holds no row of the data."
)
INTRO_ROWS = (
    "One HTML file that opens from disk without a network, or the figures alone. It names no "
    "folder, no token, neither you nor this machine. It holds held-out rows of the data."
)
WITH_ROWS = "With the held-out rows and what was answered"
FORMATS = {"html": "Report (HTML)", "json": "JSON", "csv": "CSV"}
ROWS_FOR_OWNERS = "Log in first: rows of the data go only to who may change things here."
BUSY = "Others are asking for reports as well; try again in a minute."
UNKNOWN = "There is no such report."
NO_ROOM = "The disk of this machine has no room for the report; make some, and ask again."

TITLE = "{title}: a comparison by FP4 Playground"
MADE_BY = "FP4 Playground"
SETTINGS_LINE = "{model}, {dataset}, {steps} steps of each"
PRESET = "preset {preset}"
RAN_ON = "on {device}, {how}"
HELD_AT = "Started {time}"
STILL_RUNNING = "It was still running when this was written."
HOW = "How each ran"
CHARTS = "Loss, throughput and memory"
CHARTS_THINNED = "Of a long run {count} steps at most are drawn; JSON and CSV reports have all."
NO_SCRIPT = "The charts are drawn by a script in this file; this browser runs none."
DETAILS = "All figures, and the proof of fairness"
MEMORY = "Memory, predicted and measured"
ROUNDING = "Rounding errors"
COVERAGE = "What was converted, and what was left as it was"
COMMAND = "The same again"
COMMAND_INFO = "Run it from the project's folder."
BROUGHT = "Put what whoever made this brought along into that folder first: {names}."
SETTINGS = "Settings"
ENVIRONMENT = "Device and environment"
NOT_SET = "none"
MESSAGES = "What the runs said"
ROWS = "Held-out rows with their answers"
NO_ROWS = "No held-out row was answered in full."

language.words(__name__)
