"""A child that stays: asked again without a start, replaced when gone, bad ends one sentence."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from playground import answering
from playground.answering import Asked
from playground.config import SettingsError
from tests.conftest import until

ECHO = """
import os
from playground.answering import serve
from playground.config import SettingsError

def answer(question):
    print("a library prints this")
    if question.get("refuse"):
        raise SettingsError("Not this one.")
    for i in range(question.get("tell", 0)):
        yield {"tell": i}
    exec(question.get("do", ""))
    yield {"answer": {"pid": os.getpid(), "said": question.get("say"), "env": dict(os.environ)}}

serve(answer, idle_s=%s)
"""


@pytest.fixture
def asked() -> Iterator[Callable[..., Asked]]:
    made: list[Asked] = []

    def make(code: str = ECHO % 60, **more: object) -> Asked:
        made.append(Asked("The child", ("-P", "-c", code), **more))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_one_child_answers_all(asked: Callable[..., Asked]) -> None:
    child = asked()
    first, second = child.answer({"say": "a"}), child.answer({"say": "b\ud800\n"})
    assert first["pid"] == second["pid"] != os.getpid()
    assert (first["said"], second["said"]) == ("a", "b\ud800\n")
    assert first["env"]["CUDA_VISIBLE_DEVICES"] == "" and first["env"]["OMP_NUM_THREADS"] == "1"
    assert list(child.ask({"tell": 2}))[:2] == [{"tell": 0}, {"tell": 1}]


def test_a_refusal_leaves_it_there(asked: Callable[..., Asked]) -> None:
    child = asked()
    before = child.answer({})["pid"]
    with pytest.raises(SettingsError, match=r"^Not this one\.$"):
        child.answer({"refuse": True})
    assert child.answer({})["pid"] == before


def test_one_that_went_is_replaced(asked: Callable[..., Asked]) -> None:
    child = asked()
    before = child.answer({})["pid"]
    os.kill(before, signal.SIGKILL)
    until(lambda: child._process.poll() is not None, "the end of the child")
    assert child.answer({"say": "x"})["said"] == "x"
    assert child.answer({})["pid"] != before


def test_it_goes_when_idle_and_when_its_parent_is_gone(asked: Callable[..., Asked]) -> None:
    idle = asked(ECHO % 0.05)
    idle.answer({})
    until(lambda: idle._process.poll() == 0, "an idle child to go")
    orphan = asked()
    orphan.answer({})
    orphan._process.stdin.close()  # as the system does when the parent ends
    until(lambda: orphan._process.poll() == 0, "an orphan to go")


def test_an_answer_nobody_listens_to_ends_the_child(asked: Callable[..., Asked]) -> None:
    child = asked()
    answers = child.ask({"tell": 5})
    next(answers)
    answers.close()
    assert child._process is None
    assert child.answer({"say": "fresh"})["said"] == "fresh"


@pytest.mark.parametrize(
    ("do", "said"),
    [
        ("os.kill(os.getpid(), 9)", "The child was ended by SIGKILL, which memory"),
        ("os.kill(os.getpid(), 15)", "ended to leave the machine to a run that started; ask again"),
        ("raise RuntimeError('oh')", "The child ended with exit code 1 (RuntimeError: oh); try"),
        ("os._exit(3)", "The child ended with exit code 3 (a library prints this)"),
    ],
)
def test_a_bad_end_is_one_sentence(asked: Callable[..., Asked], do: str, said: str) -> None:
    child = asked()
    with pytest.raises(SettingsError) as error:
        child.answer({"do": do})
    assert said in str(error.value) and "\n" not in str(error.value)
    assert child.answer({"say": "again"})["said"] == "again"


def test_silence_is_ended(asked: Callable[..., Asked]) -> None:
    child = asked("import time; time.sleep(600)", longest_s=0.2)
    with pytest.raises(SettingsError, match="said nothing for 0 minutes and was ended"):
        child.answer({})
    assert child._process is None


def test_who_started_is_told(asked: Callable[..., Asked]) -> None:
    pids: list[int] = []
    child = asked(started=pids.append)
    assert child.answer({})["pid"] == pids[0] == os.getsid(pids[0])


def test_a_parents_secret_is_not_in_the_sentence(
    asked: Callable[..., Asked], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SettingsError, match=r"\(RuntimeError: ~/x\)"):
        asked().answer({"do": f"raise RuntimeError({str(tmp_path / 'x')!r})"})
    assert answering.IDLE_S >= 60
