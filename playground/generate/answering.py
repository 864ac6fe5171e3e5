"""In the child: the models of a comparison, loaded as there is room, and answers as they come."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TextIO

import psutil
import torch
from transformers import StoppingCriteriaList
from transformers.generation.streamers import BaseStreamer

from playground import hardware
from playground.config import SettingsError, private
from playground.data.formats import Message
from playground.data.tokenise import stop_ids
from playground.failures import is_out_of_memory
from playground.generate.question import Sampling
from playground.hardware import MIB
from playground.store import Run, RunStore
from playground.training.compile import uncompiled
from playground.training.environment import compute_device, pin_numerics
from playground.training.stopping import Stopped
from playground.training.tuned import Tuned, load_tuned

SAY_EVERY_S = 0.1
_ROOM = 1.5
"""A model is loaded beside others if so many times its size is free."""


class Answerer:
    """Answers one question after another, and keeps the models that fit for the next one."""

    def __init__(self, home: Path) -> None:
        self._store = RunStore(home)
        self._device, _ = compute_device(hardware.detect())
        self._models: dict[str, Tuned] = {}

    def answer(self, request: dict[str, Any], stopped: Callable[[], bool]) -> None:
        """Every column in turn, and a last line when all have answered or will not."""
        sampling = Sampling.model_validate(request["sampling"])
        asked = zip(request["columns"], request["earlier"], strict=True)
        with open(request["answers"], "a", encoding="ascii") as file:
            for at, ((run_id, tuned), earlier) in enumerate(asked):
                say = _Saying(file, at)
                run = self._store.get_run(run_id)
                turns = (*earlier, {"role": "user", "content": request["prompt"]})
                problem = self._answer_in(run, tuned, turns, sampling, say, stopped)
                if problem:  # outside: its traceback would keep alive what there was no room for
                    say(error=problem)
            file.write(json.dumps({"done": True}) + "\n")

    def _answer_in(
        self,
        run: Run,
        tuned: bool,
        turns: tuple[Message, ...],
        sampling: Sampling,
        say: _Saying,
        stopped: Callable[[], bool],
    ) -> str | None:
        """One column; returns the sentence that takes the place of an answer, if there is none."""
        try:
            say(doing="loading")
            found = self._loaded(run, stopped)
            say(doing="answering")
            ended, seconds = write_answer(found, tuned, turns, sampling, say.text, stopped)
            say(ended=ended, seconds=seconds)
        except Stopped:
            say(ended="stopped")
        except SettingsError as error:
            return str(error)
        except Exception as error:  # whatever it is, the other columns may still answer
            self._models.clear()
            print(private(traceback.format_exc()), file=sys.stderr, flush=True)
            if is_out_of_memory(error):
                return "There is not enough memory for this model; ask a comparison of a smaller."
            first = next(iter(str(error).splitlines()), "")
            return f"It could not answer ({type(error).__name__}: {private(first)[:200]})."
        return None

    def _loaded(self, run: Run, stopped: Callable[[], bool]) -> Tuned:
        def check() -> None:
            if stopped():
                raise Stopped

        check()
        if run.id not in self._models:
            if not self._has_room(run):
                self._models.clear()
                if self._device.type == "cuda":
                    torch.cuda.empty_cache()
            pin_numerics(run.config.training.seed)
            folder = self._store.run_folder(run.id)
            self._models[run.id] = load_tuned(
                run.config,
                run.facts,
                folder / "adapter",
                self._device,
                self_tests=folder.parent / "self-tests.json",
                check=check,
            )
        return self._models[run.id]

    def _has_room(self, run: Run) -> bool:
        """Beside the models that are here; while it is loaded it is in floats for a moment."""
        if self._device.type == "cuda":
            free, _ = torch.cuda.mem_get_info(self._device)
            size = 2.0
        else:
            free, size = psutil.virtual_memory().available, 4.0
        needed = (run.facts.total_parameters or 0) * size
        return free > _ROOM * needed + 512 * MIB


class _Saying:
    """Appends what becomes of one column to the file that the page reads."""

    def __init__(self, file: TextIO, column: int) -> None:
        self._file, self._column = file, column

    def __call__(self, **said: Any) -> None:
        self._file.write(json.dumps({"column": self._column, **said}) + "\n")
        self._file.flush()

    def text(self, text: str, tokens: int) -> None:
        self(text=text, tokens=tokens)


class _Listener(BaseStreamer):
    """Takes tokens as they are chosen and tells the answer so far, a few times a second."""

    def __init__(self, tokenizer: Any, prompt: int, tell: Callable[[str, int], None]) -> None:
        self._tokenizer, self._tell = tokenizer, tell
        self._left = prompt  # generate hands the prompt over first
        self.ids: list[int] = []
        self.began: float | None = None
        self._told = 0.0

    def put(self, value: torch.Tensor) -> None:
        fresh = value.flatten().tolist()
        skipped = min(self._left, len(fresh))
        self._left -= skipped
        self.ids += fresh[skipped:]
        now = time.monotonic()
        if self.ids and now - self._told >= SAY_EVERY_S:
            self._told = now
            self._say()

    def end(self) -> None:
        self._say(whole=True)

    def _say(self, whole: bool = False) -> None:
        text = self._tokenizer.decode(self.ids, skip_special_tokens=True)
        # A character whose bytes have not all come yet is no character.
        self._tell(text if whole else text.rstrip("\ufffd"), len(self.ids))


def write_answer(
    found: Tuned,
    tuned: bool,
    turns: tuple[Message, ...],
    sampling: Sampling,
    tell: Callable[[str, int], None],
    stopped: Callable[[], bool],
) -> tuple[str, float]:
    """Lets a model answer, telling the text so far and its tokens as they come.

    Args:
        tuned: with the adapter; otherwise the base answers alone.
        turns: of the conversation, the question last.
    Returns:
        How it ended, as a transcript calls it, and the seconds it took.
    Raises:
        SettingsError: the question does not fit into what the model reads.
    """
    asked = found.asked(*turns)
    prompt = torch.tensor([asked.prompt_ids], device=found.model.device)
    most = _room_for_answer(found.model, prompt.shape[1], sampling.max_new_tokens, len(turns) > 1)
    ends = stop_ids([asked], found.tokenizer)
    listener = _Listener(found.tokenizer, prompt.shape[1], tell)

    def is_stopped(input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        return torch.full((len(input_ids),), stopped(), device=input_ids.device)

    greedy = sampling.temperature == 0
    torch.manual_seed(sampling.seed)  # the same draws for every column
    began = time.monotonic()
    with torch.no_grad(), uncompiled(), nullcontext() if tuned else found.model.disable_adapter():
        found.model.generate(
            input_ids=prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=most,
            do_sample=not greedy,
            num_beams=1,
            use_cache=True,
            # A checkpoint's own sampling settings have no say.
            temperature=None if greedy else sampling.temperature,
            top_p=None if greedy else sampling.top_p,
            top_k=None if greedy else 0,
            repetition_penalty=1.0,
            pad_token_id=found.tokenizer.pad_token_id,
            eos_token_id=ends,
            stopping_criteria=StoppingCriteriaList([is_stopped]),
            streamer=listener,
        )
    seconds = time.monotonic() - began
    if listener.ids and listener.ids[-1] in ends:
        return "by itself", seconds
    return ("stopped" if stopped() else "at its limit"), seconds


def _room_for_answer(model: Any, prompt: int, wanted: int, talked: bool) -> int:
    """Tokens an answer may have: a model has positions for so many and no more."""
    limit = getattr(model.config, "max_position_embeddings", None)
    if limit is None:
        return wanted
    if prompt >= limit:
        if talked:
            raise SettingsError(
                f"The question takes {prompt:,} tokens, what was said before it among them, and "
                f"this model reads {limit:,}; shorten it."
            )
        raise SettingsError(
            f"The question takes {prompt:,} tokens and this model reads {limit:,}; shorten it."
        )
    return min(wanted, limit - prompt)
