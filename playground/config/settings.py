"""The settings of a run, section by section. Each has its default in ``presets/_defaults.yaml``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from playground.config.columns import parse_columns
from playground.config.precisions import check_precision

Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Settings(BaseModel):
    # Unknown keys are refused by name; "2e-4" (a string to YAML 1.1) is read as the number it is.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_not_one(cls, value: Any, info: Any) -> Any:
        # pydantic would read `max_steps: true` as 1 step.
        if isinstance(value, bool) and bool not in _types_of(cls.model_fields[info.field_name]):
            raise ValueError("a yes/no value is not a number")
        return value


def _types_of(field: Any) -> tuple[Any, ...]:
    return (field.annotation, *get_args(field.annotation))


def names_or(
    word: str, what: str, each: Callable[[str], object] = lambda name: name
) -> BeforeValidator:
    """Accepts ``word`` or a list of names; a union would complain once for each of its members.

    Args:
        each: raises for a name that cannot be.
    """

    def check(value: Any) -> Any:
        names = isinstance(value, list | tuple) and all(isinstance(n, str) and n for n in value)
        if value != word and not (names and value):
            raise ValueError(f"write {word}, or a list of {what}")
        if value != word:
            for name in value:
                each(name)
        return value

    return BeforeValidator(check)


class LoraSettings(Settings):
    """The adapter, in peft's words (``lora_r`` is peft's ``r``)."""

    lora_r: Annotated[int, Field(ge=1, le=1024)] = Field(
        description="Rank of the two adapter matrices: more can learn more, and costs memory."
    )
    lora_alpha: Annotated[float, Field(gt=0)] = Field(
        description="The adapter's output is multiplied by alpha / r."
    )
    lora_dropout: Annotated[float, Field(ge=0, lt=1)] = Field(
        description="Share of the adapter's inputs dropped in training."
    )
    target_modules: Annotated[
        Literal["all-linear"] | tuple[str, ...],
        names_or("all-linear", "layer names such as [q_proj, v_proj]"),
    ] = Field(
        description="Which layers get an adapter: all-linear (every Linear but the head) or names."
    )


def _a_mapping(written: str) -> str:
    parse_columns(written)
    return written


class DataSettings(Settings):
    """How rows become tokens."""

    max_seq_len: Annotated[int, Field(ge=8, le=1_048_576)] = Field(
        description="Longest sequence in tokens; what becomes of longer rows, `too_long` says."
    )
    too_long: Literal["cut", "drop"] = Field(
        description="Rows beyond the longest sequence: cut at its end, or dropped; both counted."
    )
    columns: Annotated[str, AfterValidator(_a_mapping)] | None = Field(
        description="Which column means what, such as prompt=Question, answer=Reply; empty "
        "recognises it."
    )
    learn_from: Literal["answers", "everything"] = Field(
        description="Which tokens count towards the loss: the answers, or the whole text."
    )
    train_rows: Positive | None = Field(description="Use only the first rows; empty means all.")
    eval_rows: Positive = Field(description="Held-out rows for the evaluation loss.")
    split_seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(
        description="Fixes which rows are held out where the dataset does not say; apart from "
        "`seed`, so that repetitions are judged on the same rows."
    )
    packing: bool = Field(
        description="Lay short rows end to end up to the longest sequence, none seeing another: "
        "no padding."
    )
    exact_match_rows: Annotated[int, Field(ge=0)] = Field(
        description="Held-out rows answered in full before and after; 0 skips it."
    )


class TrainingSettings(Settings):
    """The optimisation. All precisions of a comparison share it to the letter."""

    max_steps: Annotated[int, Field(ge=1, le=10_000_000)] = Field(
        description="Optimizer steps to take."
    )
    micro_batch_size: Annotated[int, Field(ge=1, le=65_536)] = Field(
        description="Rows, or packed sequences, in one forward pass."
    )
    grad_accum_steps: Annotated[int, Field(ge=1, le=65_536)] = Field(
        description="Forward passes to one optimizer step."
    )
    learning_rate: Annotated[float, Field(gt=0, le=10)] = Field(
        description="Peak learning rate of AdamW."
    )
    schedule: Literal["cosine", "linear", "constant"] = Field(
        description="How the learning rate falls after the warm-up."
    )
    warmup_share: Share = Field(
        description="Share of the steps in which the rate rises to its peak."
    )
    weight_decay: Annotated[float, Field(ge=0)] = Field(description="AdamW's weight decay.")
    max_grad_norm: Annotated[float, Field(gt=0)] = Field(
        description="Gradients are clipped to this norm."
    )
    gradient_checkpointing: bool = Field(
        description="Recompute activations in the backward pass: less memory, more time."
    )
    compile: Literal["auto", "off"] = Field(
        description="torch.compile for every precision alike; auto: on a GPU, off on a CPU."
    )
    checkpoint_every: Annotated[int, Field(ge=0)] = Field(
        description="Steps between checkpoints to resume from; 0 writes one only on Stop or Pause."
    )
    eval_every: Annotated[int, Field(ge=0)] = Field(
        description="Steps between evaluations; 0 evaluates before and after only."
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(
        description="Fixes data order, adapter initialisation and dropout."
    )


class QuantizationSettings(Settings):
    """Options of the low-precision formats; a precision that has no use for one ignores it."""

    keep_last_blocks: Annotated[int, Field(ge=0)] = Field(
        description="How many of the last transformer blocks stay in 16 bits."
    )
    keep_layers: Annotated[
        Literal["none"] | tuple[str, ...], names_or("none", "layer names such as [down_proj]")
    ] = Field(description="Layers that stay in 16 bits, by name, as target_modules names them.")
    weight_scale_rule: Literal["search", "four_over_six", "amax"] = Field(
        description="How NVFP4 chooses a weight's block scales; search errs least, amax is plain."
    )
    activation_scale_rule: Literal["amax", "four_over_six"] = Field(
        description="How NVFP4 chooses an activation's block scales, at every use."
    )
    gradient_rounding: Literal["stochastic", "nearest"] = Field(
        description="How dY is rounded where dgrad is multiplied in 4 bits (nvfp4-2d)."
    )
    fp8_gradients: Literal["e5m2", "e4m3"] = Field(
        description="The format dY is rounded to under fp8: e5m2 has range, e4m3 finer steps."
    )
    heal_after: Annotated[float, Field(gt=0, le=1)] = Field(
        description="Share of the steps after which a format below 16 bits gives way to heal_to; "
        "1 never does."
    )
    heal_to: Annotated[str, BeforeValidator(check_precision)] = Field(
        description="The precision that healing switches to."
    )


class MeasureSettings(Settings):
    """What is measured beside the loss."""

    probe_every: Annotated[int, Field(ge=0)] = Field(
        description="Steps between looks at how far a few layers are off by rounding; 0 never."
    )
    target_loss: Annotated[float, Field(gt=0)] | None = Field(
        description="Held-out loss to time: steps, tokens, seconds and joules until it is reached."
    )
    cross_precisions: Annotated[
        Literal["none"] | tuple[str, ...],
        names_or("none", "precisions such as [fp16, nvfp4]", check_precision),
    ] = Field(description="Precisions of the base on which the finished adapter is judged as well.")
    merge_check: bool = Field(
        description="After training, also judge the adapter merged in 16 bits and into the format."
    )
