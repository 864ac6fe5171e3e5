"""All layers: streamed, summed, kept by the files' content, and computed anew when that changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from playground.formats import model as measuring
from playground.formats.known import FORMATS
from playground.formats.model import model_errors
from playground.formats.rounding import decoded, error
from playground.formats.weights import open_weights


@pytest.fixture(autouse=True)
def small_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "gaussian_errors", lambda: dict.fromkeys(FORMATS, 0.1))


def written(folder: Path, **more: torch.Tensor) -> Path:
    draw = torch.Generator().manual_seed(0)
    tensors = {
        "layers.0.a.weight": torch.randn(8, 64, generator=draw),
        "layers.1.a.weight": torch.randn(16, 48, generator=draw) * 3,
        "embed.weight": torch.randn(8, 64, generator=draw),
    }
    save_file(tensors | more, folder / "model.safetensors")
    (folder / "config.json").write_text("{}")
    return folder


def test_layer_by_layer_then_together(tmp_path: Path) -> None:
    weights = open_weights(str(written(tmp_path)))
    *told, last = model_errors(weights, tmp_path / "home")
    assert [line["tell"]["done"] for line in told] == [1, 2]
    found = last["answer"]
    assert (found["layers"], found["left_out"], found["kept"]) == (2, 1, False)
    assert [line["tell"]["row"] for line in told] == found["rows"]
    first, second = found["rows"]
    assert second["errors"]["mxfp4"] is None and found["total"]["mxfp4"] is None  # 48 = 1.5 * 32
    x = weights.read("layers.0.a.weight")
    assert first["errors"]["nf4"] == error(x, decoded(x, "nf4"))
    both = [weights.read(row["name"]).reshape(-1) for row in found["rows"]]
    rounded = [decoded(weights.read(r["name"]), "nvfp4").reshape(-1) for r in found["rows"]]
    assert found["total"]["nvfp4"] == pytest.approx(error(torch.cat(both), torch.cat(rounded)))


def test_kept_until_a_file_changes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    list(model_errors(open_weights(str(written(tmp_path))), home))
    (again,) = model_errors(open_weights(str(tmp_path)), home)
    assert again["answer"]["kept"] is True and len(again["answer"]["rows"]) == 2
    written(tmp_path, **{"layers.2.a.weight": torch.ones(2, 32)})
    *_, last = model_errors(open_weights(str(tmp_path)), home)
    assert last["answer"]["kept"] is False and len(last["answer"]["rows"]) == 3
    assert len(list((home / "formats").iterdir())) == 2


def test_what_was_cut_short_is_computed_anew(tmp_path: Path) -> None:
    home = tmp_path / "home"
    weights = open_weights(str(written(tmp_path)))
    list(model_errors(weights, home))
    (kept,) = (home / "formats").iterdir()
    kept.write_text(kept.read_text()[:50])
    *_, last = model_errors(weights, home)
    assert last["answer"]["kept"] is False
    assert json.loads(kept.read_text())["layers"] == 2


def test_nan_is_told_and_not_rounded(tmp_path: Path) -> None:
    bad = torch.full((2, 32), torch.nan)
    weights = open_weights(str(written(tmp_path, **{"layers.0.b.weight": bad})))
    *_, last = model_errors(weights, tmp_path / "home")
    row = next(row for row in last["answer"]["rows"] if row["name"] == "layers.0.b.weight")
    assert row["non_finite"] == 64 and set(row["errors"].values()) == {None}
    json.dumps(last, allow_nan=False)
