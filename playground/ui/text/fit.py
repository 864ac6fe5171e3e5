"""Sentences of the form's estimate of memory."""

from __future__ import annotations

from playground import language

DEVICE = "Memory on"
THIS_MACHINE = "this machine"
DEVICE_CHOICE = "{name}, {memory}"
ASK = "Will it fit?"
WAITING = "Estimating the memory of {model} in each precision…"
WAITED = "{time} so far"
LOG_IN = "Whoever is logged in can have the memory estimated."
ON = "{model} on {device}, {memory}; passes of {sequences} × {tokens} tokens {how}"
WITH_CHECKPOINTING = "with gradient checkpointing"
WITHOUT_CHECKPOINTING = "without gradient checkpointing"
FREE = "{memory} free"
MEMORY_UNKNOWN = "memory unknown"
PRECISION = "Precision"
PEAK = "Peak"
NEEDED = "In all"
VERDICT = "Verdict"
VERDICTS = {
    "fits": "fits",
    "tight": "tight",
    "does not fit": "does not fit",
    "unknown": "unknown",
}
PARTS_FOLD = "By part, in MiB"
PARTS = {
    "weights": "weights",
    "adapters": "adapters",
    "optimizer": "optimizer",
    "gradients": "gradients",
    "activations": "activations",
    "work": "logits and work",
}
ASSUMED = (
    "In all: the peak of the tensors, the work space of one operation and {overhead} for the "
    "process and its libraries. Tight is above {share} of the memory. A run tells it anew, by its "
    "own longest rows."
)
BY_CATALOG = "The model is not on this machine; the catalog says how it is built."
HEALS = "{label} heals, so it is counted in {other}."
WEIGHTS = "Weights alone, on a GPU: {each}."
AND = ", "
WEIGHTS_IN = "{size} in {label}"
GIB = "{size} GiB"
MIB = "{size} MiB"

language.words(__name__)
