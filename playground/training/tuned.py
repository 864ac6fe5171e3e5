"""A finished run's model once more: its base in its precision, with the adapter it has learned."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError

from playground.catalog import resolve_model
from playground.config import RunConfig, SettingsError
from playground.data.formats import Message, Sample
from playground.data.template import Chat
from playground.data.tokenise import Example, encode, writing
from playground.events import Facts
from playground.precision.registry import recipe_of
from playground.training.adapter import add_adapter, load_adapter
from playground.training.model import load_base

_REPLY = "."  # what a question is answered with, to see how the template closes a reply


class Tuned(NamedTuple):
    """A model with its trained adapter, and how questions are put to it.

    chat: what its rows were written in; None lays an answer right behind its prompt.
    """

    model: Any
    tokenizer: Any
    chat: Chat | None

    def asked(self, *turns: Message) -> Example:
        """A question as the rows of the run asked theirs, perhaps after earlier turns.

        Of its tokens the prompt's matter, and the one that closes a reply.

        Raises:
            SettingsError: the model's template refuses it.
        """
        *earlier, question = turns
        (alone,) = encode([_sample(question)], self.tokenizer, self.chat, "answers")
        if not earlier:
            return alone.example
        # Some templates rewrite earlier replies: to be read, and not to be learned, they may.
        whole = [_sample(*turns)]
        (encoded,) = encode(whole, self.tokenizer, self.chat, "everything")
        return alone.example._replace(prompt_ids=encoded.example.prompt_ids)


def as_it_ended(config: RunConfig, facts: Facts) -> RunConfig:
    """The configuration that loads the base under which a run's adapter was trained last."""
    if facts.healed_to is None:
        return config
    return config.model_copy(update={"precision": facts.healed_to})


def load_tuned(
    config: RunConfig,
    facts: Facts,
    adapter: Path,
    device: torch.device,
    *,
    self_tests: Path | None = None,
    check: Callable[[], None] = lambda: None,
) -> Tuned:
    """Loads what a run ended with, ready to be asked.

    Args:
        config / facts: the run's.
        adapter: the folder that ``save_adapter`` wrote.
        self_tests: as in ``load_base``.
        check: called between the parts of the work; raises to give up.
    Raises:
        SettingsError: the base cannot be had any more, or the adapter is not one of its layers.
    """
    config = as_it_ended(config, facts)
    base = load_base(
        resolve_model(config.model),
        config,
        recipe_of(config),
        device,
        check=check,
        self_tests=self_tests,
    )
    model = add_adapter(base.model, config.lora, config.training.seed).to(device).eval()
    read_adapter(model, adapter)
    return Tuned(model, base.tokenizer, chat_of(base.tokenizer, facts))


def read_adapter(model: Any, folder: Path) -> None:
    """``load_adapter``, and a sentence without the folder's path where that fails.

    Raises:
        SettingsError: the files are gone, damaged, or another model's.
    """
    try:
        load_adapter(model, folder)
    except (ValueError, OSError, SafetensorError) as error:
        why = error if isinstance(error, ValueError) else type(error).__name__
        raise SettingsError(
            f"The adapter of this run cannot be read ({why}); train it again."
        ) from None


def chat_of(tokenizer: Any, facts: Facts) -> Chat | None:
    """What a run's rows were written in; of runs that did not keep it, the model's own template."""
    if facts.template == "none":
        return None
    question = {"role": "user", "content": ""}
    chat, _ = writing([_sample(question)._replace(chat=facts.template == "plain")], tokenizer)
    return chat


def _sample(*turns: Message) -> Sample:
    reply = {"role": "assistant", "content": _REPLY}
    return Sample((*turns, reply), chat=True, place="The question")
