"""How much memory a run will take, told without loading or computing anything.

A twin of the run is built of fake tensors, which have a shape and a dtype and no memory: the model
from its configuration alone, put into its precision, given its adapter, and sent through one
forward pass. The code is the run's own and the counting is ``meters.CountedMemory``'s, so the
figures mean what a run's measured ones do.

    python -m playground.training.fit REQUEST --json REPORT

``playground/fit.py`` writes the request and reads the report; it has no torch.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from kernels.format import swizzle_scales
from playground.catalog import ModelEntry, resolve_model
from playground.catalog.architecture import architecture_file
from playground.config import RunConfig, SettingsError, parse_config
from playground.data.batches import MicroBatch
from playground.precision.convert import convert
from playground.precision.fp4 import FP4Linear
from playground.precision.registry import recipe_of
from playground.precision.sixteen_bit import SixteenBitLinear
from playground.training.adapter import trainable, with_adapter
from playground.training.chunked import LOGITS_BYTES
from playground.training.in_gguf import can_leave
from playground.training.loss import CHUNKED, SELECTED, summed_loss
from playground.training.meters import MIB, CountedMemory, Saved, WeightFacts, stored_bytes, weigh
from playground.training.parsed import of_home
from playground.training.pretrained import empty_model, load_configuration
from playground.training.repeated import alike_computed_once

_META = torch.device("meta")


class Shape(NamedTuple):
    """Of the largest micro-batch: sequences, tokens in each, and how many tokens are learned."""

    sequences: int
    tokens: int
    supervised: int


@dataclass(frozen=True)
class Estimate:
    """Memory that a run will take, in MiB.

    Attributes:
        precision: whose base it is; ``heal_to`` where the run heals, for the wider base is larger.
        weights_mib / converted_weights_mib / adapters_mib: at rest, as ``weigh`` counts them.
        optimizer_mib / gradients_mib: AdamW's moments and counters; the adapter's gradients.
        activations_mib: what the forward pass of the largest micro-batch saves for the backward.
        peak_mib: the sum of them, which is what ``CountedMemory`` calls the peak.
        work_mib: in use within one operation beside that: a chunk of logits with its product, and
            the largest weight decoded.
        loading_mib: the most of the base while it is read: rounded Linear by Linear, with the
            largest of them in floats beside; a few kinds of GGUF come whole and in floats.
    """

    precision: str
    parameters: int
    weights_mib: float
    converted_weights_mib: float
    adapters_mib: float
    optimizer_mib: float
    gradients_mib: float
    activations_mib: float
    peak_mib: float
    work_mib: float
    loading_mib: float


def largest_shape(config: RunConfig) -> Shape:
    """The largest micro-batch that the settings allow: every row as long as ``max_seq_len``."""
    sequences, tokens = config.training.micro_batch_size, config.data.max_seq_len
    return Shape(sequences, tokens, sequences * (tokens - 1))


def estimate(
    config: RunConfig,
    shape: Shape | None = None,
    *,
    published: Any = None,
    on_gpu: bool = False,
    fp4_native: bool = False,
) -> Estimate:
    """What a run of ``config`` will take.

    On a GPU it is what an eager run takes; a compiled one saves less for its backward pass.

    Args:
        shape: of the largest micro-batch; None takes ``largest_shape``.
        published: the model's configuration, of transformers; None looks it up.
        on_gpu: the run computes in the precision's compute type, and in fp32 otherwise.
        fp4_native: the GPU multiplies in FP4, for which block scales are kept a second time, tiled.
    Raises:
        SettingsError: the model or an option cannot be used; as the run itself would say.
    """
    if config.first_healed_step is not None:
        # Not with_precision: this is no run of its own, and nothing is wider than what heals it.
        config = config.model_copy(update={"precision": config.quantization.heal_to})
    shape = shape or largest_shape(config)
    twin = _twin(config, published or _published(config), on_gpu, fp4_native)
    model = twin.model
    # Seeds of stochastic rounding are no fakes.
    with FakeTensorMode(allow_non_fake_inputs=True), _experts_by_shape():
        _make_fake(model)
        _choose_loss_kernel(model)
        memory = CountedMemory(model)
        batch = _batch(shape, config.data.packing)
        unread = _positions_unread(config.data.packing)
        with unread, memory.watch(batch) as saved, alike_computed_once(model, saved):
            loss = summed_loss(model, batch)
        del loss
        weights, facts = twin.weights, memory.facts()
        adapter = trainable(model).values()
        # Two moments in the adapter's dtype, and a step counter in fp32 for each matrix.
        optimizer = (2 * stored_bytes(adapter) + 4 * len(adapter)) / MIB
        kind = "cuda" if on_gpu else "cpu"
        logits = _logits_bytes(model, shape, kind)
    return Estimate(
        precision=config.precision,
        parameters=weights.parameters,
        weights_mib=weights.weights_mib,
        converted_weights_mib=weights.converted_weights_mib,
        adapters_mib=weights.adapters_mib,
        optimizer_mib=optimizer,
        gradients_mib=facts.gradients_mib,
        activations_mib=facts.activations_mib,
        peak_mib=facts.peak_mib + optimizer,
        work_mib=(2 * logits + twin.largest) / MIB,
        loading_mib=twin.loading / MIB,
    )


def at_rest(
    config: RunConfig, published: Any = None, *, on_gpu: bool = False, fp4_native: bool = False
) -> WeightFacts:
    """What weights and adapter of ``config`` occupy, before any healing. As ``estimate``."""
    return _twin(config, published or _published(config), on_gpu, fp4_native).weights


class _Twin(NamedTuple):
    """A run's model as shapes: on the meta device, in its precision, with its adapter.

    loading / largest: bytes of the base while it is read, and of its largest matrix in floats.
    """

    model: Any
    weights: WeightFacts
    loading: int
    largest: int


def _twin(config: RunConfig, published: Any, on_gpu: bool, fp4_native: bool) -> _Twin:
    recipe = recipe_of(config)
    compute = recipe.compute_dtype if on_gpu else torch.float32
    entry = resolve_model(config.model)
    model = empty_model(entry, published, compute)
    loading = stored_bytes([*model.parameters(), *model.buffers()])
    largest = compute.itemsize * max(
        (p.numel() for p in model.parameters() if p.dim() == 2), default=0
    )
    convert(model, recipe, _META)
    if on_gpu:
        _as_on_a_gpu(model, fp4_native)
    if not entry.gguf_file or can_leave(entry.path / entry.gguf_file):
        loading = stored_bytes([*model.parameters(), *model.buffers()]) + 2 * largest
    model = with_adapter(config, model, _META)
    return _Twin(model, weigh(model), loading, largest)


def _published(config: RunConfig, keep: Path | None = None) -> Any:
    return load_configuration(_at_hand(resolve_model(config.model)), config.data.max_seq_len, keep)


def _at_hand(entry: ModelEntry) -> ModelEntry:
    """The same model as a file of this machine says that it is built; the hub is asked last."""
    file = architecture_file(entry)
    return entry if entry.path or file is None else entry.changed(path=file, hub_id=None)


def _make_fake(model: nn.Module) -> None:
    """Meta tensors become fake ones of a CPU: attention then takes the kernel it takes there, which
    saves no matrix of tokens by tokens. To be called within a FakeTensorMode.
    """
    made: dict[int, torch.Tensor] = {}
    for module in model.modules():
        for tensors in (module._parameters, module._buffers):
            for name, old in tensors.items():
                if old is None:
                    continue
                if id(old) not in made:  # a tied matrix stays one
                    made[id(old)] = _fake_like(old)
                tensors[name] = made[id(old)]


def _fake_like(tensor: torch.Tensor) -> torch.Tensor:
    fake = torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu")
    if isinstance(tensor, nn.Parameter):
        return nn.Parameter(fake, requires_grad=tensor.requires_grad)
    return fake


def _as_on_a_gpu(model: nn.Module, fp4_native: bool) -> None:
    """What the layers keep and return there, though the tensors are a CPU's to torch."""
    for layer in model.modules():
        if isinstance(layer, SixteenBitLinear):
            layer.emulated = False
        elif isinstance(layer, FP4Linear) and fp4_native and layer.recipe.rounds_activations:
            layer.tiled_scales = swizzle_scales(layer.block_scales)


