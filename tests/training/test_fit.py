"""What a run will take is told before: held to what it then takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from kernels import quantize_fp8, quantize_mxfp4, quantize_nf4, quantize_nvfp4
from playground.catalog.models import TINY, ModelEntry
from playground.config import PRECISIONS, RunConfig, SettingsError
from playground.data.batches import collate
from playground.data.tokenise import Example
from playground.precision.convert import convert
from playground.precision.registry import recipe_of
from playground.training import fit
from playground.training.adapter import with_adapter
from playground.training.fit import Shape, estimate, largest_shape
from playground.training.loss import choose_loss_kernel, summed_loss
from playground.training.meters import MIB, CountedMemory, stored_bytes, weigh
from playground.training.optimise import Optimiser
from playground.training.pretrained import load_checkpoint, load_configuration

CPU = torch.device("cpu")
SHAPE = Shape(sequences=3, tokens=40, supervised=3 * 39)


def measured(config: RunConfig) -> dict[str, float]:
    """One step of the bundled model on a batch of ``SHAPE``, with the meters of a run."""
    model = load_checkpoint(TINY, config.data.max_seq_len, torch.float32).model
    recipe = recipe_of(config)
    convert(model, recipe, CPU)
    model = with_adapter(config, model, CPU)
    choose_loss_kernel(model)
    memory, weights = CountedMemory(model), weigh(model)
    adapter = [p for p in model.parameters() if p.requires_grad]
    optimiser = Optimiser(adapter, config.training, scales_loss=recipe.scales_loss, device=CPU)
    ids = list(range(SHAPE.tokens))
    batch = collate([Example(ids, ids, [], None)] * SHAPE.sequences, pad_id=0)

    def watched_loss(batch):  # type: ignore[no-untyped-def]
        with memory.watch(batch):
            return summed_loss(model, batch)

    optimiser.step([batch], watched_loss)
    memory.recount(optimiser.state_tensors())
    facts = memory.facts()
    return {
        "parameters": weights.parameters,
        "weights_mib": weights.weights_mib,
        "converted_weights_mib": weights.converted_weights_mib,
        "adapters_mib": weights.adapters_mib,
        "optimizer_mib": stored_bytes(optimiser.state_tensors()) / MIB,
        "gradients_mib": facts.gradients_mib,
        "activations_mib": facts.activations_mib,
        "peak_mib": facts.peak_mib,
    }


@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_estimate_is_what_the_bundled_model_then_takes(
    precision: str, checkpointing: bool, configure: Callable[..., RunConfig]
) -> None:
    options = dict(precision=precision, gradient_checkpointing=checkpointing)
    config = configure(model="tiny", weight_scale_rule="amax", **options)  # packs sooner
    told, taken = estimate(config, SHAPE), measured(config)
    for part, figure in taken.items():
        assert getattr(told, part) == pytest.approx(figure), part


def test_kept_blocks_and_named_targets_count(configure: Callable[..., RunConfig]) -> None:
    options = dict(precision="nvfp4", keep_last_blocks=1, target_modules=["q_proj", "v_proj"])
    config = configure(model="tiny", **options)
    told, taken = estimate(config, SHAPE), measured(config)
    assert told.weights_mib == pytest.approx(taken["weights_mib"])
    assert told.adapters_mib == pytest.approx(taken["adapters_mib"])
    plain = estimate(configure(model="tiny", precision="nvfp4"), SHAPE)
    assert told.weights_mib > plain.weights_mib and told.adapters_mib < plain.adapters_mib


def test_no_more_than_max_seq_len_can_come(configure: Callable[..., RunConfig]) -> None:
    config = configure(micro_batch_size=6, max_seq_len=32)
    assert largest_shape(config) == (6, 32, 6 * 31)
    smaller = estimate(config, Shape(3, 32, 93)).activations_mib
    assert estimate(config).activations_mib == pytest.approx(2 * smaller, rel=0.05)


def test_on_a_gpu_everything_but_the_adapter_is_in_the_compute_type(
    configure: Callable[..., RunConfig],
) -> None:
    config = configure(model="tiny", precision="bf16")
    here, there = estimate(config, SHAPE), estimate(config, SHAPE, on_gpu=True)
    assert there.weights_mib < here.weights_mib  # the embedding
    assert there.activations_mib < here.activations_mib
    assert there.adapters_mib == here.adapters_mib


def test_fp4_tensor_cores_keep_their_scales_tiled_as_well(
    configure: Callable[..., RunConfig],
) -> None:
    config = configure(model="tiny", precision="nvfp4")
    plain = estimate(config, SHAPE, on_gpu=True)
    tiled = estimate(config, SHAPE, on_gpu=True, fp4_native=True)
    assert 1 < tiled.converted_weights_mib / plain.converted_weights_mib < 1.2


@pytest.mark.parametrize(("own", "wider"), [("nvfp4", "bf16"), ("mxfp4", "nvfp4")])
def test_a_run_that_heals_is_counted_in_the_wider_format(
    own: str, wider: str, configure: Callable[..., RunConfig]
) -> None:
    heals = estimate(configure(precision=own, heal_after=0.5, heal_to=wider), SHAPE)
    assert heals == estimate(configure(precision=wider), SHAPE) and heals.precision == wider


def test_what_the_run_would_refuse_is_refused(
    configure: Callable[..., RunConfig], tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="keep_last_blocks is 99"):
        estimate(configure(precision="nvfp4", keep_last_blocks=99), SHAPE)
    with pytest.raises(SettingsError, match="reads at most"):
        estimate(configure(max_seq_len=100_000), SHAPE)


@pytest.mark.parametrize("quantize", [quantize_nvfp4, quantize_mxfp4, quantize_nf4, quantize_fp8])
def test_a_shape_is_packed_into_shapes(quantize: Callable) -> None:
    parts = vars(quantize(torch.zeros(32, 64)))
    shapes = vars(quantize(torch.empty(32, 64, device="meta")))
    for name, part in parts.items():
        if isinstance(part, torch.Tensor):
            assert shapes[name].is_meta
            assert (shapes[name].shape, shapes[name].dtype) == (part.shape, part.dtype)


def test_the_child_reads_a_configuration_once_and_keeps_it(
    tmp_path: Path, configure: Callable[..., RunConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path | None] = []

    def noted(entry: ModelEntry, longest: int, keep: Path | None = None) -> Any:
        read.append(keep)
        return load_configuration(entry, longest, keep)

    monkeypatch.setattr(fit, "load_configuration", noted)
    configs = [configure(precision=name).model_dump(mode="json") for name in ("bf16", "nvfp4")]
    request = {"configs": configs, "on_gpu": False, "fp4_native": False}
    report = fit._report(request | {"home": str(tmp_path)})
    assert [found["precision"] for found in report["estimates"]] == ["bf16", "nvfp4"]
    assert read == [tmp_path / "runs" / "parsed"]
