"""Try it, without a browser: what is shown is text, whoever wrote it."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

from playground.generate import Column, Conversation, Exchange, columns_of
from playground.store import RunStore
from playground.ui import held_out, try_it
from playground.ui.answers import answers, earlier, exchange_of, named
from playground.ui.text import try_it as text
from tests.generate.finished import finished_group

EVIL = '<script>alert(1)</script> **bold** <img src=x onerror="alert(2)">'


def test_what_a_model_writes_is_text() -> None:
    drawn = answers([Column("r-1", True, "fp16", "emulated", text=EVIL, tokens=9)])
    assert escape(EVIL) in drawn and "<script" not in drawn and "<img" not in drawn


def test_what_a_row_says_is_text_in_every_place(store: RunStore) -> None:
    group = finished_group(store, answers=[(EVIL, EVIL), ("a", EVIL)])
    drawn = held_out.table(held_out.arms_of(store, group))
    assert "<script" not in drawn and "<img" not in drawn and "<i>no idea" not in drawn
    assert drawn.count(escape("<script>")) >= 2 and escape("<i>no idea</i>") in drawn


def test_a_column_says_who_it_is_and_how_it_ended() -> None:
    waiting = Column("r-1", False, "fp16", "emulated")
    cut = Column(
        "r-1", True, "nvfp4", "native", text="x", tokens=1, ended="at its limit", seconds=2.0
    )
    drawn = answers([waiting, cut])
    assert "FP16, untuned" in drawn and text.WAITING in drawn
    assert "NVFP4, tuned" in drawn and "1 token in 2.0 s, cut at the longest answer" in drawn
    assert 'aria-busy="true"' in drawn and 'aria-busy="false"' in answers([cut])


def test_an_emulated_answer_makes_no_claim_about_speed() -> None:
    column = Column(
        "r", True, "nvfp4", "emulated", text="x", tokens=7, ended="by itself", seconds=2.0
    )
    assert "7 tokens, ended by itself" in answers([column])


def test_before_and_after_are_marked_and_counted(store: RunStore) -> None:
    arms = held_out.arms_of(store, finished_group(store))
    drawn = held_out.table(arms)
    assert "FP16: 0 of 3 right before, 2 after. NVFP4: 0 of 3 right before, 1 after." in drawn
    assert drawn.count("✓") == 3 and drawn.count("✗") == 9


def test_rows_can_be_narrowed_down(store: RunStore) -> None:
    arms = held_out.arms_of(store, finished_group(store))

    def rows(which: str) -> int:
        return held_out.table(arms, which).count("<tbody>")

    assert {which: rows(which) for which in text.FILTERS} == {"all": 3, "wrong": 2, "differ": 1}


def test_what_differs_in_a_nearly_right_answer_is_marked(store: RunStore) -> None:
    arms = held_out.arms_of(store, finished_group(store, answers=[("q", "on 3 May 2086")]))
    drawn = held_out.table(arms)
    assert "on 3 May <del>[2086]</del><ins>20860</ins>" in drawn


def test_without_answers_the_page_says_how_to_get_them(store: RunStore) -> None:
    group = finished_group(store, answers=())
    arms = held_out.arms_of(store, group)
    assert "Rows answered in full" in held_out.table(arms)
    assert "text that asks nothing" in held_out.table(arms, asked=32)


TURNS = "system: be brief\n\nuser: 1?\n\nassistant: 1\n\nuser: 2?"


def test_a_row_of_several_turns_is_asked_again_as_the_conversation_it_is(store: RunStore) -> None:
    tool = "user: 1?\n\ntool: 1\n\nuser: 2?"
    rows = [(TURNS, "2"), (tool, "2"), ("user: a word", "x"), ("3?", "3")]
    arms = held_out.arms_of(store, finished_group(store, answers=rows))
    assert held_out.questions(arms) == [TURNS, "user: a word", "3?"]
    said, question = held_out.asked_again(TURNS, 3)
    assert (said.system, question) == ("be brief", "2?")
    assert said.exchanges == (Exchange("1?", ("1", "1", "1")),)
    assert held_out.asked_again("user: a word", 3) == (Conversation(), "user: a word")


def test_a_conversation_goes_on_only_where_everybody_has_answered() -> None:
    done = Column("r-1", True, "fp16", None, chat=True, text="x", tokens=1, ended="by itself")
    silent = replace(done, text="", tokens=0)
    assert exchange_of("q", [done, silent]) == Exchange("q", ("x", ""))
    never = replace(silent, ended="stopped")
    for other in (never, replace(done, ended=None, error="gone"), replace(done, chat=False)):
        assert exchange_of("q", [done, other]) is None


def test_what_was_said_before_is_drawn_with_who_said_it(store: RunStore) -> None:
    columns = columns_of(store, finished_group(store))
    said = Conversation(EVIL, (Exchange("1?", ("a", "b", EVIL)), Exchange("2?", ("c", "c", "c"))))
    drawn = earlier(said, columns)
    assert "<script" not in drawn and drawn.count("<article") == 3
    assert "FP16, untuned" in drawn and 'All:</b> <span dir="auto">c<' in drawn


def test_the_adapters_of_two_comparisons_are_told_apart(store: RunStore) -> None:
    other, group = finished_group(store, title="Sums"), finished_group(store, title="Mine")
    columns = columns_of(store, group, other)
    assert [named(column) for column in columns] == [
        "FP16, untuned",
        "FP16, tuned in “Mine”",
        "NVFP4, tuned in “Mine”",
        "FP16, tuned in “Sums”",
        "NVFP4, tuned in “Sums”",
    ]
    offered = shown(store, group.id)["beside"].choices
    assert [value for _, value in offered] == ["", other.id]


def test_what_is_wrong_is_told_with_the_label_of_its_field() -> None:
    assert try_it.labelled("top_p is '2'; it must").startswith("Top p is '2'")
    assert try_it.labelled("The seed is") == "The seed is"


def shown(store: RunStore, wanted: str | None) -> dict[str, Any]:
    names = try_it.Page.__dataclass_fields__
    return dict(zip(names, try_it.updates(store, wanted), strict=True))


def test_the_newest_comparison_unless_another_is_named(store: RunStore) -> None:
    assert text.NOTHING_YET in shown(store, None)["empty"].value
    old, new = finished_group(store, title="Old"), finished_group(store, title="New")
    assert shown(store, None)["group"].value == new.id
    assert shown(store, old.id)["group"].value == old.id
    assert shown(store, "g-unknown")["group"].value == new.id
    assert [prompt for (prompt,) in shown(store, None)["examples"].raw_samples] == [
        "1+1=",
        "<b>2</b>+2=",
        "3+3=",
    ]


def test_rows_beyond_the_first_are_in_a_fold_and_the_marks_are_told_before_them(
    store: RunStore,
) -> None:
    rows = [(f"q{place}", "a") for place in range(20)]
    drawn = held_out.table(held_out.arms_of(store, finished_group(store, answers=rows)))
    shown, folded = drawn.split("<details>")
    assert (shown.count("<tbody>"), folded.count("<tbody>")) == (16, 4)
    assert shown.index("held-out-legend") < shown.index("<table")
    assert "The other 4 rows" in folded