def _choose_loss_kernel(model: Any) -> None:
    """As ``choose_loss_kernel``, which compares values: here the head's output has to be the very
    tensor that the model returns."""
    head = model.get_output_embeddings()
    made: list[torch.Tensor] = []
    hook = head.register_forward_hook(lambda head, inputs, out: made.append(out))
    try:
        with torch.no_grad(), alike_computed_once(model, Saved([])):
            ids = torch.zeros(1, 2, dtype=torch.int64)
            logits = model(input_ids=ids, use_cache=False).logits
    finally:
        hook.remove()
    plain = type(head) is nn.Linear and not any(p.requires_grad for p in head.parameters())
    model.loss_kernel = CHUNKED if plain and logits is made[-1] else SELECTED


def _batch(shape: Shape, packed: bool) -> MicroBatch:
    """Of zeros: no value is ever looked at."""
    size = (shape.sequences, shape.tokens)
    ids = torch.zeros(size, dtype=torch.int64)
    learned = torch.zeros(2, shape.supervised, dtype=torch.int64)
    positions = torch.arange(shape.tokens).expand(size) if packed else None
    return MicroBatch(ids, ids, ids, positions, learned)


@contextmanager
def _positions_unread(packed: bool) -> Iterator[None]:
    """transformers reads from the positions whether rows are packed. Of fake ones it assumes that
    they are, and builds a mask of tokens by tokens that a run with a row a sequence goes without.
    """
    from transformers import masking_utils

    found = masking_utils.find_packed_sequence_indices
    if not packed:
        masking_utils.find_packed_sequence_indices = lambda position_ids: None
    try:
        yield
    finally:
        masking_utils.find_packed_sequence_indices = found


