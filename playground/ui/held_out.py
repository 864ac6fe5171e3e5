"""Held-out rows with what each arm answered before and after, drawn as text and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape

from playground.config import PRECISIONS
from playground.events import Answer
from playground.generate import Conversation, Exchange, columns_of
from playground.store import Group, RunStore
from playground.ui.panels import swatch
from playground.ui.text import labels
from playground.ui.text import try_it as text

AT_ONCE = 16
"""Rows that are seen at first; the others are in a fold."""
MOST_ROWS = 64
_SPEAKER = re.compile(r"(?:\A|\n\n)(system|user|assistant|tool): ")
_PIECES = re.compile(r"\w+|\W")
_MOST_COMPARED = 1000
"""Pieces: comparing takes their square."""
_ALIKE = 0.5
"""Answers less alike than this are another answer, and marks would cover all of it."""


@dataclass(frozen=True)
class ArmAnswers:
    """What one arm wrote, by row; ``before`` may be empty while ``after`` is there."""

    precision: str
    before: dict[int, Answer]
    after: dict[int, Answer]

    @property
    def label(self) -> str:
        return PRECISIONS[self.precision].label


def arms_of(store: RunStore, group: Group) -> list[ArmAnswers]:
    """The arms that answer on this page, as far as they answered held-out rows themselves."""
    found = []
    for column in columns_of(store, group)[1:]:
        run = next(run for run in group.runs if run.id == column.run_id)
        before, after = (
            {answer.row: answer for answer in store.eval_answers(run.id, when)}
            for when in ("before", "after")
        )
        if after:
            found.append(ArmAnswers(run.precision, before, after))
    return found


def questions(arms: Sequence[ArmAnswers], most: int = 24) -> list[str]:
    """The rows' questions, each once, to be asked again with ``asked_again``."""
    asked = (answer.prompt for arm in arms[:1] for _, answer in sorted(arm.after.items()))
    once = dict.fromkeys(prompt for prompt in asked if prompt.strip())
    return [prompt for prompt in once if asked_again(prompt, 0)][:most]


