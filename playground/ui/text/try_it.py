"""Sentences of Try it."""

from __future__ import annotations

from playground import language

TAB = "Try it"
HEADING = "Ask them all the same"
INTRO = (
    "The untuned base and each tuned adapter answer your question, side by side. A process of its "
    "own holds the models; it ends after {minutes} minutes without a question, and at once when a "
    "run starts."
)
NOTHING_YET = (
    "No comparison has finished yet, so there is nobody to ask. Start one on Compare; once a run "
    "of it has finished, its adapter answers here."
)
LINK = "Try it"

GROUP = "Comparison"
GROUP_INFO = "Those with a finished run, the newest first"
BESIDE = "And the adapters of"
BESIDE_INFO = "Another comparison of the same model"
NOBODY = "no other"
GROUP_CHOICE = "{title} ({when})"
QUESTION = "Question"
QUESTION_INFO = (
    "Put to each in the template of its rows. Shift and Enter asks; empty asks the example"
)
QUESTION_INFO_ALONE = "Put to each in the template of its rows. Shift and Enter asks"
EXAMPLES = "Held-out questions, to pick from"
SAMPLING = "How the answer is chosen"
FIELDS = {
    "max_new_tokens": ("Longest answer", "Tokens; an answer may end sooner by itself"),
    "temperature": ("Temperature", "0 always takes the likeliest token"),
    "top_p": ("Top p", "Draw from the likeliest tokens that together have this probability"),
    "seed": ("Seed", "The same draws for everybody who answers"),
}
ASK = "Ask"
STOP = "Stop"
GO_ON = "Go on from these answers"
NEW = "New conversation"
FREE = "Free the memory"
FREED = "The models are let go of, and their memory is free."
NOTHING_HELD = "No model was in memory."

ANSWERS = "Answers"
EARLIER = "The conversation so far"
EARLIER_INTRO = "Sent along with the next question; each reads its own answers."
YOU = "You:"
SYSTEM = "System:"
ALL_SAID = "All:"
UNTUNED = "{label}, untuned"
TUNED = "{label}, tuned"
TUNED_IN = "{label}, tuned in “{title}”"
WAITING = "waits for its turn"
DOING = {"loading": "loading the model…", "answering": "answering…"}
TOKENS = "{count} tokens"
ONE_TOKEN = "1 token"
ENDED = {
    "by itself": "ended by itself",
    "at its limit": "cut at the longest answer",
    "stopped": "stopped",
}
TIMED = "{tokens} in {seconds} s"
SAID_NOTHING = "(nothing)"

ROWS_HEADING = "Held-out rows, before and after"
ROWS_INTRO = (
    "Written greedily by each run itself, before its first step and after its last. Right means "
    "right to the letter, white space around it aside."
)
NO_ROWS = (
    "No answers were kept: this comparison was not asked for any. Set “{setting}” above 0, under "
    "Advanced settings on Compare, and each run answers so many held-out rows before and after."
)
NO_QUESTIONS = (
    "No answers were kept: the rows of this dataset are text that asks nothing, or the runs are "
    "from before answers were kept."
)
SCORE = "{label}: {before} of {count} right before, {after} after."
SCORE_AFTER = "{label}: {after} of {count} right after."
SHOW = "Show"
FILTERS = {"all": "All rows", "wrong": "Wrong after training", "differ": "Where precisions differ"}
NONE_SUCH = "There is no such row."
OTHER_ROWS = "The other {count} rows"
FIRST_SHOWN = "The first {shown} of {count} are shown."
WHO = "Precision"
BEFORE = "Before"
AFTER = "After"
SHOULD_SAY = "should say"
RIGHT = "right"
WRONG = "wrong"
NOT_ASKED = "not asked"
LEGEND = "In a wrong answer, {more} is too much and {less} is missing."
LEGEND_MORE = "this"
LEGEND_LESS = "this"

language.words(__name__)
