"""Which backend is chosen, the self-test before it, and that nothing falls back silently."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
import torch

from kernels import choose_backend, dispatch, selftest
from kernels import matmul as products
from kernels.dispatch import LinearRecipe, Verdict, remember
from kernels.tiles import NATIVE_TILES

ROOT = Path(__file__).parents[2]
SHAPES = ((17, 48, 64), (33, 32, 96))
WEIGHT_ONLY = "nvfp4-weight-only"
LABELS = {"fp8": "FP8", "mxfp4": "MXFP4", "nf4": "same table"}


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    dispatch.forget()
    yield
    dispatch.forget()


@pytest.fixture
def blackwell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: (12, 0))


def _passed(backend: str, milliseconds: float, recipe: str = "nvfp4") -> Verdict:
    return Verdict(backend, recipe, True, f"{backend} agrees.", milliseconds)


@pytest.mark.parametrize("recipe", get_args(LinearRecipe))
def test_a_cpu_emulates(recipe: str) -> None:
    choice = choose_backend("cpu", recipe)
    assert (choice.name, choice.how) == ("reference", "emulated")
    assert LABELS.get(recipe, "NVFP4") in choice.reason


def test_a_gpu_uses_nothing_that_has_not_passed(blackwell: None) -> None:
    choice = choose_backend("cuda")
    assert (choice.name, choice.how) == ("reference", "emulated")
    assert "No self-test of native or cublas has passed" in choice.reason


def test_the_quickest_that_passed_is_chosen(blackwell: None) -> None:
    remember("cuda", _passed("native", 2.0))
    assert choose_backend("cuda").name == "native"
    remember("cuda", _passed("cublas", 1.0))
    choice = choose_backend("cuda")
    assert (choice.name, choice.how, choice.reason) == ("cublas", "native", "cublas agrees.")
    assert choose_backend("cuda", WEIGHT_ONLY).name == "reference", "another recipe, another test"


def test_what_failed_is_off_and_says_why(blackwell: None) -> None:
    remember("cuda", Verdict("native", "nvfp4", False, "the gradient is all zeros."))
    choice = choose_backend("cuda")
    assert choice.how == "emulated"
    assert "native: the gradient is all zeros." in choice.reason


@pytest.mark.parametrize(
    ("capability", "recipe", "named", "why"),
    [
        ((12, 0), "nvfp4", ["native", "cublas"], ""),
        ((12, 1), "nvfp4", [], "sm_121 has no FP4 tensor cores that the installed Triton knows"),
        ((9, 0), "nvfp4-2d", [], "sm_90 has no FP4"),
        ((12, 0), "mxfp4", ["native"], ""),
        ((9, 0), "mxfp4", [], "sm_90 has no FP4"),
        ((9, 0), WEIGHT_ONLY, ["decoded"], ""),
        ((7, 5), WEIGHT_ONLY, [], "sm_75 has no bf16 tensor cores"),
        ((8, 9), "fp8", ["rowwise", "tensorwise"], ""),
        ((12, 0), "fp8", ["rowwise", "tensorwise"], ""),
        ((8, 6), "fp8", [], "sm_86 has no FP8 tensor cores"),
        ((8, 0), "nf4", ["torch"], ""),
        ((7, 5), "nf4", [], "sm_75 has no bf16 tensor cores"),
    ],
)
def test_candidates_of_a_gpu(
    capability: tuple[int, int],
    recipe: str,
    named: list[str],
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: capability)
    got, reason = dispatch.candidates("cuda", recipe)
    assert got == named
    assert reason.startswith(why)


def test_every_native_gpu_has_tiles() -> None:
    assert {10 * major + minor for major, minor in dispatch.NATIVE_CAPABILITIES} <= {*NATIVE_TILES}


def _test_decoded(device: str, recipe: str = WEIGHT_ONLY) -> Verdict:
    (verdict,) = selftest.self_test(
        device, recipe, SHAPES, backends=["decoded"], dtype=torch.float16
    )
    return verdict


@pytest.mark.parametrize("recipe", [WEIGHT_ONLY, "mxfp4"])
def test_a_good_backend_passes_forward_and_backward(recipe: str, device: str) -> None:
    verdict = _test_decoded(device, recipe)
    assert verdict.passed, verdict.reason
    assert verdict.milliseconds > 0
    assert "agrees with the reference to 0." in verdict.reason
    assert dispatch.verdicts(device, recipe) == [verdict]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (lambda y: y * 1.05, "is 5.0% off the reference"),
        (lambda y: y * 0, "is all zeros"),
        (lambda y: y.index_fill(0, torch.tensor([3], device=y.device), float("nan")), "not finite"),
    ],
)
@pytest.mark.parametrize("backward", [False, True])
def test_a_broken_backend_is_found(
    broken, reason: str, backward: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = products.matmul_decoded

    def damaged(x, q, *, transposed: bool = False, **options):
        y = real(x, q, transposed=transposed, **options)
        return broken(y) if transposed == backward else y

    monkeypatch.setattr(products, "matmul_decoded", damaged)
    verdict = _test_decoded(device)
    assert not verdict.passed
    assert reason in verdict.reason
    assert ("gradient" if backward else "result") in verdict.reason


def test_a_backend_that_raises_is_switched_off_with_its_words(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*args: object, **options: object) -> None:
        raise RuntimeError("out of shared memory\nmany more lines")

    monkeypatch.setattr(products, "matmul_decoded", dies)
    verdict = _test_decoded(device)
    assert not verdict.passed
    assert verdict.reason == "RuntimeError: out of shared memory."


@pytest.mark.parametrize("damage", [None, "result", "gradient"])
def test_fp8_is_trusted_only_after_scaled_mm_has_passed(
    damage: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its documented arithmetic stands in for it, whole or damaged: a flag proves nothing."""
    calls = []

    def scaled_mm(a, b, *, scale_a, scale_b, output_dtype, **_):  # noqa: ANN001, ANN202
        calls.append("gradient" if a.dtype == torch.float8_e5m2 else "result")
        product = a.float() @ b.float() * scale_a * scale_b
        return (product * 0 if calls[-1] == damage else product).to(output_dtype)

    monkeypatch.setattr(torch.nn.functional, "scaled_mm", scaled_mm)
    found = selftest.self_test("cpu", "fp8", SHAPES, backends=["rowwise", "tensorwise"])
    assert [v.backend for v in found] == ["rowwise", "tensorwise"]
    assert [v.passed for v in found] == 2 * [damage is None]
    if damage:
        assert all(f"the {damage} is all zeros" in v.reason for v in found)
    assert set(calls) >= {"result"}
    assert dispatch.verdicts("cpu", "fp8") == found


