"""One run, complete; how a setting is called; and what is said of a wrong one."""

from __future__ import annotations

import math
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from playground.config.errors import SettingsError, nearest
from playground.config.precisions import PRECISIONS, check_precision
from playground.config.settings import (
    DataSettings,
    LoraSettings,
    MeasureSettings,
    QuantizationSettings,
    Settings,
    TrainingSettings,
)


class RunConfig(Settings):
    """One run, complete. ``model`` and ``dataset`` are a catalog id, a local path or a hub id."""

    model: Annotated[str, Field(min_length=1, max_length=4096)] = Field(
        description="Which base model: an id of the catalog, a local folder or a hub id."
    )
    dataset: Annotated[str, Field(min_length=1, max_length=4096)] = Field(
        description="What to learn: a bundled dataset, a file, a folder or a hub id, which may "
        "name a part as in owner/name:config[split]."
    )
    precision: str = Field(description="How the frozen weights are stored and multiplied.")
    lora: LoraSettings
    data: DataSettings
    training: TrainingSettings
    quantization: QuantizationSettings
    measure: MeasureSettings

    @field_validator("precision")
    @classmethod
    def _known_precision(cls, value: str) -> str:
        return check_precision(value)

    @model_validator(mode="after")
    def _healing_widens(self) -> Self:
        """Healing that would not is refused, but for FP8: it stays as it is beside narrower arms.

        So a group of FP8 and NVFP4 that heals to FP8 is possible (MLPerf Training v5.1,
        llama2_70b_lora: NVFP4, and FP8 from step 351 of 800).
        """
        own, to = PRECISIONS[self.precision], PRECISIONS[self.quantization.heal_to]
        never = self.quantization.heal_after == 1 or own.storage_bits >= 8
        if not never and to.storage_bits <= own.storage_bits:
            raise SettingsError(
                f"heal_to is '{self.quantization.heal_to}', which holds no more than "
                f"{self.precision} ({to.storage_bits:g} bits a weight and {own.storage_bits:g}); "
                "choose a wider precision such as bf16, or set heal_after to 1."
            )
        return self

    @property
    def first_healed_step(self) -> int | None:
        """The first step beyond ``heal_after``'s share, in ``heal_to``; None: it never heals.

        Only formats below 16 bits do, and only to a wider one.
        """
        share, last = self.quantization.heal_after, self.training.max_steps
        own, to = PRECISIONS[self.precision], PRECISIONS[self.quantization.heal_to]
        if share == 1 or own.storage_bits >= 16 or to.storage_bits <= own.storage_bits:
            return None
        return min(last, math.floor(share * last + 1e-9) + 1)  # 0.1 * 30 is a little above 3

    def with_precision(self, name: str) -> RunConfig:
        """The same run in another precision: nothing else differs.

        Raises:
            SettingsError: ``name`` is no precision, or one that ``heal_to`` cannot heal.
        """
        return self.model_copy(update={"precision": check_precision(name)})._healing_widens()

    def with_seed(self, seed: int) -> RunConfig:
        """The same run, on the same held-out rows, with another order, adapter and dropout."""
        training = self.training.model_copy(update={"seed": seed})
        return self.model_copy(update={"training": training})


SECTIONS: dict[str, type[Settings]] = {
    "lora": LoraSettings,
    "data": DataSettings,
    "training": TrainingSettings,
    "quantization": QuantizationSettings,
    "measure": MeasureSettings,
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
