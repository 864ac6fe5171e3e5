"""What a run is asked to do: precision names, and the settings of one run, checked on construction.

Everything here is frozen and valid by the time anyone else sees it, so nobody checks twice.
Values have no defaults here: each default is written once, in ``presets/_defaults.yaml``.
Imports the standard library and pydantic only; the page, the worker and the store all read it.
"""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|CREDENTIAL", re.I)
_HUB_TOKEN = re.compile(r"\bhf_[A-Za-z0-9]{8,}")


def private(text: str) -> str:
    """Text that may be shown, stored or shared: no home folder, no hub token, no secret variable.

    The home folder becomes ``~``; a token or the value of a variable whose name says that it is
    secret becomes ``***``. Everything stored or shown as an error goes through here.
    """
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAME.search(name):
            text = text.replace(value, "***")
    text = _HUB_TOKEN.sub("***", text)
    home = os.path.expanduser("~")
    if home in ("/", "~"):
        return text
    return re.sub(re.escape(home) + r"(?![\w-]|\.\w)", "~", text)  # not /home/ann in /home/anna


class SettingsError(ValueError):
    """A setting that cannot be used. The message is one sentence: value, reason, remedy."""

    def __init__(self, message: str) -> None:
        super().__init__(private(message))


def expand(path: str | Path) -> Path:
    """An absolute path, ``~`` and ``~name`` followed.

    Raises:
        SettingsError: ``~name`` names nobody here.
    """
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError:
        raise SettingsError(
            f"'{path}' begins with the name of a user that this machine does not have; "
            "write the folder out."
        ) from None


class PrecisionInfo(BaseModel):
    """One row of the precision table, for people. The implementation is in ``precision/``.

    Attributes:
        label: short name for charts and badges.
        storage_bits: bits a frozen weight takes at rest, scales included.
        weights / activations: the format fprop's operands are rounded to.
        dgrad: how the gradient of the input is computed (there is no wgrad for a frozen weight).
        compute: the 16- or 32-bit type of everything that is not a converted Linear.
        summary: one sentence for a newcomer.
    """

    model_config = ConfigDict(frozen=True)

    label: str
    storage_bits: float
    weights: str
    activations: str
    dgrad: str
    compute: Literal["fp32", "fp16", "bf16"]
    summary: str


PRECISIONS: dict[str, PrecisionInfo] = {
    "fp32": PrecisionInfo(
        label="FP32",
        storage_bits=32,
        weights="fp32",
        activations="fp32",
        dgrad="fp32",
        compute="fp32",
        summary="Full single precision: the yardstick, and the largest.",
    ),
    "bf16": PrecisionInfo(
        label="BF16",
        storage_bits=16,
        weights="bf16",
        activations="bf16",
        dgrad="bf16",
        compute="bf16",
        summary="Half the bytes of FP32 with its full range; needs no loss scaling.",
    ),
    "fp16": PrecisionInfo(
        label="FP16",
        storage_bits=16,
        weights="fp16",
        activations="fp16",
        dgrad="fp16",
        compute="fp16",
        summary="Half the bytes of FP32, finer steps than BF16 but a small range: "
        "the loss is scaled so that small gradients survive.",
    ),
    "nvfp4": PrecisionInfo(
        label="NVFP4",
        storage_bits=4.5,
        weights="nvfp4",
        activations="nvfp4",
        dgrad="bf16, through the decoded weight",
        compute="bf16",
        summary="4-bit weights and activations, a scale for every 16 values: "
        "28 % of FP16's weight memory, FP4 tensor cores on Blackwell.",
    ),
    "nvfp4-2d": PrecisionInfo(
        label="NVFP4-2D",
        storage_bits=4.5,
        weights="nvfp4 in 16x16 tiles",
        activations="nvfp4",
        dgrad="nvfp4, stochastic rounding",
        compute="bf16",
        summary="NVFP4 in the backward pass too: a scale for every 16x16 tile, so that one copy of "
        "a weight serves both directions; the fastest, and the noisiest gradients.",
    ),
    "nvfp4-weight-only": PrecisionInfo(
        label="NVFP4 W4A16",
        storage_bits=4.5,
        weights="nvfp4",
        activations="bf16",
        dgrad="bf16, through the decoded weight",
        compute="bf16",
        summary="Weights in 4 bits, everything else in 16: the memory of NVFP4 with nearly the "
        "accuracy of BF16, and products no faster than BF16's.",
    ),
    "mxfp4": PrecisionInfo(
        label="MXFP4",
        storage_bits=4.25,
        weights="mxfp4",
        activations="mxfp4",
        dgrad="bf16, through the decoded weight",
        compute="bf16",
        summary="The open 4-bit format that NVFP4 refines: a scale for every 32 values, always a "
        "power of two, so it is a little smaller than NVFP4 and rounds more coarsely.",
    ),
}


