"""``formats`` in a terminal: within 80 columns, the same figures, a sentence for wrong asking."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from playground import __main__ as terminal
from playground.cli import formats as command
from playground.formats.__main__ import answer
from playground.formats.words import code_bits, exact, percent, scale_said

SIXTEEN = "6 -3 1.5 0.2 -0.7 2.4 4.8 -4.1 0 0.9 -1.2 3.4 2.9 -0.3 1.1 -5.9"


class Here:
    """The child's answers without a child."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def ask(self, **question: Any) -> Any:
        *_, last = answer({**question, "home": str(self.home)})
        return last["answer"]

    def numbers(self, typed: str) -> Any:
        from playground.formats import read_numbers

        return self.ask(about="numbers", values=read_numbers(typed))

    def layer(self, model: str, layer: str | None, block: dict[str, Any]) -> Any:
        return self.ask(about="layer", model=model, layer=layer, block=block)

    def model(self, model: str) -> Any:
        return answer({"about": "model", "model": model, "home": str(self.home)})

    def close(self) -> None:
        """Nothing to end."""


@pytest.fixture
def say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.setattr(command, "Microscope", Here)
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path / "home"))

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["playground", "formats", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            terminal.main()
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return run


def test_numbers(say: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    code, out, err = say("--values", SIXTEEN, "--json", file)
    assert (code, err) == (0, "")
    assert "0 11 1" in out and "MXFP4" in out and "Second scale:" in out
    assert json.loads(file.read_text())["formats"][0]["codes"][0] == 7
    assert max(len(line) for line in out.splitlines() if not line.endswith(".")) <= 80


def test_a_layer(say: Callable[..., Any]) -> None:
    code, out, err = say("tiny", "--layer", "layers.0.mlp.up", "--block", "3,32")
    assert (code, err) == (0, "")
    assert "model.layers.0.mlp.up_proj.weight of tiny: 384 x 128, fp32" in out
    assert "Row 3, columns 32 to 47: error" in out


def test_a_model(say: Callable[..., Any]) -> None:
    code, out, err = say()
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert sum("layers." in line for line in lines) == 35
    total = next(line for line in lines if line.startswith("all layers together"))
    assert total.split()[3:] == ["9.52", "8.70", "8.15", "11.6", "9.22", "2.65"]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--values", "1 2"), "There are 2 numbers, but a block has 16: add 14."),
        (("tiny", "--values", SIXTEEN), "--values and the model 'tiny' are both given;"),
        (("--layer", "x", "--values", SIXTEEN), "--values and --layer are both given;"),
        (("tiny", "--layer", "mlp.up", "--block", "best"), "--block is 'best'; give median, worst"),
        (("tiny", "--layer", "nothing"), "Layer 'nothing' is not in this model;"),
        (("--json", "/nowhere/x.json"), "JSON file '/nowhere/x.json' cannot be written"),
    ],
)
def test_one_sentence(say: Callable[..., Any], arguments: tuple[str, ...], said: str) -> None:
    code, out, err = say(*arguments)
    assert (code, out) == (1, "") and said in err and err.count("\n") == 1


def test_words() -> None:
    assert [percent(v) for v in (None, 0.0, 1.0, 0.0952, 0.1149, 8e-8)] == [
        "—", "0 %", "100 %", "9.52 %", "11.5 %", "< 0.0001 %",
    ]  # fmt: skip
    assert exact(2.0**-9) == "0.001953125"
    assert scale_said("mxfp4", {"code": 120, "scale": 2.0**-7}) == "2⁻⁷ = 0.0078125"
    assert scale_said("fp8", {"code": None, "scale": 4.0}) == "2² = 4"
    assert scale_said("nf4", {"code": None, "scale": 4.0}) == "4"
    assert code_bits(0x7E, (1, 4, 3)) == ["0", "1111", "110"]