def asked_again(prompt: str, columns: int) -> tuple[Conversation, str] | None:
    """A row's question and what was said before it; None where no such conversation can be held.

    Of several turns, each begins with who says it (``data.template.Layout.question``).

    Args:
        columns: how many are to answer; the row's earlier replies are put into the mouth of each.
    """
    first, *parts = _SPEAKER.split(prompt)
    roles, words = parts[::2], parts[1::2]
    if first or len(roles) < 2:
        return Conversation(), prompt
    system = words.pop(0) if roles[0] == "system" else ""
    turns = roles[bool(system) :]
    if turns != ["user", "assistant"] * (len(turns) // 2) + ["user"]:
        return None
    pairs = zip(words[:-1:2], words[1::2], strict=True)
    said = tuple(Exchange(question, (reply,) * columns) for question, reply in pairs)
    return Conversation(system, said), words[-1]


def table(arms: Sequence[ArmAnswers], which: str = "all", asked: int = 0) -> str:
    """The rows that ``which`` asks for (a key of ``text.FILTERS``), each with a line an arm.

    Args:
        asked: for how many the runs were to write answers.
    """
    if not arms:
        said = text.NO_QUESTIONS if asked else text.NO_ROWS
        said = said.format(setting=labels.LABELS["exact_match_rows"])
        return f'<p class="soft">{escape(said)}</p>'
    rows = [row for row in sorted(arms[0].after) if _is_asked_for(row, arms, which)]
    if not rows:
        return f'{_scores(arms)}<p class="soft">{escape(text.NONE_SUCH)}</p>'
    first = "".join(_row(row, arms) for row in rows[:AT_ONCE])
    others = _folded(rows[AT_ONCE:MOST_ROWS], arms)
    capped = ""
    if len(rows) > MOST_ROWS:
        said = text.FIRST_SHOWN.format(shown=MOST_ROWS, count=len(rows))
        capped = f'<p class="soft">{escape(said)}</p>'
    return (
        f'{_scores(arms)}{_legend()}<table class="held-out">'
        f"{_heads()}{first}</table>{others}{capped}"
    )


def _folded(rows: Sequence[int], arms: Sequence[ArmAnswers]) -> str:
    if not rows:
        return ""
    said = text.OTHER_ROWS.format(count=len(rows))
    body = "".join(_row(row, arms) for row in rows)
    return (
        f"<details><summary>{escape(said)}</summary>"
        f'<table class="held-out">{_heads()}{body}</table></details>'
    )


def _is_asked_for(row: int, arms: Sequence[ArmAnswers], which: str) -> bool:
    given = [arm.after[row] for arm in arms if row in arm.after]
    if which == "wrong":
        return not all(answer.right for answer in given)
    if which == "differ":
        return len({answer.answer.strip() for answer in given}) > 1
    return True


def _scores(arms: Sequence[ArmAnswers]) -> str:
    said = []
    for arm in arms:
        before, after = (sum(a.right for a in told.values()) for told in (arm.before, arm.after))
        sentence = text.SCORE if arm.before else text.SCORE_AFTER
        said.append(
            sentence.format(label=arm.label, before=before, after=after, count=len(arm.after))
        )
    return f'<p class="scores">{escape(" ".join(said))}</p>'


def _heads() -> str:
    names = (text.WHO, text.BEFORE, text.AFTER)
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f"<thead><tr>{heads}</tr></thead>"


def _row(row: int, arms: Sequence[ArmAnswers]) -> str:
    asked = arms[0].after[row]
    head = (
        f'<tr class="asked"><th scope="rowgroup" colspan="3"><bdi>{escape(asked.prompt)}</bdi>'
        f"<span>{text.SHOULD_SAY}</span> <bdi>{_words(asked.reference)}</bdi></th></tr>"
    )
    lines = "".join(
        f'<tr><th scope="row">{swatch(arm.precision)}{escape(arm.label)}</th>'
        f"<td>{_answer(arm.before.get(row))}</td><td>{_answer(arm.after.get(row))}</td></tr>"
        for arm in arms
    )
    return f"<tbody>{head}{lines}</tbody>"


def _answer(given: Answer | None) -> str:
    if given is None:
        return f'<i class="soft">{text.NOT_ASKED}</i>'
    sign, word = ("✓", text.RIGHT) if given.right else ("✗", text.WRONG)
    said = _words(given.answer) if given.right else "".join(_compared(given))
    # The word is for who cannot see the sign and its colour.
    mark = f'<b class="is-{"right" if given.right else "wrong"}" title="{word}">{sign}</b>'
    return f'{mark}<span class="unseen">{word}: </span><bdi>{said}</bdi>'


def _compared(given: Answer) -> Iterator[str]:
    """The answer, with what is too much and what is missing marked, where it is nearly right."""
    # By words, numbers and signs: half a number marked is harder to read than a whole one.
    wanted, written = (_PIECES.findall(s.strip()) for s in (given.reference, given.answer))
    pairs = SequenceMatcher(None, wanted, written, autojunk=False)
    short = max(len(wanted), len(written)) <= _MOST_COMPARED
    if not written or not short or pairs.ratio() < _ALIKE:
        yield _words(given.answer)
        return
    for kind, a, b, c, d in pairs.get_opcodes():
        if kind in ("delete", "replace"):
            yield f"<del>[{_joined(wanted[a:b])}]</del>"
        if kind in ("insert", "replace"):
            yield f"<ins>{_joined(written[c:d])}</ins>"
        if kind == "equal":
            yield _joined(written[c:d])


def _joined(pieces: Sequence[str]) -> str:
    return escape("".join(pieces))


def _words(said: str) -> str:
    return escape(said) if said.strip() else f'<i class="soft">{text.SAID_NOTHING}</i>'


def _legend() -> str:
    said = escape(text.LEGEND).format(
        more=f"<ins>{text.LEGEND_MORE}</ins>", less=f"<del>[{text.LEGEND_LESS}]</del>"
    )
    return f'<p class="soft held-out-legend">{said}</p>'
