"""A sample as the text that the model reads, and which characters of it are learned.

Whose words are whose is told by the template's own ``{% generation %}`` marks where it has them.
Otherwise by rendering the conversation up to each reply, without it and with it: what the second
adds to the first is the reply, as long as the whole begins with both. A template of which neither
holds is refused.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any, NamedTuple

from playground.config import SettingsError
from playground.data.formats import Message, Sample
from playground.data.spelled import Veiled, writes_marks

_PLAIN = (
    "{% for message in messages %}"
    "{{ message['role'] | capitalize }}: {{ message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{{ '\\n\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
_MARKED = re.compile(r"\{%-?\s*generation\s*-?%\}")

_DAY = datetime(2025, 1, 1)
_ASKS_THE_DAY = re.compile(r"""strftime_now\(\s*(['"])(.*?)\1""")

_ANY = "0123456789abcdef"
"""A reply that no template writes by itself."""

Span = tuple[int, int]


class Layout(NamedTuple):
    """A sample as text, and the (start, end) characters of each part that is learned, in order.

    ``question`` is what the last reply answers, in the row's own words: ``prompt`` without the
    template. Where more was said than one user turn, each begins with who said it.
    ``words`` and ``prompt_words`` are where ``text`` and ``prompt`` spell a mark that is none, for
    a turn says it (see ``spelled``); ``marks`` says that a row without a template around it holds
    one, which stands for its token.
    """

    text: str
    learned: list[Span]
    ends: bool  # the text closes with an end mark of the model
    prompt: str
    answer: str | None
    question: str = ""
    words: tuple[Span, ...] = ()
    prompt_words: tuple[Span, ...] = ()
    marks: bool = False
    place: str = ""


class Chat(NamedTuple):
    """A tokenizer, the template it writes conversations in, and the marks that may end a turn."""

    tokenizer: Any
    template: str
    marks: tuple[str, ...]

    @classmethod
    def of(cls, tokenizer: Any, template: str) -> Chat:
        return cls(tokenizer, _on_one_day(template), marks_of(tokenizer))


def marks_of(tokenizer: Any) -> tuple[str, ...]:
    """How a tokenizer's special tokens are written, the longest first."""
    special = (token.content for token in tokenizer.added_tokens_decoder.values() if token.special)
    marks = {mark for mark in (*tokenizer.all_special_tokens, *special) if mark.strip()}
    return tuple(sorted(marks, key=lambda mark: (-len(mark), mark)))


def plain_template(tokenizer: Any) -> str:
    """A template for a model that has none: who speaks, a colon, and an end mark to each reply."""
    begins = tokenizer("")["input_ids"][:1] == [tokenizer.bos_token_id]
    return "{{ bos_token }}" * begins + _PLAIN


def layout_of(
    sample: Sample, chat: Chat | None, learn_from: str, marks: tuple[str, ...] = ()
) -> Layout:
    """How the model reads a sample.

    Args:
        chat: None writes an answer right after its prompt.
        learn_from: ``answers`` or ``everything``.
        marks: as ``marks_of`` tells them.
    Raises:
        SettingsError: the template refuses the conversation, leaves out a part of it, or does not
            tell the replies apart.
    """
    everything = learn_from == "everything"
    if not sample.messages:
        whole = [(0, len(sample.text))]
        has_marks = writes_marks(sample.text, marks)
        return Layout(sample.text, whole, False, "", None, marks=has_marks, place=sample.place)
    if chat is None:
        question, answer = (message["content"] for message in sample.messages)
        text = question + answer
        learned = [(len(question), len(text))]
        layout = Layout(text, learned, False, question, answer, question)
        layout = layout._replace(marks=writes_marks(text, marks))
    elif any(writes_marks(turn["content"], marks) for turn in sample.messages):
        layout = _unveiled(sample, chat, everything)
    else:
        layout = _Conversation(sample, chat, everything).layout()
    if everything:
        layout = layout._replace(learned=[(0, len(layout.text))])
    return layout._replace(place=sample.place)


def _unveiled(sample: Sample, chat: Chat, everything: bool) -> Layout:
    """The layout of a conversation in which a turn spells a mark."""
    veiled = Veiled(sample, chat.marks)
    layout = _Conversation(veiled.sample, chat, everything).layout()
    text, words = veiled.lifted(layout.text)
    prompt, prompt_words = veiled.lifted(layout.prompt)
    if not _Conversation(sample, chat, everything).begins(text):
        raise SettingsError(
            f"{sample.place}: a turn holds words that are a mark of this model, and its chat "
            "template acts on them; write them another way, or remove the row."
        )
    told: dict[str, Any] = {"text": text, "prompt": prompt}
    if layout.answer is not None:
        told["answer"] = veiled.lifted(layout.answer)[0]
        told["question"] = veiled.lifted(layout.question)[0]
    return layout._replace(**told, words=words, prompt_words=prompt_words)


class _Conversation:
    """One conversation under one template."""

    def __init__(self, sample: Sample, chat: Chat, everything: bool) -> None:
        self._turns, self._place = sample.messages, sample.place
        self._chat, self._everything = chat, everything
        self._replies = [i for i, turn in enumerate(self._turns) if turn["role"] == "assistant"]

    def layout(self) -> Layout:
        text = self._render(self._turns)
        self._refuse_left_out(text)
        learned = self._marked(text) or self._differences(text)
        prompt, answer, question = "", None, ""
        if self._replies:
            last = self._replies[-1]
            prompt = self._before(last)
            answer = self._turns[last]["content"]
            question = _in_words(self._turns[:last])
        marks = self._chat.marks
        learned = [(start, _beyond_mark(text, end, marks)) for start, end in learned]
        ends = not learned or text[: learned[-1][1]].endswith(marks)
        text = text if ends else text[: learned[-1][1]]
        return Layout(text, learned, ends, prompt, answer, question)

    def begins(self, text: str) -> bool:
        """Whether the conversation as text begins so."""
        return self._render(self._turns).startswith(text)

    def _marked(self, text: str) -> list[Span]:
        """The replies as the template marks them; none if it does not mark each."""
        if not _MARKED.search(self._chat.template):
            return []
        from transformers.utils.chat_template_utils import render_jinja_template

        _, spans = render_jinja_template(
            conversations=[list(self._turns)],
            chat_template=self._chat.template,
            return_assistant_tokens_mask=True,
            **self._chat.tokenizer.special_tokens_map,
        )
        replies = [self._turns[i]["content"] for i in self._replies]
        if len(spans[0]) != len(replies):
            return []
        each = zip(spans[0], replies, strict=True)
        held = all(_holds(text[start:end], reply) for (start, end), reply in each)
        return [tuple(span) for span in spans[0]] if held else []

    def _differences(self, text: str) -> list[Span]:
        """The replies as what each adds to the text up to it."""
        learned = []
        for i in self._replies:
            prompt = self._before(i)
            last = i == len(self._turns) - 1
            upto = text if last else self._render(self._turns[: i + 1])
            if upto.startswith(prompt) and text.startswith(upto):
                # What the template puts between the end mark and the next turn is not learned;
                # white space at the end of the reply itself is.
                reply = self._turns[i]["content"]
                at = upto.find(reply, len(prompt))
                end = max(len(upto.rstrip()), at + len(reply) if at >= 0 else 0)
                learned.append((len(prompt), end))
            elif not self._everything:
                raise SettingsError(
                    f"{self._place}: this model's chat template rewrites earlier turns, so its "
                    "replies cannot be told apart; set learn_from to everything."
                )
        return learned

    def _before(self, i: int) -> str:
        """What the model has read when it is to give reply ``i``."""
        if i:
            return self._render(self._turns[:i], ask=True)
        # No template takes no turns, so what stands before any first reply is looked at.
        return self._render(({"role": "assistant", "content": _ANY},)).partition(_ANY)[0]

    def _render(self, turns: tuple[Message, ...], *, ask: bool = False) -> str:
        try:
            return self._chat.tokenizer.apply_chat_template(
                list(turns),
                chat_template=self._chat.template,
                tokenize=False,
                add_generation_prompt=ask,
            )
        except Exception as error:
            # A template may raise anything its author chose to.
            raise SettingsError(
                f"{self._place}: this model's chat template refuses the conversation ({error}); "
                f"{self._remedy()}, or pick another model."
            ) from error

    def _remedy(self) -> str:
        roles = [turn["role"] for turn in self._turns]
        if "system" in roles:
            return "put the system turn's words into the first user turn"
        odd = next((role for role in roles if role not in ("user", "assistant")), None)
        if odd is not None:
            return f"remove the turns of the role '{odd}'"
        return "let user and assistant take turns, the user first"

    def _refuse_left_out(self, text: str) -> None:
        for turn in self._turns:
            role = turn["role"]
            # A reply that is rewritten is another matter, and may be learned whole.
            if not (role == "assistant" and self._everything) and not _holds(text, turn["content"]):
                raise SettingsError(
                    f"{self._place}: this model's chat template leaves out words of the role "
                    f"'{role}'; {self._remedy()}, or pick another model."
                )


def _in_words(turns: tuple[Message, ...]) -> str:
    if [turn["role"] for turn in turns] == ["user"]:
        return turns[0]["content"]
    return "\n\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)


def _on_one_day(template: str) -> str:
    """A template that writes the day, as one that always writes the same: else the same rows would
    be other tokens tomorrow, and in the run of a comparison that starts after midnight."""
    forms = {found[2] for found in _ASKS_THE_DAY.finditer(template)}
    if not forms:
        return template
    days = {form: _DAY.strftime(form) for form in sorted(forms)}
    said = "".join(
        f"{{% if form == {json.dumps(form)} %}}{{{{ {json.dumps(day)} }}}}{{% endif %}}"
        for form, day in days.items()
    )
    return f"{{% macro strftime_now(form) %}}{said}{{% endmacro %}}{template}"


def _beyond_mark(text: str, end: int, marks: tuple[str, ...]) -> int:
    """``end``, or the end of the mark that follows there: the model must learn to stop."""
    if text[:end].endswith(marks):
        return end
    mark = next((mark for mark in marks if text.startswith(mark, end)), "")
    return end + len(mark)


def _holds(text: str, words: str) -> bool:
    """Whether the words stand in the text, as they are or as JSON, white space aside."""
    if words in text:
        return True
    squeezed = _squeezed(text)
    as_json = json.dumps(words, ensure_ascii=False)[1:-1]
    return _squeezed(words) in squeezed or _squeezed(as_json) in squeezed


def _squeezed(text: str) -> str:
    return "".join(text.split())
