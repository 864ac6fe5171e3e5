"""Every way to write a row ends as the same turns."""

from __future__ import annotations

import pytest

from playground.config import SettingsError
from playground.data.formats import FORMATS, Reader, Sample, recognise, required
from playground.data.rows import Row

TURNS = ({"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"})


def rows(*cells: dict) -> list[Row]:
    """As lines 1, 11, 21 of a file: never the position in a list."""
    return [Row(c, f"Line {10 * i + 1} of 'a.jsonl'") for i, c in enumerate(cells)]


def read(*cells: dict) -> tuple[list[Sample], Reader]:
    found = rows(*cells)
    reader = Reader(recognise(found[0]))
    return [sample for row in found if (sample := reader.sample(row))], reader


def one(cells: dict) -> Sample:
    (sample,), reader = read(cells)
    assert reader.no_answer == 0
    return sample


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
    assert recognise(*rows(row)).name == name
    sample = one(row)
    assert (sample.messages, sample.chat) == (TURNS, chat)


def test_instruction_and_input_are_one_question() -> None:
    row = {"instruction": "Add.", "input": "2 2", "output": "4"}
    assert one(row).messages[0]["content"] == "Add.\n\n2 2"


def test_plain_text() -> None:
    sample = one({"Text": "hello"})
    assert (sample.text, sample.messages) == ("hello", ())
    assert sample.place == "Line 1 of 'a.jsonl'"


def test_unknown_columns_are_listed_with_the_known() -> None:
    with pytest.raises(SettingsError, match=r"columns foo, bar are not.*completion \+ prompt"):
        recognise(*rows({"foo": 1, "bar": 2}))


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            {"prompt": {"a": 1}, "completion": "b"},
            "Line 11 of 'a.jsonl': column 'prompt' is dict, not text",
        ),
        (
            {"prompt": [{"role": "user"}], "completion": []},
            "Line 11 of 'a.jsonl': a turn in 'prompt' lacks",
        ),
        (
            {"prompt": ["hi"], "completion": []},
            "Line 11 of 'a.jsonl': column 'prompt' is no list of turns",
        ),
    ],
)
def test_a_cell_of_the_wrong_type_names_its_row(row: dict, sentence: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read({"prompt": "a", "completion": "b"}, row)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("first", "column"),
    [
        ({"messages": list(TURNS)}, "messages"),
        ({"prompt": "a", "completion": "b"}, "prompt"),
        ({"instruction": "a", "output": "b"}, "instruction"),
        ({"question": "a", "answer": "b"}, "question"),
        ({"text": "a"}, "text"),
    ],
)
def test_a_row_without_the_columns_of_the_first_is_refused(first: dict, column: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read(first, {"other": "a"})
    assert str(refused.value) == (
        f"Line 11 of 'a.jsonl': it lacks the column '{column}' that the first row has; "
        "add it or remove the row."
    )


SILENT = {"role": "assistant", "content": None, "tool_calls": []}


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ({"prompt": "a", "completion": "b"}, {"prompt": "a", "completion": None}),
        ({"prompt": "a", "completion": "b"}, {"prompt": "a", "completion": " \n"}),
        ({"prompt": "a", "completion": "b"}, {"prompt": "a"}),
        ({"prompt": "a", "completion": "b"}, {"prompt": "a", "completion": float("nan")}),
        ({"prompt": "a", "completion": "b"}, {"prompt": None, "completion": "b"}),
        ({"prompt": [TURNS[0]], "completion": [TURNS[1]]}, {"prompt": [TURNS[0]]}),
        ({"instruction": "a", "output": "b"}, {"instruction": "a", "input": "i", "output": ""}),
        ({"instruction": "a", "output": "b"}, {"instruction": None, "input": "i", "output": "b"}),
        ({"question": "a", "answer": 0}, {"question": "a", "answer": None}),
        ({"messages": list(TURNS)}, {"messages": None}),
        ({"messages": list(TURNS)}, {"messages": []}),
        ({"messages": list(TURNS)}, {"messages": [TURNS[0], SILENT]}),
        ({"text": "a"}, {"text": None}),
        ({"text": "a"}, {"text": "  "}),
    ],
)
def test_a_row_without_an_answer_is_left_out_and_counted(good: dict, bad: dict) -> None:
    found, reader = read(good, bad, good)
    assert [sample.place for sample in found] == ["Line 1 of 'a.jsonl'", "Line 21 of 'a.jsonl'"]
    assert reader.no_answer == 1


def test_no_format_hides_another() -> None:
    for i, later in enumerate(FORMATS):
        assert not any(required(earlier) <= required(later) for earlier in FORMATS[:i])
