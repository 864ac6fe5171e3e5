"""What a run can say. The loop yields these, the worker stores them, page and terminal draw them.

Units are in the names. A value that was not measured is None, never 0.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Outcome = Literal[
    "queued", "running", "finished", "stopped", "paused", "failed", "diverged", "interrupted"
]
FINAL: frozenset[str] = frozenset(
    {"finished", "stopped", "paused", "failed", "diverged", "interrupted"}
)
"""States in which nothing happens any more; only being resumed leads out of one."""

Cause = Literal["out of memory", "not finite", "refused", "killed", "crashed", "lost", "error"]
"""What kind of end it was, when it did not go well; ``error`` is anything not foreseen."""

How = Literal["native", "weight-only", "emulated"]

Template = Literal["own", "plain", "none"]


class _Event(BaseModel):
    # NaN and inf are facts about a run (it diverged), so they survive JSON as strings.
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class Stage(_Event):
    """What the run is doing now, for the minutes in which no step happens."""

    kind: Literal["stage"] = "stage"
    name: str
    detail: str = ""
    progress: float | None = None  # share done, 0..1; None when it is not known


class Step(_Event):
    """One optimizer step.

    loss: mean over the supervised tokens of the whole step, in nats, whatever the micro-batching.
    tokens: non-padding input tokens of this step; padded_tokens: padding, reported apart.
    warmup: the step is excluded from throughput (first steps pay for caches and compilation).
    skipped: the loss scaler found inf or NaN in the gradients and the update was not made.
    memory_mib: in use after the step; peak_mib: the highest since the run's start.
    reserved_mib: held by the allocator after the step, in use or not; None where there is none.
    power_w: the device's mean draw in the step; energy_j: what the step took; both by NVML.
    """

    kind: Literal["step"] = "step"
    step: int
    loss: float
    grad_norm: float | None = None
    learning_rate: float
    loss_scale: float | None = None
    skipped: bool = False
    tokens: int
    padded_tokens: int
    supervised_tokens: int
    step_ms: float
    tokens_per_s: float
    warmup: bool = False
    memory_mib: float | None = None
    peak_mib: float | None = None
    reserved_mib: float | None = None
    power_w: float | None = None
    energy_j: float | None = None


class StepFigures(NamedTuple):
    """Of a ``Step`` what the figures of a comparison are made of, at a tenth of its cost."""

    step: int
    loss: float
    skipped: bool
    tokens: int
    padded_tokens: int
    step_ms: float
    tokens_per_s: float
    warmup: bool
    energy_j: float | None


class Eval(_Event):
    """Held-out loss, nats per supervised token; exact match as a share of its rows."""

    kind: Literal["eval"] = "eval"
    step: int
    when: Literal["before", "during", "after"]
    loss: float
    tokens: int
    exact_match: float | None = None
    exact_match_rows: int = 0


class EvalRows(_Event):
    """What an Eval's loss is the mean of, row by row, for paired comparisons.

    losses: nats, summed over the supervised tokens of each held-out row, in the dataset's order.
    tokens: the supervised tokens of each.
    """

    kind: Literal["eval_rows"] = "eval_rows"
    step: int
    when: Literal["before", "during", "after"]
    losses: tuple[float, ...]
    tokens: tuple[int, ...]


class Answer(BaseModel):
    """What the model wrote for one held-out row, greedily, and what the row says.

    row: its place among the held-out rows, from 0. prompt: as the row has it, without the template.
    """

    model_config = ConfigDict(frozen=True)
    row: int
    prompt: str
    reference: str
    answer: str

    @property
    def right(self) -> bool:
        """It is the reference to the letter, surrounding white space aside."""
        return self.answer.strip() == self.reference.strip()


class EvalAnswers(_Event):
    """The answers behind an Eval's exact match."""

    kind: Literal["eval_answers"] = "eval_answers"
    step: int
    when: Literal["before", "after"]
    answers: tuple[Answer, ...]


