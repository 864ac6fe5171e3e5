"""What can be asked, and how an answer is drawn; checked before any model is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from playground.config import SettingsError

LONGEST_PROMPT = 100_000  # characters; more is a slip of the clipboard


class Sampling(BaseModel):
    """How the next token is chosen. The defaults take the likeliest one each time.

    temperature: 0 is greedy; above, logits are divided by it and a token is drawn.
    top_p: draw from the likeliest tokens that together have this probability.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    temperature: Annotated[float, Field(ge=0, le=10)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    max_new_tokens: Annotated[int, Field(ge=1, le=8192)] = 128
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 42


_MUST_BE = {
    "temperature": "a number from 0, which always takes the likeliest token, to 10",
    "top_p": "a number above 0 and at most 1",
    "max_new_tokens": "a whole number from 1 to 8192",
    "seed": "a whole number from 0",
}


@dataclass(frozen=True)
class Exchange:
    """A question that was answered; answers: what each column said to it, in their order."""

    prompt: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Conversation:
    """What was said before a question. system: told to all before the first one; may be empty."""

    system: str = ""
    exchanges: tuple[Exchange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.system or self.exchanges)

    def then(self, exchange: Exchange) -> Conversation:
        return replace(self, exchanges=(*self.exchanges, exchange))

    def turns(self, column: int) -> list[dict[str, str]]:
        """The turns that one column reads before the question: its own answers among them."""
        turns = [{"role": "system", "content": self.system}] if self.system else []
        for exchange in self.exchanges:
            turns.append({"role": "user", "content": exchange.prompt})
            turns.append({"role": "assistant", "content": exchange.answers[column]})
        return turns


@dataclass(frozen=True)
class Question:
    """One question to a comparison.

    earlier: the conversation that it goes on with. beside: id of another comparison of the same
        model, whose tuned adapters are asked as well.
    """

    group_id: str
    prompt: str
    sampling: Sampling
    earlier: Conversation = Conversation()
    beside: str | None = None


def parse_sampling(values: Mapping[str, Any]) -> Sampling:
    """Reads what a person typed. Raises SettingsError that names the first value that is wrong."""
    try:
        return Sampling.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise SettingsError(
            f"{name} is {str(first['input'])[:60]!r}; it must be {_MUST_BE[name]}."
        ) from None


def check_prompt(prompt: str) -> str:
    """``prompt``, as typed. Raises SettingsError if there is nothing to ask, or far too much."""
    if not prompt.strip():
        raise SettingsError("The question is empty; type one, or pick an example.")
    if len(prompt) > LONGEST_PROMPT:
        raise SettingsError(
            f"The question has {len(prompt):,} characters; ask in at most {LONGEST_PROMPT:,}."
        )
    return prompt
