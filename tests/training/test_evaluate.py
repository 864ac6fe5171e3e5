"""Held-out loss weighs tokens, not batches; exact match compares what the model really writes."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import pytest
import torch

from playground.data.batches import collate
from playground.data.formats import Sample
from playground.data.tokenise import Example, tokenise
from playground.events import Answer
from playground.precision.convert import convert
from playground.precision.registry import PRECISION_RECIPES
from playground.training.evaluate import HeldOut, exact_match, examples_sha256, held_out_loss
from playground.training.loss import summed_loss
from tests.tiny import tiny_llama, tiny_tokenizer

CPU = torch.device("cpu")


def found(work: Generator[float, None, Any]) -> Any:
    """What an evaluation returns, once it has said all of its progress."""
    shares = []
    while True:
        try:
            shares.append(next(work))
        except StopIteration as done:
            assert shares == sorted(shares) and shares[-1:] in ([], [1.0])
            return done.value


def examples(*pairs: tuple[str, str]) -> list[Example]:
    samples = [
        Sample(({"role": "user", "content": q}, {"role": "assistant", "content": a}))
        for q, a in pairs
    ]
    return tokenise(
        samples, tiny_tokenizer(), max_seq_len=99, learn_from="answers", what="rows"
    ).examples


PAIRS = [("a", "b"), ("what is it?", "this is rather long"), ("cc", "ddd")]


def test_the_loss_is_transformers_own_for_one_row() -> None:
    model = tiny_llama().eval()
    (example,) = examples(PAIRS[1])
    batch = collate([example], 1)
    with torch.no_grad():
        own = model(input_ids=batch.input_ids, labels=batch.labels).loss
        ours = summed_loss(model, batch) / batch.supervised_tokens
    torch.testing.assert_close(ours, own)


def test_padding_and_batching_do_not_show() -> None:
    model = tiny_llama()
    rows = examples(*PAIRS)
    by_size = {
        size: found(held_out_loss(model, rows, batch_size=size, pad_id=1, device=CPU))
        for size in (1, 2, 3)
    }
    assert {f.tokens for f in by_size.values()} == {2 + 20 + 4}
    for size in (2, 3):
        assert by_size[size].loss == pytest.approx(by_size[1].loss, rel=1e-6)


def test_nvfp4_rounds_a_row_by_its_batch_and_the_loss_hardly_shows_it() -> None:
    """What is written beside the recipe: an activation's scale is that of the whole batch."""
    model = tiny_llama()
    convert(model, PRECISION_RECIPES["nvfp4"], CPU)
    rows = examples(*PAIRS)
    losses = [
        found(held_out_loss(model, rows, batch_size=size, pad_id=1, device=CPU)).loss
        for size in (1, 3)
    ]
    assert losses[0] != losses[1]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)


def test_the_gradient_is_that_of_all_logits() -> None:
    model = tiny_llama().requires_grad_(False)
    weight = model.model.layers[0].self_attn.q_proj.weight.requires_grad_()
    batch = collate(examples(*PAIRS), 1)
    summed_loss(model, batch).backward()
    ours, weight.grad = weight.grad, None
    (model(**_inputs(batch), labels=batch.labels).loss * batch.supervised_tokens).backward()
    torch.testing.assert_close(ours, weight.grad, rtol=1e-4, atol=1e-6)


def _inputs(batch):  # type: ignore[no-untyped-def]
    return {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}


def test_the_model_goes_on_training_as_before() -> None:
    model = tiny_llama().train()
    for _ in held_out_loss(model, examples(*PAIRS), batch_size=2, pad_id=1, device=CPU):
        assert model.training and torch.is_grad_enabled()
    assert not model.lm_head._forward_pre_hooks


class Parrot:
    """Writes what it was told to, whatever the prompt."""

    def __init__(self, answers: list[str]) -> None:
        self.answers = answers
        self.training = False

    def eval(self) -> None: ...

    def train(self, mode: bool) -> None: ...

    def generate(self, input_ids: torch.Tensor, max_new_tokens: int, **_: object) -> torch.Tensor:
        tokenizer = tiny_tokenizer()
        written = [tokenizer(a)["input_ids"] for a in self.answers]
        width = max(map(len, written))
        padded = torch.tensor([w + [1] * (width - len(w)) for w in written])
        return torch.cat([input_ids, padded], dim=1)


