"""The options of the low-precision formats, from a configuration to what a run did with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from playground.config import RunConfig, SettingsError
from playground.events import Eval, Facts, Status
from playground.training.loop import train

Configure = Callable[..., RunConfig]


def run(config: RunConfig, folder: Path) -> tuple[list[float], dict[str, Any], Status]:
    """Held-out losses, all facts together, and how it ended."""
    events = list(train(config, folder=folder))
    known: dict[str, Any] = {}
    for event in events:
        if isinstance(event, Facts):
            known |= event.model_dump(exclude_none=True)
    return [e.loss for e in events if isinstance(e, Eval)], known, events[-1]


@pytest.mark.parametrize(
    ("precision", "option"),
    [
        ("nvfp4", {"keep_last_blocks": 1}),
        ("nvfp4", {"keep_layers": ["down_proj"]}),
        ("nvfp4", {"activation_scale_rule": "four_over_six"}),
        ("nvfp4", {"weight_scale_rule": "amax"}),
        ("nvfp4-2d", {"gradient_rounding": "nearest"}),
        ("fp8", {"fp8_gradients": "e4m3"}),
        ("nf4", {"keep_last_blocks": 1}),
    ],
    ids=str,
)
def test_an_option_changes_the_run(
    precision: str, option: dict[str, Any], configure: Configure, tmp_path: Path
) -> None:
    plain, before, _ = run(configure(precision=precision, max_steps=3), tmp_path / "plain")
    config = configure(precision=precision, max_steps=3, **option)
    changed, after, status = run(config, tmp_path / "changed")
    assert status.status == "finished"
    assert changed[-1] != plain[-1]
    assert before["adapter_init_sha256"] == after["adapter_init_sha256"]
    assert after["adapted_modules"] == 14  # what is kept in 16 bits has its adapter all the same
    is_kept = any(name.startswith("keep") for name in option)
    assert (after["weights_mib"] > before["weights_mib"]) is is_kept
    assert (after["coverage"]["converted"] < before["coverage"]["converted"]) is is_kept


def test_what_cannot_be_kept_is_refused_before_training(
    configure: Configure, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="keep_last_blocks is 2"):
        run(configure(precision="nvfp4", keep_last_blocks=2), tmp_path)