@contextmanager
def _experts_by_shape() -> Iterator[None]:
    """transformers multiplies all tokens by their experts at once, in a kernel whose shapes torch
    knows for BF16 alone. One expert for all of them has the same shapes, and saves the same.
    """
    from transformers.integrations import moe

    found = moe._grouped_mm
    moe._grouped_mm = lambda tokens, experts, offs: tokens @ experts[0].to(tokens.dtype)
    try:
        yield
    finally:
        moe._grouped_mm = found


def _logits_bytes(model: Any, shape: Shape, kind: str) -> int:
    whole = 4 * shape.supervised * model.get_output_embeddings().out_features
    return min(whole, LOGITS_BYTES[kind]) if model.loss_kernel == CHUNKED else whole


def main(arguments: list[str] | None = None) -> None:
    """Reads a request, writes a report: the estimates, or the sentence why there are none."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("request", type=Path)
    parser.add_argument("--json", type=Path, required=True)
    given = parser.parse_args(arguments)
    request = json.loads(given.request.read_text(encoding="utf-8"))
    try:
        report = _report(request)
    except SettingsError as error:
        report = {"refused": str(error)}
    given.json.write_text(json.dumps(report), encoding="utf-8")


def _report(request: dict[str, Any]) -> dict[str, Any]:
    configs = [parse_config(config) for config in request["configs"]]
    where = {key: request[key] for key in ("on_gpu", "fp4_native")}
    # Of one comparison, so of one model; to read a GGUF file's configuration takes half a minute.
    where["published"] = _published(configs[0], of_home(request.get("home")))
    return {"estimates": [asdict(estimate(config, **where)) for config in configs]}


if __name__ == "__main__":
    main()
