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
        ("messages", {" MESSAGES ": list(TURNS)}, True),
        (
            "conversations",
            {"conversations": [{"from": "human", "value": "2+2?"}, {"from": "GPT", "value": "4"}]},
            True,
        ),
        ("conversations", {"conversations": list(TURNS)}, True),
        (
            "messages",
            {
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": t} for t in "2+2?"]},
                    TURNS[1],
                ]
            },
            True,
        ),
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
        (
            {"prompt": [{"role": "user", "content": [{"type": "image"}]}], "completion": []},
            "Line 11 of 'a.jsonl': a turn in 'prompt' has a part that is no text (image); only",
        ),
        (
            {"prompt": [{"from": "narrator", "value": "x"}], "completion": []},
            "Line 11 of 'a.jsonl': a turn in 'prompt' is from 'narrator'; use human, gpt or system",
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


def test_columns_that_differ_only_in_capitals_are_refused_if_they_are_needed() -> None:
    with pytest.raises(
        SettingsError, match="has the columns 'text' and 'Text ', which differ only"
    ):
        recognise(*rows({"text": "a", "Text ": "b"}))
    assert recognise(*rows({"text": "a", "id": 1, "ID": 2})).name == "text"


# --- mapped by hand ---------------------------------------------------------------------------


def mapped(mapping: str, cells: dict) -> Sample | None:
    (row,) = rows(cells)
    return Reader(recognise(row, mapping)).sample(row)


def test_columns_are_what_the_person_says_they_are() -> None:
    row = {"Frage ": "2+2?", "ANTWORT": "4", "text": "x", "question": "y", "answer": "z", "s": "S"}
    assert mapped("prompt=frage, answer=Antwort", row) == Sample(TURNS, place="Line 1 of 'a.jsonl'")
    assert mapped("text=ANTWORT", row).text == "4"
    with_system = mapped("prompt=Frage, answer=Antwort, system=s", row)
    assert with_system.messages == ({"role": "system", "content": "S"}, *TURNS)
    assert with_system.chat
    assert (
        mapped("prompt=Frage, input=s, answer=Antwort", row).messages[0]["content"] == "2+2?\n\nS"
    )
    assert mapped("messages=chat", {"chat": list(TURNS)}).messages == TURNS


def test_an_empty_system_cell_is_no_turn() -> None:
    row = {"q": "2+2?", "a": "4", "s": " "}
    assert mapped("prompt=q, answer=a, system=s", row).messages == TURNS


def test_a_mapping_to_a_column_that_is_not_there_offers_those_that_are() -> None:
    with pytest.raises(SettingsError) as refused:
        mapped("prompt=Frage, answer=Antwrt", {"Frage": "a", "Antwort": "b"})
    assert str(refused.value) == (
        "columns takes the answer from 'Antwrt', and the columns are Frage, Antwort; "
        "name one of these. Did you mean 'Antwort'?"
    )


# --- cells that say nothing, or say so --------------------------------------------------------


@pytest.mark.parametrize("word", ["None", "NA", "null", " nan ", "N/A"])
def test_words_for_nothing_are_kept_and_counted(word: str) -> None:
    found, reader = read({"prompt": "a", "completion": word}, {"prompt": "b", "completion": "c"})
    assert [sample.messages[1]["content"] for sample in found] == [word, "c"]
    assert (reader.null_words, reader.no_answer) == (1, 0)


@pytest.mark.parametrize("value", ["", " ", None, float("nan")])
def test_cells_without_a_word_are_left_out_and_counted(value: object) -> None:
    found, reader = read({"prompt": "a", "completion": value}, {"prompt": "b", "completion": "c"})
    assert len(found) == 1
    assert (reader.null_words, reader.no_answer) == (0, 1)


def test_a_column_whose_type_changes_is_said_once_with_its_line() -> None:
    said: list[str] = []
    found = rows(*({"text": value} for value in ("a", 1, 2.5, "b", True)))
    reader = Reader(recognise(found[0]), said.append)
    assert [reader.sample(row).text for row in found] == ["a", "1", "2.5", "b", "True"]
    assert said == [
        "Line 11 of 'a.jsonl': column 'text' is number here and text before; "
        "each was read as the text that stands there."
    ]


@pytest.mark.parametrize("value", [[1], {"a": 1}, ["x"]])
def test_a_column_that_becomes_no_text_is_refused_with_its_line(value: object) -> None:
    kind = type(value).__name__
    with pytest.raises(SettingsError, match=f"^Line 11 of 'a.jsonl': column 'text' is {kind}, not"):
        read({"text": "a"}, {"text": value})


def test_markup_is_text_like_any_other() -> None:
    text = "<script>alert(1)</script> | a | b |\n|---|---| **x** {{ 7 * 7 }}"
    assert one({"text": text}).text == text
    assert one({"prompt": text, "completion": text}).messages[0]["content"] == text
