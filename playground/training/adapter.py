"""LoRA through peft: the same initial adapter for every precision, and a safe place on disk."""

from __future__ import annotations

import hashlib
import math
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import nn

from playground.config import LoraSettings, RunConfig, SettingsError, nearest
from playground.precision.found import beside_text, linears
from playground.precision.keep import is_named
from playground.training.durable import whole_folder


def add_adapter(model: nn.Module, settings: LoraSettings, seed: int) -> nn.Module:
    """Wraps ``model`` with trainable LoRA matrices in fp32; the base stays frozen.

    Raises:
        SettingsError: a name in ``target_modules`` matches no layer, or one whose matrix is the
            embedding's too; the message lists those that can be named. Or peft refuses a layer.
    """
    from peft import LoraConfig, get_peft_model

    check_targets(model, settings)
    targets = list(settings.target_modules)
    if settings.target_modules != "all-linear" and beside_text(model):
        # A vision tower's layers are called the same.
        named = [name for name, _ in linears(model)]
        targets = [name for name in named if any(is_named(wanted, name) for wanted in targets)]
    if settings.target_modules == "all-linear":
        # By name: what peft understands by it takes in experts that are held in one tensor.
        head, tied = model.get_output_embeddings(), _tied(model)
        targets = [
            name for name, linear in linears(model) if linear is not head and name not in tied
        ]
    adapter = LoraConfig(
        task_type="CAUSAL_LM",
        r=settings.lora_r,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=targets,
    )
    try:
        with warnings.catch_warnings():  # peft asks transformers by the name it is giving up
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
            # Of shapes peft would fill its matrices with numbers.
            wrapped = get_peft_model(model, adapter, low_cpu_mem_usage=_is_shapes(model))
    except ValueError as error:  # it knows layers that it would not reach, such as Mamba's out_proj
        raise SettingsError(
            f"The adapter cannot be put on this model ({' '.join(str(error).split()).rstrip('.')});"
            " name layers that can have one in target_modules."
        ) from error
    _initialise(wrapped, seed)
    return wrapped


def with_adapter(config: RunConfig, model: Any, device: torch.device) -> Any:
    """A base model in its precision, ready to be trained: checkpointed if asked, with LoRA."""
    if config.training.gradient_checkpointing:
        model.activation_checkpointing_enable(
            activation_checkpointing_kwargs={"use_reentrant": False}
        )
        # With frozen embeddings a checkpointed block would see no input to train through.
        model.enable_input_require_grads()
    return add_adapter(model, config.lora, config.training.seed).to(device).train()


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """The adapter's parameters by name, in the order of the model."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def adapted_modules(model: nn.Module) -> int:
    """How many layers carry an adapter."""
    return sum(name.endswith("lora_A") for name, _ in model.named_modules())


def adapter_sha256(model: nn.Module) -> str:
    """A digest of names and values of all trainable parameters."""
    digest = hashlib.sha256()
    for name, parameter in trainable(model).items():
        digest.update(name.encode())
        digest.update(parameter.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def save_adapter(model: Any, folder: Path, base: str, tokenizer: Any = None) -> None:
    """Writes the adapter in peft's own format; ``folder`` is complete after this, or untouched.

    Args:
        base: what the saved adapter calls its base model.
        tokenizer: saved beside the adapter, with the chat template that it was trained on; None
            saves none.
    """
    model.peft_config["default"].base_model_name_or_path = base
    with whole_folder(folder) as partial:
        # "auto" would ask the hub whether the base has grown new tokens.
        model.save_pretrained(partial, safe_serialization=True, save_embedding_layers=False)
        if tokenizer is not None:
            tokenizer.save_pretrained(partial)


def load_adapter(model: Any, folder: Path) -> None:
    """Reads what ``save_adapter`` wrote into the adapter of ``model``, in place and bit for bit.

    Raises:
        ValueError: it is not an adapter of the same layers and ranks.
    """
    from peft import get_peft_model_state_dict, set_peft_model_state_dict
    from safetensors.torch import load_file

    values = load_file(folder / "adapter_model.safetensors")
    own = get_peft_model_state_dict(model, save_embedding_layers=False)
    shapes = {name: tensor.shape for name, tensor in own.items()}
    if shapes != {name: tensor.shape for name, tensor in values.items()}:
        raise ValueError("its matrices are not those of this run's adapter")
    set_peft_model_state_dict(model, values)


def _initialise(model: nn.Module, seed: int) -> None:
    """peft's own initialisation (Kaiming A, zero B), drawn again in fp32 on the CPU.

    peft draws in the type and on the device of the base layer, and those are what differs between
    the precisions of a comparison.
    """
    draw = torch.Generator().manual_seed(seed)
    for name, parameter in trainable(model).items():
        if parameter.is_meta:  # to be weighed only: the adapter of a large model takes long to draw
            parameter.data = torch.empty_like(parameter, dtype=torch.float32)
            continue
        values = torch.zeros(parameter.shape, dtype=torch.float32)
        if ".lora_A." in name:
            nn.init.kaiming_uniform_(values, a=math.sqrt(5), generator=draw)
        parameter.data = values.to(parameter.device)


def check_targets(model: nn.Module, settings: LoraSettings) -> None:
    """That each of ``target_modules`` is a layer of ``model`` that can have an adapter.

    Raises:
        SettingsError: as ``add_adapter``.
    """
    if settings.target_modules == "all-linear":
        return
    layers = [name for name, _ in linears(model)]
    tied = _tied(model)
    known = sorted({name.rpartition(".")[2] for name in layers if name not in tied})
    for wanted in settings.target_modules:
        found = [name for name in layers if is_named(wanted, name)]
        if shared := [name for name in found if name in tied]:
            raise SettingsError(
                f"target_modules names '{wanted}', but the matrix of '{shared[0]}' is the "
                "embedding's too, and an adapter would change only one of the two; "
                f"choose from {', '.join(known)}."
            )
        if not found:
            raise SettingsError(
                f"target_modules names '{wanted}', which no layer of this model is called; "
                f"choose from {', '.join(known)}.{nearest(wanted, known)}"
            )


def _tied(model: nn.Module) -> set[str]:
    """The layers whose matrix is an embedding's too."""
    embedded = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    return {name for name, layer in linears(model) if id(layer.weight) in embedded}


def _is_shapes(model: nn.Module) -> bool:
    """Whether the model is on the meta device, to be weighed and not to be run."""
    return any(parameter.is_meta for parameter in model.parameters())
