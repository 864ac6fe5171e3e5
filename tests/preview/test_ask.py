"""The child answers, refuses, or comes to a bad end: a preview, or one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from playground.config import SettingsError
from playground.presets import load_preset
from playground.preview import ask, asking
from playground.preview.__main__ import answer

QUICK = load_preset("quick").config


def _child(code: str) -> tuple[str, ...]:
    return ("-c", f"import os, sys, signal, time, pathlib; folder = sys.argv[1]; {code}")


def _answers(text: str) -> tuple[str, ...]:
    return _child(f"pathlib.Path(folder, 'answer.json').write_text({text!r})")


@pytest.mark.slow
def test_the_real_child() -> None:
    found = ask(QUICK, rows=2)
    assert [row["fate"] for row in found["rows"]] == ["training", "training"]
    assert found["counts"]["train"] == 3000 and found["epoch"]["steps"] == 188
    assert found["template"] == "own"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ('{"prompt": "a", "completion": "b"}\n{"prompt": "c"\n', "Line 2 of 'rows.jsonl' is not"),
        ('{"prompt": "a"}\n', "The columns prompt are not a known format"),
    ],
)
def test_what_a_run_would_refuse_is_the_answer(tmp_path: Path, rows: str, said: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(rows)
    config = QUICK.model_copy(update={"dataset": str(file)})
    refused = answer({"config": config.model_dump(mode="json"), "rows": 1})["refused"]
    assert said in refused and "\n" not in refused


def test_the_child_sees_no_gpu() -> None:
    code = "sys.exit(repr(os.environ['CUDA_VISIBLE_DEVICES']))"
    with pytest.raises(SettingsError, match=r"exit code 1 \(''\)"):
        ask(QUICK, child=_child(code))


@pytest.mark.parametrize(("offline", "said"), [(True, "1"), (False, "None")])
def test_for_a_stranger_it_asks_no_hub(
    offline: bool, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    code = "sys.exit(str(os.environ.get('HF_HUB_OFFLINE')))"
    with pytest.raises(SettingsError, match=rf"exit code 1 \({said}\)"):
        ask(QUICK, child=_child(code), offline=offline)


@pytest.mark.parametrize(
    ("child", "said"),
    [
        (_child("os.kill(os.getpid(), signal.SIGKILL)"), "ended by SIGKILL"),
        (_child("raise RuntimeError('no rows')"), "exit code 1 (RuntimeError: no rows)"),
        (_child("sys.exit(4)"), "exit code 4 (it said nothing)"),
        (_child("pass"), "No answer that can be read came of the rows (FileNotFoundError)"),
        (_answers("{"), "No answer that can be read came of the rows (JSONDecodeError)"),
        (_answers('{"refused": "Not this one."}'), "Not this one."),
    ],
)
def test_a_child_that_ends_badly_is_one_sentence(child: tuple[str, ...], said: str) -> None:
    with pytest.raises(SettingsError) as error:
        ask(QUICK, child=child)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_child_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_LONGEST_S", 0.2)
    with pytest.raises(SettingsError, match="was ended"):
        ask(QUICK, child=_child("time.sleep(600)"))


def test_neither_path_nor_secret_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SettingsError) as error:
        ask(QUICK, child=_child(f"sys.exit({str(tmp_path / 'x')!r} + ' hf_abcdefgh12')"))
    assert "(~/x ***)" in str(error.value)
