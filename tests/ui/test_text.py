"""Every sentence of the page has a twin in Traditional Chinese, with the same fields."""

from __future__ import annotations

import importlib
import pkgutil
import re
import string
from collections.abc import Iterator
from typing import Any

import pytest

from playground import language
from playground.language import Words, twin
from playground.presets import list_presets, load_preset
from playground.ui import recorded, text
from playground.ui.text import cards
from playground.ui.text.zh_tw import below as chinese_below

MODULES = [
    "playground.compare.sentences",
    "playground.preview.sentences",
    "playground.ui.text",
    *(
        f"playground.ui.text.{found.name}"
        for found in pkgutil.iter_modules(text.__path__)
        if not found.ispkg
    ),
]
ALIKE = re.compile(
    r"[\W\d_]*(?:\{\w*\}|[\W\d_]|FP4 Playground|NVFP4|MXFP4|NF4|FP8 E4M3|N\(0,1\)|"
    r"nats|[GM]iB|JSON|CSV|Top p|Alpha|Dropout|torch\.compile)*"
)
"""What is the same in both: names, formats, units, signs."""


def constants(module: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if name.isupper()}


def leaves(value: Any, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, f"{at}/{key}")
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from leaves(part, f"{at}/{number}")
    else:
        raise AssertionError(f"{at} is no sentence")


def fields(sentence: str) -> set[str]:
    return {f"{name}:{spec}" for _, name, spec, _ in string.Formatter().parse(sentence) if name}


@pytest.mark.parametrize("name", MODULES)
def test_each_sentence_has_a_twin_with_the_same_fields(name: str) -> None:
    module = importlib.import_module(name)
    assert type(module) is Words, "ends without language.words(__name__)"
    english = dict(leaves(constants(module), name))
    chinese = dict(leaves(constants(twin(module, "zh-TW")), name))
    assert chinese.keys() == english.keys()
    for at, sentence in english.items():
        assert fields(chinese[at]) == fields(sentence), at
        if chinese[at] == sentence:
            assert ALIKE.fullmatch(sentence), f"{at} is not translated"


@pytest.mark.parametrize("name", MODULES)
def test_marks_between_chinese_words_are_chinese(name: str) -> None:
    chinese = leaves(constants(twin(importlib.import_module(name), "zh-TW")), name)
    narrow = r"[\u3400-\u9fff}][,;:?!()]|[,;:?!(][\u3400-\u9fff{]"
    close = r"[\u3400-\u9fff][A-Za-z0-9]|[A-Za-z0-9%][\u3400-\u9fff]"
    for at, sentence in chinese:
        assert not re.search(narrow, sentence), f"{at}: a narrow mark"
        assert not re.search(close, sentence), f"{at}: no space between Latin and Chinese"


@pytest.mark.parametrize("name", MODULES)
def test_words_are_those_of_taiwan(name: str) -> None:
    """What is said otherwise on the mainland, of what such a page speaks of."""
    elsewhere = (
        "內存|文件|默認|程序|網絡|數據|軟件|硬件|激活|優化|質量|服務器|緩存|模塊|屏幕|信息|支持|加載|"
        "線程|進程|字節|字符|接口|調用|變量|隊列|列表|兼容|打印|運行|適配|令牌|登錄|交互|反饋|鏈接|"
        "實現|項目|用戶|菜單|界面|粘貼"
    )
    below = {"playground.ui.text": [*chinese_below.SAID.items()]}
    said = leaves(constants(twin(importlib.import_module(name), "zh-TW")), name)
    for at, sentence in [*said, *below.get(name, [])]:
        assert not re.search(elsewhere, sentence), at


@pytest.mark.parametrize("name", MODULES)
def test_sentences_can_stand_in_html_and_in_scripts(name: str) -> None:
    """The page is built with marks, which are filled where quotes and brackets would mean more."""
    module = importlib.import_module(name)
    for either in (module, twin(module, "zh-TW")):
        for at, sentence in leaves(constants(either), name):
            assert not re.search(r'["<>&\\]', sentence), at


def test_our_presets_are_told_of_with_the_same_figures() -> None:
    twins = language.beside(cards, "presets", "zh-TW").PRESETS
    assert twins.keys() == {preset.name for preset in list_presets()}
    for preset in list_presets():
        for part, chinese in twins[preset.name].items():
            english = getattr(preset, part)
            assert bool(chinese) == bool(english), f"{preset.name}: {part}"
            told, known = (set(re.findall(r"\d[\d,.]*\d|\d", said)) for said in (chinese, english))
            # Numbers may become words, and words numbers; none may become another.
            assert len(known - told) <= 2, f"{preset.name}: {part} leaves out {known - told}"


def test_a_title_that_a_comparison_has_from_a_preset_is_told() -> None:
    with language.speaking("zh-TW"):
        assert recorded.titled("Quick look") == "快速一覽"
        assert recorded.titled("Quick look: max_steps=40") == "快速一覽：步數 40"
        assert recorded.titled("Quick looks") == "Quick looks"
    assert recorded.titled("Quick look") == "Quick look"
    composed = load_preset("quick", {"learning_rate": "2e-3", "max_steps": "9"}).title
    assert recorded.titled(composed) == "Quick look: Learning rate 2e-3, Steps 9"
    assert recorded.titled("Mine: max_steps=9") == "Mine: max_steps=9"  # as somebody typed it