def test_nf4_names_who_decodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: (9, 0))
    monkeypatch.setattr(dispatch, "bitsandbytes_is_here", lambda: True)
    assert dispatch.candidates("cuda", "nf4") == (["bitsandbytes", "torch"], "")
    remember("cuda", _passed("torch", 1.0, "nf4"))
    assert choose_backend("cuda", "nf4").name == "torch"
    remember("cuda", _passed("bitsandbytes", 2.0, "nf4"))
    choice = choose_backend("cuda", "nf4")
    assert (choice.name, choice.how) == ("bitsandbytes", "weight-only")
    assert choice.reason == "bitsandbytes agrees."
    (verdict,) = selftest.self_test("cpu", "nf4", SHAPES, backends=["torch"])
    assert verdict.passed, verdict.reason


def test_the_self_test_rounds_activations_as_the_run_will(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = []
    real = selftest.quantize_activation

    def quantize(x, *, scale_rule, **options):  # noqa: ANN001, ANN202
        rules.append(scale_rule)
        return real(x, scale_rule=scale_rule, **options)

    monkeypatch.setattr(selftest, "quantize_activation", quantize)
    for rule in ("amax", "four_over_six"):
        options = dict(cache=tmp_path / "kernels.json", backends=["decoded"], dtype=torch.float16)
        selftest.verified(device, "nvfp4", SHAPES[:1], scale_rule=rule, **options)
    assert set(rules) == {"amax", "four_over_six"}, "a verdict of one rule stood in for the other"


def test_verdicts_are_kept_for_the_device_and_its_versions(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "deep" / "kernels.json"
    options = dict(cache=cache, backends=["decoded"], dtype=torch.float16)
    first = selftest.verified(device, WEIGHT_ONLY, SHAPES, **options)
    monkeypatch.setattr(selftest, "_try", None)
    dispatch.forget()
    assert selftest.verified(device, WEIGHT_ONLY, SHAPES, **options) == first
    assert dispatch.verdicts(device, WEIGHT_ONLY) == first
    monkeypatch.setattr(selftest, "fingerprint", lambda device: "another driver")
    with pytest.raises(TypeError):
        selftest.verified(device, WEIGHT_ONLY, SHAPES, **options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="states what a machine without a GPU says")
def test_the_report_of_a_machine_without_a_gpu(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    done = subprocess.run(
        [sys.executable, "-m", "kernels.selftest", "--json", file],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(file.read_text())["recipes"]
    assert {row["choice"]["how"] for row in rows} == {"emulated"}
    assert "A CPU has no FP4 units" in done.stdout


@pytest.mark.gpu
@pytest.mark.parametrize("recipe", get_args(LinearRecipe))
def test_every_backend_of_this_gpu_passes(recipe: str, device: str) -> None:
    if device == "cpu":
        pytest.skip("needs a GPU")
    for verdict in selftest.self_test(device, recipe):
        assert verdict.passed, verdict
