"""Every way to write a row ends as the same turns."""

from __future__ import annotations

import pytest

from playground.config import SettingsError
from playground.data.formats import FORMATS, recognise, samples

TURNS = ({"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"})


@pytest.mark.parametrize(
    ("name", "row", "chat"),
    [
        ("prompt-completion", {"prompt": "2+2?", "completion": "4"}, False),
        ("prompt-completion", {"prompt": [TURNS[0]], "completion": [TURNS[1]]}, True),
        ("question-answer", {"Question": "2+2?", "ANSWER ": 4, "id": 1}, False),
        ("instruction", {"instruction": "2+2?", "input": "", "output": "4"}, False),
        ("instruction", {"instruction": "2+2?", "input": None, "output": "4"}, False),
        ("messages", {"messages": list(TURNS), "text": "other"}, True),
    ],
)
def test_a_question_and_its_answer(name: str, row: dict, chat: bool) -> None:
    found = recognise([row])
    assert found.name == name
    (sample,) = samples([row], found)
    assert (sample.messages, sample.chat) == (TURNS, chat)


def test_instruction_and_input_are_one_question() -> None:
    row = {"instruction": "Add.", "input": "2 2", "output": "4"}
    (sample,) = samples([row], recognise([row]))
    assert sample.messages[0]["content"] == "Add.\n\n2 2"


def test_plain_text() -> None:
    (sample,) = samples([{"Text": "hello"}], recognise([{"Text": "hello"}]))
    assert (sample.text, sample.messages) == ("hello", ())


def test_unknown_columns_are_listed_with_the_known() -> None:
    with pytest.raises(SettingsError, match=r"columns foo, bar are not.*completion \+ prompt"):
        recognise([{"foo": 1, "bar": 2}])


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"prompt": {"a": 1}, "completion": "b"}, "Row 2: column 'prompt' is dict, not text"),
        ({"prompt": [{"role": "user"}], "completion": []}, "Row 2: a turn in 'prompt' lacks"),
        ({"prompt": ["hi"], "completion": []}, "Row 2: column 'prompt' is no list of turns"),
    ],
)
def test_a_cell_of_the_wrong_type_names_its_row(row: dict, sentence: str) -> None:
    good = {"prompt": "a", "completion": "b"}
    with pytest.raises(SettingsError) as refused:
        samples([good, row], recognise([good]))
    assert sentence in str(refused.value)


def test_no_format_hides_another() -> None:
    for i, later in enumerate(FORMATS):
        assert not any(earlier.columns <= later.columns for earlier in FORMATS[:i])
