"""A real pretrained model, out of a GGUF file: loads, converts, still knows its English."""

from __future__ import annotations

import pytest
import torch

from playground.catalog import resolve_model
from playground.config import SettingsError
from playground.data.batches import collate
from playground.data.tokenise import Example
from playground.precision.convert import convert
from playground.precision.registry import PRECISION_RECIPES
from playground.training.loss import summed_loss
from playground.training.meters import weigh
from playground.training.pretrained import load_checkpoint

TEXT = (
    "The quick brown fox jumps over the lazy dog. Once upon a time there was a little girl who "
    "lived in a small village near the forest."
)


@pytest.mark.slow
def test_smollm2_in_nvfp4() -> None:
    try:
        entry = resolve_model("smollm2-135m")
    except SettingsError as missing:
        pytest.skip(str(missing))
    model, tokenizer, unused = load_checkpoint(entry, 512, torch.float32)
    assert not unused
    ids = tokenizer(TEXT)["input_ids"]
    batch = collate([Example(ids, ids, [], None)], tokenizer.pad_token_id)

    def loss() -> float:
        with torch.no_grad():
            return float(summed_loss(model, batch)) / batch.supervised_tokens

    original = loss()
    coverage = convert(model, PRECISION_RECIPES["nvfp4"], torch.device("cpu"))
    assert coverage.converted == 30 * 7
    assert [s.name for s in coverage.skipped] == ["lm_head"]
    weights = weigh(model)
    assert weights.parameters == 134_515_008
    assert weights.bits_per_converted_weight == pytest.approx(4.5, abs=0.001)
    # Measured: 2.705 in floats. Four bits cost something, and far less than the language.
    assert original < 3
    assert original - 0.1 < loss() < original + 1