class CrossEval(_Event):
    """The finished adapter on another base: held-out loss, nats per supervised token.

    base: precision of the base weights and products.
    merged: the adapter was added to the weights before they were rounded to ``base``.
    """

    kind: Literal["cross_eval"] = "cross_eval"
    base: str
    merged: bool
    loss: float
    tokens: int


class LayerError(_Event):
    """How far rounding is off in one layer at one step.

    tensor: which of the layer's operands was looked at.
    relative_error: ||rounded - exact|| / ||exact||, Frobenius norms.
    zeroed_share: share of the elements that were not zero and were rounded to it.
    """

    kind: Literal["layer_error"] = "layer_error"
    step: int
    layer: str
    tensor: Literal["weight", "activation", "gradient"]
    relative_error: float
    zeroed_share: float


class Skipped(BaseModel):
    """A Linear that stayed in the compute type, and why."""

    model_config = ConfigDict(frozen=True)
    name: str
    reason: str


class Coverage(BaseModel):
    """Which Linears a precision took over."""

    model_config = ConfigDict(frozen=True)
    converted: int
    skipped: tuple[Skipped, ...]
    share_of_linear_weights: float


class Facts(_Event):
    """What became known about the run itself. Only the fields that are set are stored.

    memory at rest is counted from real tensor bytes; ``memory_source`` says how.
    """

    kind: Literal["facts"] = "facts"
    effective: str | None = None
    how: How | None = None
    how_reason: str | None = None  # one sentence: why native, or why not
    device: dict[str, Any] | None = None
    environment: dict[str, Any] | None = None  # versions, kernels, flags: what could differ
    total_parameters: int | None = None
    trainable_parameters: int | None = None
    adapted_modules: int | None = None
    coverage: Coverage | None = None
    weights_mib: float | None = None
    converted_weights_mib: float | None = None
    bits_per_converted_weight: float | None = None
    adapters_mib: float | None = None
    optimizer_mib: float | None = None
    gradients_mib: float | None = None
    activations_mib: float | None = None  # saved for the backward pass, largest micro-batch
    peak_mib: float | None = None
    peak_reserved_mib: float | None = None
    memory_source: str | None = None
    loading_peak_mib: float | None = None  # highest in use by tensors while the base was loaded
    # Told from the configuration alone, before the weights were read; what the above turned out to
    # be is laid beside it.
    predicted_weights_mib: float | None = None
    predicted_adapters_mib: float | None = None
    predicted_optimizer_mib: float | None = None
    predicted_gradients_mib: float | None = None
    predicted_activations_mib: float | None = None
    predicted_peak_mib: float | None = None
    energy_source: str | None = None  # None: not measured
    healed_at_step: int | None = None  # first step in heal_to
    healed_to: str | None = None
    resumed_at_step: int | None = None  # first step after it was resumed last
    # What the rows were written in: the model's own chat template, the plain one for models that
    # have none, or nothing, each prompt with its answer right behind it.
    template: Template | None = None
    eval_sha256: str | None = None  # of the held-out rows' tokens and labels
    batches_sha256: str | None = None
    adapter_init_sha256: str | None = None
    rows: dict[str, int] | None = None  # read, duplicates, no_answer, dropped, ...
    skipped_updates: int | None = None


class Message(_Event):
    """Something a person should read."""

    kind: Literal["message"] = "message"
    level: Literal["info", "warning", "error"]
    text: str


class Status(_Event):
    """The run changed state.

    ``error`` is one sentence when it did not go well, ``cause`` its kind.
    """

    kind: Literal["status"] = "status"
    status: Outcome
    error: str | None = None
    cause: Cause | None = None


Event = (
    Stage | Step | Eval | EvalRows | EvalAnswers | CrossEval | LayerError | Facts | Message | Status
)

_adapter: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])


def to_json(event: Event) -> str:
    """One line of JSON."""
    return event.model_dump_json(exclude_none=True)


def from_json(text: str) -> Event:
    """The event behind a line of JSON. Raises pydantic.ValidationError if it is none."""
    return _adapter.validate_json(text)