def nearest(name: str, known: list[str]) -> str:
    """`` Did you mean 'x'?`` when one of ``known`` is close to ``name``, else nothing."""
    close = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


def check_precision(name: str) -> str:
    """Returns ``name`` if it is a known precision id.

    Raises:
        SettingsError: it is not; the message lists those that are.
    """
    if name not in PRECISIONS:
        known = list(PRECISIONS)
        raise SettingsError(
            f"Precision '{name}' is unknown; choose from {', '.join(known)}.{nearest(name, known)}"
        )
    return name


Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _Settings(BaseModel):
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


class LoraSettings(_Settings):
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
    target_modules: Literal["all-linear"] | tuple[str, ...] = Field(
        description="Which layers get an adapter: all-linear (every Linear but the head) or names."
    )

    @field_validator("target_modules", mode="before")
    @classmethod
    def _all_or_names(cls, value: Any) -> Any:
        # Said once here; a union would answer with a complaint for each of its members.
        names = isinstance(value, list | tuple) and all(isinstance(n, str) and n for n in value)
        if value != "all-linear" and not (names and value):
            raise ValueError("write all-linear, or a list of layer names such as [q_proj, v_proj]")
        return value


class DataSettings(_Settings):
    """How rows become tokens."""

    max_seq_len: Annotated[int, Field(ge=8, le=1_048_576)] = Field(
        description="Longest sequence in tokens; longer rows are cut and counted."
    )
    learn_from: Literal["answers", "everything"] = Field(
        description="Which tokens count towards the loss: the answers, or the whole text."
    )
    train_rows: Positive | None = Field(description="Use only the first rows; empty means all.")
    eval_rows: Positive = Field(description="Held-out rows for the evaluation loss.")
    exact_match_rows: Annotated[int, Field(ge=0)] = Field(
        description="Held-out rows answered in full before and after; 0 skips it."
    )


