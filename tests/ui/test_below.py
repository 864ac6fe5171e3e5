"""What comes from below the page is said in Traditional Chinese, with all its values."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

from playground import language
from playground.ui import recorded
from playground.ui.text.zh_tw import below as chinese
from tests.ui import below

ROOT = Path(__file__).parents[2]

# Not of the page: what a terminal says, files that stay English, and names.
ELSEWHERE = {
    "__main__": "the terminal",
    "assets": "made before anybody is asked",
    "cli": "the terminal",
    "commands": "commands to copy",
    "compare": "has sentences with twins of its own",
    "data/template": "chat templates",
    "devices": "names of GPUs; the page offers only those there are",
    "doctor": "the terminal",
    "export/card": "a model card, a file",
    "fit/terminal": "the terminal",
    "formats/terminal": "the terminal",
    "json_file": "the terminal's --json",
    "progress": "the terminal",
    "sinks/chosen": "the terminal's --log-to",
    "tables": "the terminal",
    "training/environment": "names of settings",
    "ui": "has twins beside its sentences",
    "users": "before the page is there",
}
# What has its twin in a larger whole, or is a key that the page tells by a sentence of its own.
PARTS = {
    *(" after step {}", " (predicted: {} in all)", ", or take {} away"),
    *("a copy", "a tool call", "no answer", "not learned", "not needed", "nothing to learn"),
    *("by itself", "at its limit"),
}
PROSE = re.compile(r"[A-Za-z]+,? [a-z]+")
VERBATIM = re.compile(r"hub id|compute capability|'[^']*'|`[^`]*`|\w+=\w+|\w+_\w+|{.*}")


def _modules() -> list[str]:
    found = []
    for folder in ("playground", "kernels"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT / folder).with_suffix("").as_posix()
            parts = name.split("/")
            outside = {"/".join(parts[:n]) for n in range(1, len(parts) + 1)} & ELSEWHERE.keys()
            if not (folder == "playground" and outside):
                found.append(f"{folder}/{name}")
    return found


def _templates(module: str) -> list[str]:
    found = below.templates(ROOT / f"{module}.py")
    prose = {t for t in found if PROSE.search(t) and not re.match("SELECT|EXISTS|.*\n$", t)}
    return sorted(prose - PARTS)


def _in_chinese(template: str) -> str:
    """With a value in each place. What is a sentence beside another has its twin for itself."""
    alone = re.sub(r"^{} (?=[A-Z])|(?<=[.?]){}$", "", template)
    names = [f"{70 + n}" for n in range(template.count("{}"))]
    tried = (t.format(*names) for t in (alone, alone.strip(), f"{alone.strip(' :')}."))
    with language.speaking("zh-TW"):
        return next((told for one in tried if (told := recorded.said(one)) != one), template)


@pytest.mark.parametrize("module", [m for m in _modules() if _templates(m)])
def test_each_sentence_from_below_has_a_twin(module: str) -> None:
    told = {template: _in_chinese(template) for template in _templates(module)}
    english = {t: VERBATIM.sub("", said) for t, said in told.items()}
    assert not {t for t, said in english.items() if PROSE.search(said) or said.isascii()}


def _sample(shape: str) -> tuple[str, str]:
    """Of a shape and its twin, both with the same values."""
    fields = [(f, spec) for _, f, spec, _ in string.Formatter().parse(shape) if f]
    values = {f: 70 + n if spec else f"<{n}>" for n, (f, spec) in enumerate(fields)}
    return shape.format(**values), chinese.SAID[shape].format(**values)


@pytest.mark.parametrize("table", chinese.TABLES)
def test_a_twin_has_the_values_of_its_shape_and_is_found_by_it(table: dict[str, str]) -> None:
    for shape, twin in table.items():
        fields, told = (
            {f for _, f, *_ in string.Formatter().parse(each) if f} for each in (shape, twin)
        )
        assert told == {f for f in fields if not f.startswith("_")}, shape  # _s: an English plural
        sentence, expected = _sample(shape)
        with language.speaking("zh-TW"):
            assert recorded.said(sentence) == expected
    assert sum(map(len, chinese.TABLES)) == len(chinese.SAID), "a shape stands twice"


def test_marks_between_chinese_words_are_chinese() -> None:
    narrow = r"[\u3400-\u9fff}][,;:?!()]|[,;:?!(][\u3400-\u9fff{]"
    close = r"[\u3400-\u9fff][A-Za-z0-9]|[A-Za-z0-9%][\u3400-\u9fff]"
    for twin in chinese.SAID.values():
        assert not re.search(f"{narrow}|{close}", re.sub("`[^`]*`", "", twin)), twin


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ("fetching the model", "下載模型"),
        ("What nobody wrote, or so it seems", "What nobody wrote, or so it seems"),
        # A suffix, a list, and two sentences, one of which is in Chinese already.
        (
            "「精度」是空的。 Precision 'nvfp' is unknown; choose from fp16, nvfp4. Did you mean "
            "'nvfp4'?",
            "「精度」是空的。沒有「nvfp」這種精度；請從 fp16、nvfp4 選擇。你要的是「nvfp4」嗎？",
        ),
        # A value that is a sentence, and one that is somebody's.
        (
            "Line 7 of 'no weights': column 'text' is text, not a list of turns; write the list "
            "itself, not as text in quotes, in a .jsonl file.",
            "「no weights」第 7 行：欄位「text」是文字，不是一串對話；"
            "請在 .jsonl 檔案裡直接寫清單，不要寫成引號裡的文字。",
        ),
        # Reasons one after another, of which one is none of ours.
        (
            "No layer of this model can run in nf4: kept in 16 bits; its 12 input features are not "
            "a multiple of 16; boom. Keep fewer layers.",
            "這個模型沒有任何一層能以 nf4 執行：維持 16 位元；它的 12 個輸入特徵不是 16 的倍數；"
            "boom。請少保留幾層。",
        ),
        (
            "Out of memory in step 4, asking for 2.00 GiB more (predicted: 9.00 GiB in all): turn "
            "gradient_checkpointing on, or lower max_seq_len from 512 to 256.",
            "記憶體不足，在第 4 步，還要 2.00 GiB（預測共需 9.00 GiB）："
            "開啟 gradient_checkpointing，或把 max_seq_len 從 512 降到 256。",
        ),
    ],
)
def test_a_sentence_is_told_with_its_values(english: str, said: str) -> None:
    with language.speaking("zh-TW"):
        assert recorded.said(english) == said
    assert recorded.said(english) == english


@pytest.mark.parametrize(
    "made_up", ["off: " * 150 + "on", "no, or " * 100 + "on", "x; " * 250 + "on"]
)
def test_what_somebody_made_up_is_not_followed_without_end(made_up: str) -> None:
    with language.speaking("zh-TW"):
        assert recorded.said(made_up).endswith("on")
