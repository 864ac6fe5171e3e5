"""Asking a finished comparison: the untuned base and each tuned adapter answer the same question.

A child process of its own holds the models (``__main__.py`` and ``answering.py``, the only parts
that import torch); the page's process talks to it through ``Chat``. What goes between them is JSON,
a line each:

    to the child, on its stdin
        {"ask": 3, "columns": [[RUN, false], ...], "earlier": [[{"role": ..., "content": ...}, ...],
         ...], "prompt": ..., "sampling": {...}, "answers": FILE}
        {"stop": 3}
    from the child, appended to FILE
        {"column": 0, "doing": "loading"}                    then "answering"
        {"column": 0, "text": all of the answer so far, "tokens": 17}
        {"column": 0, "ended": "by itself" | "at its limit" | "stopped", "seconds": 1.2}
        {"column": 0, "error": one sentence}                 in place of an answer
        {"done": true}                                       after the last column

The child ends by itself when nothing was asked for a while, and when its stdin closes, which the
system does for it however the server ends. A file and no pipe carries the answers, so that a page
that has gone away never holds the child up.
"""

from playground.generate.chat import Chat
from playground.generate.question import (
    Conversation,
    Exchange,
    Question,
    Sampling,
    parse_sampling,
)
from playground.generate.transcript import Column, Transcript, columns_of

__all__ = [
    "Chat",
    "Column",
    "Conversation",
    "Exchange",
    "Question",
    "Sampling",
    "Transcript",
    "columns_of",
    "parse_sampling",
]
