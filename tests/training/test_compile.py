"""Compiled or not, the numbers are the same; where compiling fails, the run goes on and says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.utils import counters

from playground.config import LoraSettings, RunConfig, TrainingSettings
from playground.data.batches import collate
from playground.events import Event, Facts, Message, Status, Step
from playground.precision.convert import convert
from playground.precision.registry import PRECISION_RECIPES
from playground.presets import defaults
from playground.training import compile as compiling
from playground.training.adapter import add_adapter, trainable
from playground.training.compile import compile_blocks, uncompiled
from playground.training.loop import train
from playground.training.loss import choose_loss_kernel, summed_loss
from tests.tiny import tiny_llama
from tests.training.test_loss import rows

CPU = torch.device("cpu")
Configure = Callable[..., RunConfig]


@pytest.fixture(autouse=True)
def afresh() -> Any:
    torch.compiler.reset()
    counters.clear()
    yield
    torch.compiler.reset()


@pytest.fixture
def compiles(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """``compiles("aot_eager")``: on a CPU too, by that backend."""
    return lambda backend: monkeypatch.setitem(compiling.BACKENDS, "cpu", backend)


def settings(**changes: Any) -> TrainingSettings:
    return TrainingSettings(**(defaults()["training"] | changes))


def adapted(precision: str, *, checkpointed: bool = False, layers: int = 2) -> Any:
    model = tiny_llama(num_hidden_layers=layers)
    convert(model, PRECISION_RECIPES[precision], CPU)
    if checkpointed:
        model.activation_checkpointing_enable(
            activation_checkpointing_kwargs={"use_reentrant": False}
        )
        model.enable_input_require_grads()
    few = {"target_modules": ["q_proj", "down_proj"]}  # each takes its time to trace
    model = add_adapter(model, LoraSettings(**(defaults()["lora"] | few)), seed=0).train()
    for name, parameter in trainable(model).items():
        if ".lora_B." in name:
            parameter.data.normal_(std=0.02)
    choose_loss_kernel(model)
    return model


LENGTHS = [(9, 30, 17, 22), (33,), (12, 12)]


def passes(
    model: Any, batches: list[tuple[int, ...]] = LENGTHS
) -> tuple[list[float], list[Tensor]]:
    losses, gradients = [], []
    for lengths in batches:
        loss = summed_loss(model, collate(rows(*lengths), 1))
        loss.backward()
        losses.append(loss.item())
        gradients.append(torch.cat([p.grad.flatten() for p in trainable(model).values()]))
        model.zero_grad()
    return losses, gradients


@pytest.mark.slow
@pytest.mark.parametrize(
    ("precision", "checkpointed", "backend"),
    [("nvfp4", False, "eager"), ("fp16", True, "aot_eager")],
)
def test_one_graph_serves_all_lengths_and_changes_nothing(
    precision: str, checkpointed: bool, backend: str, compiles: Callable[[Any], None]
) -> None:
    compiles(backend)
    model = adapted(precision, checkpointed=checkpointed)
    expected = passes(model)
    before = torch.get_rng_state()
    said = compile_blocks(model, settings(), CPU, collate(rows(9, 30), 1))
    assert said == f"blocks compiled ({backend}, dynamic lengths)"
    assert torch.equal(torch.get_rng_state(), before)
    assert all(p.grad is None for p in model.parameters())
    losses, gradients = passes(model)
    assert losses == pytest.approx(expected[0], rel=1e-5)
    torch.testing.assert_close(gradients, expected[1], rtol=1e-4, atol=1e-6)
    assert not counters["graph_break"]
    # The first block reads what needs no gradient, one row is a case of its own: never more.
    made = counters["stats"]["unique_graphs"]
    assert 0 < made <= 4
    with uncompiled(), torch.no_grad():  # other shapes, a cache: nothing is compiled for them
        model.eval()(input_ids=torch.ones(3, 5, dtype=torch.int64), use_cache=True)
    assert counters["stats"]["unique_graphs"] == made


def test_each_pass_of_a_compiled_model_rounds_with_other_draws(
    compiles: Callable[[Any], None],
) -> None:
    """A seed that was baked into the graph would round every step alike."""
    compiles("aot_eager")
    model = adapted("nvfp4-2d", layers=1)
    compile_blocks(model, settings(), CPU, collate(rows(9, 30), 1))
    (first,), (second,) = passes(model, [(9, 30)])[1], passes(model, [(9, 30)])[1]
    assert not torch.equal(first, second)
    torch.testing.assert_close(first, second, rtol=0.5, atol=first.abs().max().item() * 0.5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"compile": "off"}, "off: as set"), ({"compile": "auto"}, "off: not used on a CPU")],
)
def test_off_says_why(changes: dict[str, Any], said: str) -> None:
    model = adapted("fp32")
    assert compile_blocks(model, settings(**changes), CPU, collate(rows(9), 1)) == said


def failing(graph: Any, inputs: Any) -> Any:
    raise RuntimeError(f"no C compiler in {Path.home()}/bin.\nAnd a long story about it")


def failing_when_run(graph: Any, inputs: Any) -> Any:
    def call(*_: Any) -> Any:
        raise RuntimeError("CUDA error: no kernel image")

    return call


def wrong(graph: Any, inputs: Any) -> Any:
    return lambda *given: tuple(
        out.flip(-1) if isinstance(out, Tensor) and out.is_floating_point() else out
        for out in graph(*given)
    )


@pytest.mark.parametrize(
    ("backend", "why"),
    [
        (failing, "off: RuntimeError: no C compiler in ~/bin"),
        (failing_when_run, "off: RuntimeError: CUDA error: no kernel image"),
        (wrong, "off: the compiled model's first loss is "),
    ],
)
def test_where_compiling_fails_the_model_is_as_before(
    backend: Any, why: str, compiles: Callable[[Any], None]
) -> None:
    compiles(backend)
    model = adapted("fp32", layers=1)
    expected = passes(model)
    said = compile_blocks(model, settings(), CPU, collate(rows(9, 30), 1))
    assert said.startswith(why) and "\n" not in said
    assert passes(model)[0] == expected[0]


def test_a_run_whose_compiler_fails_goes_on_without_and_says_so(
    compiles: Callable[[Any], None], configure: Configure, tmp_path: Path
) -> None:
    compiles(failing)
    events = list(train(configure(max_steps=1), folder=tmp_path / "run"))
    assert [e.status for e in events if isinstance(e, Status)] == ["finished"]
    (warning,) = (e for e in events if isinstance(e, Message) and e.level == "warning")
    why = "off: RuntimeError: no C compiler in ~/bin"
    assert warning.text == f"torch.compile is {why}. The run goes on without."
    assert _environment(events)["compile"] == why


def test_a_compiled_run_learns_the_same(
    compiles: Callable[[Any], None], configure: Configure, tmp_path: Path
) -> None:
    some = {"target_modules": ["q_proj"], "eval_every": 1, "exact_match_rows": 2}
    config = configure(max_steps=2, lora_dropout=0.1, **some)
    plain = list(train(config, folder=tmp_path / "plain"))
    compiles("eager")
    events = list(train(config, folder=tmp_path / "compiled"))
    assert _environment(plain)["compile"] == "off: not used on a CPU"
    assert _environment(events)["compile"] == "blocks compiled (eager, dynamic lengths)"
    assert _losses(events) == pytest.approx(_losses(plain), rel=1e-5)


def _losses(events: list[Event]) -> list[float]:
    return [e.loss for e in events if isinstance(e, Step)]


def _environment(events: list[Event]) -> dict[str, Any]:
    return next(e.environment for e in events if isinstance(e, Facts) and e.environment)