class TrainingSettings(_Settings):
    """The optimisation. All precisions of a comparison share it to the letter."""

    max_steps: Annotated[int, Field(ge=1, le=10_000_000)] = Field(
        description="Optimizer steps to take."
    )
    micro_batch_size: Annotated[int, Field(ge=1, le=65_536)] = Field(
        description="Rows in one forward pass."
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
    eval_every: Annotated[int, Field(ge=0)] = Field(
        description="Steps between evaluations; 0 evaluates before and after only."
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(
        description="Fixes data order, adapter initialisation and dropout."
    )


class RunConfig(_Settings):
    """One run, complete. ``model`` and ``dataset`` are a catalog id, a local path or a hub id."""

    model: Annotated[str, Field(min_length=1, max_length=4096)] = Field(
        description="Which base model: an id of the catalog, a local folder or a hub id."
    )
    dataset: Annotated[str, Field(min_length=1, max_length=4096)] = Field(
        description="What to learn: a bundled dataset, a file or a hub id."
    )
    precision: str = Field(description="How the frozen weights are stored and multiplied.")
    lora: LoraSettings
    data: DataSettings
    training: TrainingSettings

    @field_validator("precision")
    @classmethod
    def _known_precision(cls, value: str) -> str:
        return check_precision(value)

    def with_precision(self, name: str) -> RunConfig:
        """The same run in another precision: nothing else differs.

        Raises:
            SettingsError: ``name`` is no precision.
        """
        return self.model_copy(update={"precision": check_precision(name)})


SECTIONS: dict[str, type[_Settings]] = {
    "lora": LoraSettings,
    "data": DataSettings,
    "training": TrainingSettings,
}
"""Setting names are unique across sections, so ``max_steps`` means ``training.max_steps``."""


def setting_path(key: str) -> tuple[str, ...]:
    """Where a setting lives: ``max_steps`` -> ``("training", "max_steps")``; dotted works too.

    Raises:
        SettingsError: no setting has that name; the message offers the nearest.
    """
    top = [name for name in RunConfig.model_fields if name not in SECTIONS]
    leaves = {leaf: (s, leaf) for s, part in SECTIONS.items() for leaf in part.model_fields}
    dotted = {".".join(path): path for path in leaves.values()}
    if key in top:
        return (key,)
    if key in leaves:
        return leaves[key]
    if key in dotted:
        return dotted[key]
    known = [*top, *leaves]
    remedy = nearest(key, known) or f" Known are {', '.join(known)}."
    raise SettingsError(f"Setting '{key}' is unknown.{remedy}")


def field_of(key: str) -> Any:
    """The pydantic field behind a setting: its description, for the form and for ``--help``."""
    *section, leaf = setting_path(key)
    owner = SECTIONS[section[0]] if section else RunConfig
    return owner.model_fields[leaf]


def parse_config(values: dict[str, Any]) -> RunConfig:
    """Builds a RunConfig from nested plain values (a preset over the defaults, or a stored run).

    Raises:
        SettingsError: one sentence for each wrong setting, naming it, its value and the remedy.
    """
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        raise SettingsError(" ".join(_sentence(e) for e in error.errors())) from None


def _sentence(error: Any) -> str:
    name = ".".join(str(part) for part in error["loc"])
    kind, context = error["type"], error.get("ctx", {})
    leaf = name.rsplit(".", 1)[-1]
    if kind == "extra_forbidden":
        known = [*RunConfig.model_fields, *(f for s in SECTIONS.values() for f in s.model_fields)]
        return f"Setting '{leaf}' is unknown; remove it.{nearest(leaf, known)}"
    if kind == "missing":
        return f"Setting '{leaf}' is missing; give it a value."
    value = _shown(error["input"])
    if kind == "value_error":
        cause = context.get("error")
        if isinstance(cause, SettingsError):
            return _capital(str(cause))
        return f"{_capital(leaf)} is {value}: {cause}."
    remedies = {
        "greater_than": lambda c: f"it must be above {c['gt']}",
        "greater_than_equal": lambda c: f"it must be at least {c['ge']}",
        "less_than": lambda c: f"it must be below {c['lt']}",
        "less_than_equal": lambda c: f"it must be at most {c['le']}",
        "finite_number": lambda c: "it must be a finite number",
        "literal_error": lambda c: f"it must be {c['expected']}",
        "int_parsing_size": lambda c: "it must be a whole number of ordinary size",
        "int_parsing": lambda c: "it must be a whole number, written with digits only",
        "int_from_float": lambda c: "it must be a whole number",
        "int_type": lambda c: "it must be a whole number",
        "float_type": lambda c: "it must be a number",
        "float_parsing": lambda c: "it must be a number with a point, such as 0.0002 or 2e-4",
        "bool_parsing": lambda c: "it must be true or false",
        "bool_type": lambda c: "it must be true or false",
        "string_too_short": lambda c: "it must not be empty",
    }
    remedy = remedies[kind](context) if kind in remedies else error["msg"].lower()
    return f"{_capital(leaf)} is {value}; {remedy}."


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text)} characters)"


def _capital(sentence: str) -> str:
    # Setting names keep their spelling; only prose starts with a capital.
    return sentence if "_" in sentence.split(" ", 1)[0] else sentence[:1].upper() + sentence[1:]
