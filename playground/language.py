"""Which language is spoken: English, unless who asks the page for something speaks another.

A module of sentences ends with ``language.words(__name__)``. It stays a list of plain English
constants with twins in ``zh_tw/`` beside it, and an attribute of it, ``text.START``, is

- English in a terminal, in files, and wherever nobody is known to ask;
- in the language of who asks while the page answers a request (``asked_by``);
- a ``Mark`` while the page is built, once for everybody: ``fill`` puts the sentence in its place
  in what is sent to each.
"""

from __future__ import annotations

import importlib
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "zh-TW": "繁體中文"}
"""What the page speaks, by BCP 47 tag, and what each calls itself."""

_TWINS = {"zh-TW": "zh_tw"}
_ANY = "any"  # while the page is built
_spoken: ContextVar[str | None] = ContextVar("spoken", default=None)
_askers: list[Callable[[], str | None]] = []


def asked_by(asker: Callable[[], str | None]) -> None:
    """``asker`` tells the language of the request that is being answered, or None."""
    _askers.append(asker)


def spoken() -> str:
    """The language in which whoever is served now is spoken to; one of ``LANGUAGES``."""
    return ENGLISH if (code := _asked()) == _ANY else code


def _asked() -> str:
    if said := _spoken.get():
        return said
    return next((code for asker in _askers if (code := asker())), ENGLISH)


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Within it ``code`` is spoken, whoever asks."""
    token = _spoken.set(code)
    try:
        yield
    finally:
        _spoken.reset(token)


@contextmanager
def for_anybody() -> Iterator[None]:
    """Within it sentences are marks, for what is sent to people of every language."""
    with speaking(_ANY):
        yield


class Mark(str):
    """A sentence that ``fill`` will put here. Formatted, it is still one, in every language.

    Its characters survive HTML and JSON as they are.
    """

    said: Mapping[str, str]

    def __new__(cls, said: Mapping[str, str]) -> Mark:
        self = super().__new__(cls, f"[[say:{_number(said)}]]")
        self.said = dict(said)
        return self

    def format(self, *args: Any, **kwargs: Any) -> Mark:
        return Mark(
            {
                code: sentence.format(
                    *(_in(code, value) for value in args),
                    **{key: _in(code, value) for key, value in kwargs.items()},
                )
                for code, sentence in self.said.items()
            }
        )

    def replace(self, *args: Any) -> Mark:  # html.escape is made of these
        return Mark({code: sentence.replace(*args) for code, sentence in self.said.items()})

    def __deepcopy__(self, _: dict) -> Mark:
        return self

    def __reduce__(self) -> tuple:
        return Mark, (self.said,)


def _in(code: str, value: Any) -> Any:
    return value.said[code] if isinstance(value, Mark) else value


_MARK = re.compile(r"\[\[say:(\d+)\]\]")
_said: list[Mapping[str, str]] = []
_numbers: dict[tuple[tuple[str, str], ...], int] = {}
_lock = threading.Lock()


def _number(said: Mapping[str, str]) -> int:
    key = tuple(said.items())
    with _lock:
        if key not in _numbers:
            _numbers[key] = len(_said)
            _said.append(dict(said))
        return _numbers[key]


def fill(
    marked: str, code: str | None = None, quoted: Callable[[str], str] = lambda said: said
) -> str:
    """``marked`` with the sentence of ``code`` (by default the one spoken) in place of each mark.

    Args:
        quoted: how a sentence is written there, such as between the quotes of JSON.
    """
    code = code or spoken()

    def put(found: re.Match) -> str:
        return fill(quoted(_said[int(found[1])][code]), code)

    return _MARK.sub(put, marked)


class Words(ModuleType):
    """A module whose constants are sentences."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if not name.isupper() or (code := _asked()) == ENGLISH:
            return value
        if code != _ANY:
            return getattr(twin(self, code), name)
        said = {c: getattr(twin(self, c), name) for c in LANGUAGES if c != ENGLISH}
        return _marked({ENGLISH: value} | said)


def words(name: str) -> None:
    """Makes a module, called by itself with its ``__name__``, one of sentences.

    Its twins are read with it: files that change while the page is served change nothing by halves.
    """
    sys.modules[name].__class__ = Words
    for code in _TWINS:
        twin(sys.modules[name], code)


def twin(module: ModuleType, code: str) -> ModuleType:
    """The module that says the same in another language: ``text.cards`` -> ``text.zh_tw.cards``."""
    package = module.__package__
    rest = module.__name__.removeprefix(package)
    return importlib.import_module(f"{package}.{_TWINS[code]}{rest}")


def beside(module: ModuleType, name: str, code: str) -> ModuleType:
    """A module of words in one language that has none of its own in English."""
    return importlib.import_module(f"{twin(module, code).__name__.rpartition('.')[0]}.{name}")


def through(change: Callable[[str], str], sentence: str) -> str:
    """``change(sentence)``, whatever the language."""
    if isinstance(sentence, Mark):
        return Mark({code: change(said) for code, said in sentence.said.items()})
    return change(sentence)


def either(said: Mapping[str, str]) -> str:
    """What is said in each language, as a constant of a module of sentences would be."""
    return of_twins(said[ENGLISH], said.__getitem__)


def of_twins(sentence: str, twin: Callable[[str], str]) -> str:
    """An English sentence as a constant would be; ``twin(code)`` is what another language says."""
    code = _asked()
    if code == _ANY:
        return Mark({ENGLISH: sentence} | {c: twin(c) for c in LANGUAGES if c != ENGLISH})
    return sentence if code == ENGLISH else twin(code)


def _marked(said: Mapping[str, Any]) -> Any:
    """A constant in every language, with marks for its sentences; what is alike needs none."""
    value = said[ENGLISH]
    if isinstance(value, str):
        return value if len(set(said.values())) == 1 else Mark(said)
    if isinstance(value, dict):
        return {key: _marked({c: each[key] for c, each in said.items()}) for key in value}
    if isinstance(value, list | tuple):
        parts = zip(*said.values(), strict=True)
        return type(value)(_marked(dict(zip(said, part, strict=True))) for part in parts)
    return value
