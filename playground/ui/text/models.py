"""The sentences about a model on the form: choosing one, and what is known of it."""

from __future__ import annotations

from playground import language

# In the list: those on this machine first, then those that would be fetched.
CHOICE_HERE = "{name} · {size}, on this machine"
CHOICE_HUB = "{name} · {size} to fetch · {licence}"
CHOICE_GATED = "{name} · {size} to fetch · {licence}, gated"

HERE = "on this machine"
PLACES = {
    "bundled": "comes with this project",
    "package": "from an installed package",
    "folder": "a folder on this machine",
    "cache": "fetched before",
    "hub": "on the Hugging Face hub",
}
SEE_MODEL = "This model cannot be used; see Model."
TO_FETCH = "to be fetched"
GATED = "gated"

PARAMETERS = "Parameters"
SIZE = "Size"
LICENCE = "Licence"
LENGTH = "Reads at most"
TOKENS = "{count:,} tokens"
TEMPLATE = "Chat template"
OWN_TEMPLATE = "its own"
NO_TEMPLATE = "none: conversations are written plainly"
WHERE = "Where"

HOW_TO_LOG_IN = (
    "Its terms have to be accepted first: open {page}, accept them, and log in on this machine by "
    "{command} or set {variable}."
)
MAY_ASK = "Its page may ask for its terms to be accepted first."
PAGE = "its page on the hub"
UNKNOWN = "Not in the list: how large it is and whether it can be read shows when a run fetches it."
OFFLINE = "HF_HUB_OFFLINE is set, so it cannot be fetched; models on this machine can be used."
NOT_FOR_VISITORS = (
    "Models that are not in the list are shown to those who have logged in; log in, or pick one "
    "of the list."
)
NOT_FETCHED = (
    "This model is not on this machine yet, and nothing is fetched for visitors; whoever runs this "
    "page can fetch it by a run, or pick a model that is on this machine."
)

language.words(__name__)