def test_answers_are_compared_to_the_letter_white_space_aside() -> None:
    rows = examples(("1", "one"), ("22", "two"), ("333", "three"), ("4444", "four"))
    told = [" one\n", "Two", "three<|end|>", "four!"]
    match = found(exact_match(Parrot(told), tiny_tokenizer(), rows, device=CPU))
    assert (match.share, match.rows) == (0.5, 4)
    first, *_, last = match.answers
    assert first == Answer(row=0, prompt="1", reference="one", answer=" one\n") and first.right
    assert last == Answer(row=3, prompt="4444", reference="four", answer="four!") and not last.right


def test_answers_come_in_the_order_of_the_rows() -> None:
    """They are written by length, the shortest prompt first."""
    rows = [*examples(("333", "c"), ("1", "a"), ("22", "b")), Example([1, 2], [1, 2], [], None)]
    match = found(exact_match(Parrot(["a", "b", "c"]), tiny_tokenizer(), rows, device=CPU))
    assert [(a.row, a.prompt, a.answer) for a in match.answers] == [
        (0, "333", "c"),
        (1, "1", "a"),
        (2, "22", "b"),
    ]


def test_an_answer_stops_at_each_mark_that_the_rows_close_with() -> None:
    class Asked(Parrot):
        def generate(self, input_ids: torch.Tensor, **settings: Any) -> torch.Tensor:
            self.stops = settings["eos_token_id"]
            return super().generate(input_ids, **settings)

    tokenizer = tiny_tokenizer()
    start, end = tokenizer.bos_token_id, tokenizer.eos_token_id
    model = Asked(["b"])
    found(
        exact_match(model, tokenizer, [Example([5, 6, start], [5, 6, start], [5], "b")], device=CPU)
    )
    assert model.stops == sorted([start, end])


def test_rows_that_ask_nothing_have_no_exact_match() -> None:
    rows = [Example([1, 2], [1, 2], [], None)]
    match = found(exact_match(Parrot([]), tiny_tokenizer(), rows, device=CPU))
    assert (match.share, match.rows) == (None, 0)


def test_a_model_answers_the_same_alone_and_among_longer_rows() -> None:
    model, tokenizer = tiny_llama().eval(), tiny_tokenizer()
    from playground.training.evaluate import _answers

    rows = examples(*PAIRS)
    together = _answers(model, tokenizer, rows, CPU, lambda: None)
    alone = [_answers(model, tokenizer, [row], CPU, lambda: None)[0] for row in rows]
    shortest = [min(len(a), len(b)) for a, b in zip(together, alone, strict=True)]
    assert all(shortest)
    for a, b, n in zip(together, alone, shortest, strict=True):
        assert a[:n] == b[:n]


def test_the_loss_is_the_mean_of_what_the_rows_cost_in_the_dataset_s_order() -> None:
    """Rows are evaluated in order of length, and each must be found again where it stood."""
    model, rows = tiny_llama(), examples(*PAIRS)
    for size in (1, 2):
        together = found(held_out_loss(model, rows, batch_size=size, pad_id=1, device=CPU))
        assert together.row_tokens == (2, 20, 4)
        assert together.loss == math.fsum(together.row_losses) / sum(together.row_tokens)
        for row, loss in zip(rows, together.row_losses, strict=True):
            with torch.no_grad():
                alone = summed_loss(model.eval(), collate([row], 1))
            assert loss == pytest.approx(float(alone), rel=1e-6)


def test_a_row_whose_loss_is_not_finite_is_not_averaged_away() -> None:
    held_out = HeldOut((1.0, math.nan, 2.0), (1, 1, 1))
    assert math.isnan(held_out.loss)


def test_the_digest_knows_rows_labels_and_their_order() -> None:
    rows = examples(*PAIRS)
    same = examples_sha256(examples(*PAIRS))
    assert examples_sha256(rows) == same
    assert examples_sha256(rows[::-1]) != same
    assert examples_sha256(rows[:2]) != same
    unlearned = [rows[0]._replace(labels=[-100] * len(rows[0].labels)), *rows[1:]]
    assert examples_sha256(unlearned) != same
    # What ends one row must not pass for the start of the next.
    a, b = Example([1, 2], [1, 2], [], None), Example([3], [3], [], None)
    c, d = Example([1], [1], [], None), Example([2, 3], [2, 3], [], None)
    assert examples_sha256([a, b]) != examples_sha256([c, d])
