"""What only a GPU can tell of the training path: 16-bit heads, inductor, pinned batches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from playground.config import RunConfig
from playground.events import Facts, Message, Status, Step
from playground.training.chunked import chunked_cross_entropy
from playground.training.loop import train

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use"),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_head_on_the_gpu_has_the_loss_and_gradient_of_exact_logits(dtype: torch.dtype) -> None:
    draw = torch.Generator().manual_seed(0)
    hidden = torch.randn(5000, 64, generator=draw).to("cuda", dtype).requires_grad_()
    weight = torch.randn(50_000, 64, generator=draw).to("cuda", dtype)
    targets = torch.randint(50_000, (5000,), generator=draw).cuda()
    losses = chunked_cross_entropy(hidden, weight, None, targets)
    (losses.sum() * 13).backward()
    exact = hidden.detach().double().requires_grad_()
    wanted = F.cross_entropy(exact @ weight.double().t(), targets, reduction="none")
    (wanted.sum() * 13).backward()
    torch.testing.assert_close(losses.double(), wanted, rtol=1e-5, atol=1e-4)
    error = (hidden.grad.double() - exact.grad).norm() / exact.grad.norm()
    assert error < max(torch.finfo(dtype).eps, 1e-5)


@pytest.mark.parametrize("packing", [False, True])
def test_compiled_and_not_learn_the_same(
    packing: bool, configure: Callable[..., RunConfig], tmp_path: Path
) -> None:
    losses, said = {}, {}
    for compiled in ("off", "auto"):
        config = configure(compile=compiled, max_steps=6, precision="bf16", packing=packing)
        events = list(train(config, folder=tmp_path / compiled))
        assert [e.status for e in events if isinstance(e, Status)] == ["finished"]
        losses[compiled] = [e.loss for e in events if isinstance(e, Step)]
        said[compiled] = next(
            e.environment for e in events if isinstance(e, Facts) and e.environment
        )
        warnings = [e.text for e in events if isinstance(e, Message) and e.level == "warning"]
        assert not [text for text in warnings if "torch.compile" in text], warnings
    assert said["auto"]["compile"] == "blocks compiled (inductor, dynamic lengths)"
    assert said["auto"]["batches"] == "prefetched, pinned"
    assert losses["auto"] == pytest.approx(losses["off"], rel=0.02)
