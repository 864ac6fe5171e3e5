"""Memory by kind, rounding errors and other bases, as the page tells them."""

from __future__ import annotations

from dataclasses import replace

from playground.events import CrossEval, LayerError
from playground.ui import details, measured, text
from tests.compare.arms import NATIVE, arm

KINDS = {
    "weights_mib": 10.0,
    "adapters_mib": 1.0,
    "optimizer_mib": 2.0,
    "gradients_mib": 1.0,
    "activations_mib": 6.0,
}


def test_memory_is_drawn_by_kind_on_one_scale() -> None:
    small = {kind: mib / 2 for kind, mib in KINDS.items()}
    shown = measured.memory([arm("fp16", **KINDS), arm("nvfp4", **small)])
    assert "20.00 MiB" in shown and "10.00 MiB" in shown
    assert 'kind-weights" style="width:50.00%' in shown
    assert 'kind-weights" style="width:25.00%' in shown
    assert all(words in shown for words in text.MEMORY_KINDS.values())


def test_a_kind_that_was_not_counted_is_left_out_and_not_0() -> None:
    shown = measured.memory([arm("fp16", weights_mib=4.0)])
    assert "<b>4.000</b>" in shown and "activations" not in shown
    assert measured.memory([arm("fp16")]) == f"<p>{text.MEMORY_UNKNOWN}</p>"


def test_what_only_rests_so_far_is_not_drawn_beside_another_s_peak() -> None:
    shown = measured.memory([arm("fp16", **KINDS), arm("nvfp4", weights_mib=4.0)])
    drawn, _, early = shown.partition("arm-nvfp4")
    assert f"<span>{text.EM_DASH}</span>" in early and "width:" not in early
    assert "<b>4.000</b>" in early and "width:" in drawn


def test_what_was_predicted_stands_beside_it() -> None:
    told = {
        "predicted_peak_mib": 19.0,
        "predicted_weights_mib": 10.1,
        "predicted_adapters_mib": 2.0,
    }
    shown = measured.memory([arm("fp16", peak_mib=20.0, **KINDS, **told)])
    assert (
        "19.00 MiB at the peak, measured 20.00 MiB (−5.0 %); adapter 2.000 MiB (+100.0 %)" in shown
    )
    assert "frozen weights 10.10" not in shown  # 1 % off
    early = measured.memory([arm("fp16", weights_mib=4.0, predicted_peak_mib=19.0)])
    assert "19.00 MiB at the peak</p>" in early
    assert "Predicted" not in measured.memory([arm("fp16", **KINDS)])


def error(layer: str, tensor: str, off: float, step: int = 20) -> LayerError:
    return LayerError(step=step, layer=layer, tensor=tensor, relative_error=off, zeroed_share=0.03)


def test_the_newest_look_at_rounding_errors_is_told_layer_by_layer() -> None:
    errors = [
        error("layers.10.q_proj", "weight", 0.5, step=10),
        error("layers.10.q_proj", "weight", 0.1),
        error("layers.2.q_proj", "weight", 0.05),
        error("layers.2.q_proj", "gradient", float("inf")),
    ]
    looked = replace(arm("nvfp4"), layer_errors=errors)
    shown = measured.rounding([arm("fp16"), looked])
    assert "10.0 %" in shown and "3.0 % became 0" in shown and "50.0 %" not in shown
    assert shown.index("layers.2.") < shown.index("layers.10.")
    assert "after step 20" in shown and "∞" in shown and text.EM_DASH in shown
    assert "Look at errors every" in measured.rounding([arm("fp16")])


def test_a_healed_arm_says_whose_rounding_it_shows() -> None:
    healed = arm("nvfp4", healed_at_step=15, healed_to="bf16")
    errors = [error("layers.2.q_proj", "weight", 0.002)]
    shown = measured.rounding([replace(healed, layer_errors=errors)])
    assert "after step 20, healed to BF16" in shown
    before = [error("layers.2.q_proj", "weight", 0.1, step=10)]
    assert "healed" not in measured.rounding([replace(healed, layer_errors=before)])


def crossed(precision: str, after: float, **others: float) -> object:
    found = [CrossEval(base=b, merged=False, loss=v, tokens=9) for b, v in others.items()]
    return replace(arm(precision, after=after), cross=found)


def test_each_adapter_stands_on_each_base_and_its_own_is_marked() -> None:
    runs = [crossed("fp16", 0.5, nvfp4=0.54), crossed("nvfp4", 0.52, fp16=0.515)]
    shown = measured.crossed(runs)
    assert shown.count('<th scope="col">') == 2 and shown.count("as trained") == 2
    assert all(loss in shown for loss in ("0.5000", "0.5400", "0.5200", "0.5150"))
    assert shown in details.table(runs, True)
    assert measured.crossed([arm("fp16")]) == ""


def test_a_healed_adapter_was_trained_on_the_base_that_it_ended_on() -> None:
    found = [CrossEval(base="nvfp4", merged=False, loss=0.61, tokens=9)]
    healed = arm("nvfp4", after=0.4, healed_at_step=5, healed_to="bf16", cross=found)
    shown = measured.crossed([healed])
    assert "<b>0.4000</b><em>as trained</em>" in shown and "<td>0.6100</td>" in shown


def test_a_small_rounding_error_is_not_written_as_none() -> None:
    errors = [error("layers.2.q_proj", "weight", 0.00021), error("l", "weight", 0.0)]
    shown = measured.rounding([replace(arm("fp16"), layer_errors=errors)])
    assert "0.021 %" in shown and ">0 %" in shown and "0.0 %" not in shown


def test_what_merging_costs_has_columns_of_its_own() -> None:
    merged = [CrossEval(base=b, merged=True, loss=0.6, tokens=9) for b in ("fp16", "nvfp4")]
    shown = measured.crossed([replace(arm("nvfp4", after=0.5), cross=merged)])
    assert shown.index("on NVFP4") < shown.index("merged into FP16") < shown.index("into NVFP4")


def test_energy_has_a_row_only_where_it_was_measured() -> None:
    run = arm("fp16", energy_source="NVML", **NATIVE)
    assert text.ROWS["energy"] not in details.table([run], True)
    metered = replace(run, steps=[s.model_copy(update={"energy_j": 2.0}) for s in run.steps])
    shown = details.table([metered], True)
    assert "18.00 J" in shown and "0.0200 J a token; NVML" in shown
