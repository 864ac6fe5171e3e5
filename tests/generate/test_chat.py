"""One child, one question at a time; its memory back when idle, ended, or wanted by a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from playground.config import SettingsError
from playground.events import Facts
from playground.generate import Chat, Column, Conversation, Exchange, Question, Sampling
from playground.launcher import Launcher
from playground.processes import ROOT, ProcessId
from playground.residents import resident
from playground.store import Group, RunStore
from tests import fakes
from tests.conftest import until, until_over
from tests.generate.finished import finished_group

Made = Callable[..., Chat]


def question(group: Group, prompt: str) -> Question:
    return Question(group.id, prompt, Sampling())


def answered(chat: Chat, group: Group, prompt: str) -> list[Column]:
    *_, last = chat.ask(question(group, prompt))
    return list(last)


def begun(chat: Chat, group: Group) -> Iterator[tuple[Column, ...]]:
    """An answer that goes on until it is told to stop, some words into it."""
    answer = chat.ask(question(group, "endless"))
    until(lambda: next(answer)[0].tokens > 2, "some words")
    return answer


def child_of(store: RunStore) -> ProcessId:
    return resident(store.home, "try-it")


def test_every_column_answers_in_turn(store: RunStore, group: Group, make_chat: Made) -> None:
    chat = make_chat()
    seen = list(chat.ask(question(group, "hello")))
    first, second = group.run_ids
    assert [c.text for c in seen[-1]] == [
        f"base {first}: hello",
        f"tuned {first}: hello",
        f"tuned {second}: hello",
    ]
    assert all(c.ended == "by itself" and c.tokens == 3 for c in seen[-1])
    assert not any(c.text for c in seen[0])  # shown before anybody has said anything


def test_the_same_child_answers_the_next_question(
    store: RunStore, group: Group, make_chat: Made
) -> None:
    chat = make_chat()
    answered(chat, group, "one")
    child = child_of(store)
    answered(chat, finished_group(store, title="Another"), "two")
    assert child_of(store) == child and child.is_alive()


def test_stop_ends_the_answer_and_not_the_child(
    store: RunStore, group: Group, make_chat: Made
) -> None:
    chat = make_chat()
    answer = begun(chat, group)
    chat.stop()
    *_, last = answer
    assert last[0].ended == "stopped" and last[0].text.startswith("word ")
    assert all(c.over for c in last)
    assert answered(chat, group, "again")[0].text.endswith("again")


def test_who_asks_meanwhile_is_told(group: Group, make_chat: Made) -> None:
    chat = make_chat()
    answer = begun(chat, group)
    with pytest.raises(SettingsError, match="Another question is being answered"):
        next(chat.ask(question(group, "me too")))
    chat.stop()
    list(answer)
    assert answered(chat, group, "me now")[0].text.endswith("me now")


def test_a_page_that_goes_away_stops_its_answer(group: Group, make_chat: Made) -> None:
    chat = make_chat()
    begun(chat, group).close()

    def free() -> bool:
        try:
            return bool(answered(chat, group, "next"))
        except SettingsError:
            return False

    until(free, "the answer that nobody reads to stop")


def test_nothing_is_asked_beside_a_run(store: RunStore, group: Group, make_chat: Made) -> None:
    chat = make_chat()
    answered(chat, group, "before")
    preset = fakes.preset("steady")
    store.create_group("quick", "Mine", preset.configs, str(ProcessId.of()))
    with pytest.raises(SettingsError, match="“Mine” is running or waiting"):
        next(chat.ask(question(group, "now?")))
    assert not chat.holds_memory


def test_a_run_that_starts_ends_the_child_first_and_the_page_says_so(
    store: RunStore, group: Group, make_chat: Made, launch: Callable[..., Launcher]
) -> None:
    """Its memory is the run's own: at the run's first word the child is no more."""
    chat = make_chat()
    answer = begun(chat, group)
    child = child_of(store)
    launcher = launch()
    started = launcher.start(fakes.preset("loading", precisions="fp16"))
    until(lambda: store.get_run(started.run_ids[0]).stage, "the run's first word")
    assert not child.is_alive() and resident(store.home, "try-it") is None
    with pytest.raises(SettingsError, match="A run has started, so the models"):
        list(answer)
    launcher.stop(started.id)
    until_over(store, started.id)
    assert answered(chat, group, "again")[0].text.endswith("again")


def test_an_idle_child_ends_by_itself(store: RunStore, group: Group, make_chat: Made) -> None:
    chat = make_chat(idle_s=0.05)
    answered(chat, group, "once")
    until(lambda: not chat.holds_memory, "the idle child to end")
    assert answered(chat, group, "twice")[0].text.endswith("twice")


def test_end_gives_the_memory_back_whatever_it_does(
    store: RunStore, group: Group, make_chat: Made
) -> None:
    chat = make_chat()
    answer = begun(chat, group)
    child = child_of(store)
    chat.end()
    assert not child.is_alive() and not chat.holds_memory
    with pytest.raises(SettingsError, match="was ended, and its memory is free"):
        list(answer)


def test_a_child_that_prints_a_megabyte_goes_on(group: Group, make_chat: Made) -> None:
    assert answered(make_chat(), group, "noisy")[0].text.endswith("noisy")


@pytest.mark.parametrize(
    "prompt, said", [("killed", "was killed"), ("crashes", "exit code 1 (something broke)")]
)
def test_a_child_that_comes_to_no_good_end(
    prompt: str, said: str, group: Group, make_chat: Made
) -> None:
    chat = make_chat()
    with pytest.raises(SettingsError) as ended:
        answered(chat, group, prompt)
    assert said in str(ended.value)
    assert answered(chat, group, "after it")[0].text.endswith("after it")


def test_what_one_column_cannot_is_its_own_affair(group: Group, make_chat: Made) -> None:
    columns = answered(make_chat(), group, "refused")
    assert {c.error for c in columns} == {"This model cannot be had."}


def test_each_column_is_told_its_own_answers_of_before(group: Group, make_chat: Made) -> None:
    earlier = Conversation("be brief", (Exchange("1?", ("a", "b", "c")),))
    *_, last = make_chat().ask(Question(group.id, "turns", Sampling(), earlier))
    first, second = group.run_ids
    assert [c.text for c in last] == [
        f"base {first}: be brief, 1?, a, turns",
        f"tuned {first}: be brief, 1?, b, turns",
        f"tuned {second}: be brief, 1?, c, turns",
    ]


def test_a_conversation_that_cannot_be_held_is_refused(
    store: RunStore, group: Group, make_chat: Made
) -> None:
    chat = make_chat()
    with_two = Conversation("", (Exchange("1?", ("a", "b")),))
    with pytest.raises(SettingsError, match="Somebody else has answered"):
        next(chat.ask(Question(group.id, "2?", Sampling(), with_two)))
    for run_id in group.run_ids:
        store.append(run_id, Facts(template="none"))
    with pytest.raises(SettingsError, match="knows no conversation"):
        next(chat.ask(Question(group.id, "2?", Sampling(), Conversation("be brief"))))


def test_the_adapters_of_another_comparison_answer_beside(
    store: RunStore, group: Group, make_chat: Made
) -> None:
    other = finished_group(store, title="Another")
    *_, last = make_chat().ask(Question(group.id, "1?", Sampling(), beside=other.id))
    assert [c.run_id for c in last] == [group.run_ids[0], *group.run_ids, *other.run_ids]


def test_a_comparison_without_an_adapter_is_refused(store: RunStore, make_chat: Made) -> None:
    waiting = store.create_group("quick", "Empty", fakes.preset("steady").configs, "1:1.0")
    with pytest.raises(SettingsError, match="no finished run"):
        next(make_chat().ask(question(waiting, "hello")))


def test_a_server_that_is_killed_leaves_no_orphan(store: RunStore, group: Group) -> None:
    """The system closes the child's stdin, and there is nobody left to answer."""
    server = textwrap.dedent(
        f"""
        from pathlib import Path
        from playground.generate import Chat, Question, Sampling
        from playground.store import RunStore
        from tests.generate.fake_child import CHILD
        chat = Chat(RunStore(Path({str(store.home)!r})), child=CHILD)
        for columns in chat.ask(Question({group.id!r}, "endless", Sampling())):
            if columns[0].tokens > 2:
                print("answering", flush=True)
                break
        input()
        """
    )
    command = [sys.executable, "-c", server]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, env=_environment(), **pipes) as process:
        assert process.stdout.readline() == b"answering\n"
        child = child_of(store)
        assert psutil.Process(child.pid).ppid() == process.pid
        os.kill(process.pid, signal.SIGKILL)
        until(lambda: not child.is_alive(), "the orphan to go")


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(ROOT))}
