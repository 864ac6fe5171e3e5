"""The page's side of the child that answers: one for a server, begun when somebody asks."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from playground.config import SettingsError
from playground.generate.question import Conversation, Question, check_prompt
from playground.generate.transcript import Column, Transcript, columns_of
from playground.processes import ProcessId, child_environment, last_line
from playground.residents import end, enter
from playground.store import RunStore

CHILD = ("-P", "-m", "playground.generate")  # -P: never import from the cwd
IDLE_S = 300.0
KIND = "try-it"
_POLL_S = 0.15  # an eye sees no more, and each look redraws what is streamed


class Chat:
    """Questions to finished comparisons, one at a time; safe to use from several threads.

    Args:
        idle_s: seconds without a question after which the child ends and its memory is back.
        child: arguments of the interpreter that answers.
    """

    def __init__(
        self, store: RunStore, idle_s: float = IDLE_S, child: tuple[str, ...] = CHILD
    ) -> None:
        self._store, self.idle_s, self._arguments = store, idle_s, child
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._current: Transcript | None = None
        self._asked = 0

    def ask(self, question: Question) -> Iterator[tuple[Column, ...]]:
        """Yields who answers and how far they are, whenever that has changed, to the end.

        Closed before the end, as when a page goes away, it stops the answer.

        Raises:
            SettingsError: nothing can be asked of this comparison, something else is being
                answered, a run has or needs the memory, or the child came to no good end.
        """
        prompt = check_prompt(question.prompt)
        groups = (question.group_id, question.beside)
        columns = columns_of(*[self._store, *(self._store.get_group(g) for g in groups if g)])
        if not columns:
            raise SettingsError(
                "This comparison has no finished run whose adapter could answer; pick another."
            )
        _check_conversation(question.earlier, columns)
        with self._lock:
            child, transcript, number = self._begin(question, prompt, columns)
        try:
            yield transcript.columns
            while not transcript.done:
                ended = not child.is_alive()  # before the last look at what it wrote
                if transcript.read():
                    yield transcript.columns
                elif ended and not transcript.done:
                    raise SettingsError(self._why(child))
                else:
                    time.sleep(_POLL_S)
        finally:
            if not transcript.done:
                child.tell({"stop": number})

    def stop(self) -> None:
        """What is being answered ends where it is; within a token, or a part of loading."""
        with self._lock:
            if self._child and self._is_answering():
                self._child.tell({"stop": self._asked})

    def end(self) -> None:
        """Ends the child, whatever it does; its memory is back when this returns."""
        with self._lock:
            if self._child:
                self._child.end()
            self._child = self._current = None

    @property
    def holds_memory(self) -> bool:
        """Whether the child lives, and thus may have models in memory."""
        child = self._child
        return child is not None and child.is_alive()

    def _begin(
        self, question: Question, prompt: str, columns: list[Column]
    ) -> tuple[_Child, Transcript, int]:
        if self._is_answering():
            raise SettingsError(
                "Another question is being answered, perhaps somebody else's; "
                "ask again when it has ended."
            )
        self._refuse_beside_a_run()
        if self._child is None or not self._child.is_alive():
            if self._child:
                self._child.end()
            self._child = _Child(self._store.home, self._arguments, self.idle_s)
            # Once more: a run that was claimed in between has not seen the child, but we see it.
            self._refuse_beside_a_run()
        self._asked += 1
        path = self._child.folder / f"answers-{self._asked}.jsonl"
        self._current = Transcript(path, columns)
        self._child.tell(
            {
                "ask": self._asked,
                "columns": [[column.run_id, column.tuned] for column in columns],
                "earlier": [question.earlier.turns(at) for at in range(len(columns))],
                "prompt": prompt,
                "sampling": question.sampling.model_dump(),
                "answers": str(path),
            }
        )
        return self._child, self._current, self._asked

    def _refuse_beside_a_run(self) -> None:
        if live := self._store.live():
            if self._child:
                self._child.end()
                self._child = None
            title = self._store.get_group(live[0].group_id).title
            raise SettingsError(
                f"“{title}” is running or waiting, and its memory and speed must be its own; "
                "ask when it has ended."
            )

    def _is_answering(self) -> bool:
        if self._current is None or self._child is None:
            return False
        ended = not self._child.is_alive()
        self._current.read()
        return not (self._current.done or ended)

    def _why(self, child: _Child) -> str:
        if self._store.live():
            return (
                "A run has started, so the models that answered were let go of to give it their "
                "memory; ask again when it has ended."
            )
        code = child.exit_code()
        if code is not None and -code == signal.SIGKILL:
            return (
                "The process that answers was killed, as happens when memory runs out; "
                "ask a comparison of a smaller model."
            )
        if code is not None and -code == signal.SIGTERM:
            return "The process that answers was ended, and its memory is free; ask again."
        if code == 0:
            return "The process that answers had been idle and was just ending; ask again."
        said = last_line(child.log) or "it said nothing"
        return f"The process that answers ended with exit code {code} ({said}); ask again."


def _check_conversation(earlier: Conversation, columns: list[Column]) -> None:
    if earlier and not all(column.chat for column in columns):
        raise SettingsError(
            "The rows of this comparison are single questions without a chat template, so it "
            "knows no conversation; start a new one."
        )
    if any(len(exchange.answers) != len(columns) for exchange in earlier.exchanges):
        raise SettingsError(
            "Somebody else has answered earlier in this conversation; start a new one."
        )


class _Child:
    """The process, its folder of answers and its log."""

    def __init__(self, home: Path, arguments: tuple[str, ...], idle_s: float) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fp4-try-"))
        self.log = self.folder / "child.log"
        with self.log.open("wb") as output:  # a file, never a pipe that nobody reads
            self._process = subprocess.Popen(
                [sys.executable, *arguments, "--home", str(home), "--idle", str(idle_s)],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=child_environment(),
            )
        self._id = ProcessId.of(self._process.pid)
        self._telling = threading.Lock()
        enter(home, KIND, self._id)

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def exit_code(self) -> int | None:
        """Minus a signal's number if that ended it; None while it lives."""
        return self._process.poll()

    def tell(self, said: dict[str, object]) -> None:
        """Writes one line to it; a child that is gone hears nothing, and its answer ends so."""
        with self._telling:
            try:
                self._process.stdin.write(json.dumps(said).encode() + b"\n")
                self._process.stdin.flush()
            except (BrokenPipeError, ValueError):
                return

    def end(self) -> None:
        """Ends it and removes what it wrote."""
        end(self._id)
        self._process.wait()
        with self._telling, suppress(BrokenPipeError):  # of what it never heard
            self._process.stdin.close()
        shutil.rmtree(self.folder, ignore_errors=True)
