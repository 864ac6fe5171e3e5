"""Sentences in the language of who asks, and marks for them while nobody has asked yet."""

from __future__ import annotations

import copy
import json
import pickle
from html import escape

import pytest

from playground import language
from playground.ui import text


def test_nobody_who_asks_is_spoken_to_in_english() -> None:
    assert language.spoken() == "en"
    assert text.START == "Start comparison"


def test_within_a_language_constants_are_in_it_and_afterwards_no_more() -> None:
    with language.speaking("zh-TW"):
        assert text.START == "開始比較"
        assert text.STATUS_WORDS["queued"] == "等待中"
        assert text.PANELS["loss"][0] == "損失"
        with language.speaking("en"):
            assert text.START == "Start comparison"
    assert text.START == "Start comparison"


def test_a_mark_becomes_each_language_wherever_it_was_put() -> None:
    with language.for_anybody():
        html = f"<p>{text.START} {escape(text.STEP_OF.format(step=3, total='<9>'))}</p>"
        both = text.LOG_EXACT.format(said=text.STOP, share="1 %", count=2)
    assert language.fill(html, "en") == "<p>Start comparison step 3 of &lt;9&gt;</p>"
    assert language.fill(html, "zh-TW") == "<p>開始比較 第 3 / &lt;9&gt; 步</p>"
    assert language.fill(both, "zh-TW").startswith("停止；2 個答案中")
    assert language.fill(language.through(str.upper, both), "en").startswith("STOP; 1 % OF 2")


def test_a_mark_within_another_is_filled_as_well() -> None:
    with language.for_anybody():
        titles = text.AND.join([text.STOP, text.PAUSE])  # by now a plain text with marks in it
        said = text.QUEUED_BEHIND.format(titles=titles)
    assert language.fill(said, "zh-TW") == "它在等 停止、暫停 結束：一次只跑一個比較。"


def test_marks_survive_json_copies_and_pickles() -> None:
    with language.for_anybody():
        mark = text.CHARTS["axes"]["time"]
    for same in (json.loads(json.dumps(mark)), copy.deepcopy([mark])[0]):
        assert language.fill(same, "zh-TW") == "秒"
    assert pickle.loads(pickle.dumps(mark)).said == mark.said


def test_what_is_alike_in_all_languages_needs_no_mark() -> None:
    with language.for_anybody():
        assert text.TITLE == "FP4 Playground"
        assert type(text.EM_DASH) is str


def test_within_a_page_that_is_built_who_asks_for_the_language_gets_english() -> None:
    with language.for_anybody():
        assert language.spoken() == "en"


def test_a_constant_that_is_not_there_is_missed_in_every_language() -> None:
    for code in language.LANGUAGES:
        with language.speaking(code), pytest.raises(AttributeError):
            text.NOT_A_SENTENCE  # noqa: B018
