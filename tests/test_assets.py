"""What is bundled is small, is what its scripts write, and fits together."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from safetensors import safe_open
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase

from playground.assets import corpus, make_datasets
from playground.assets.train_tiny import SPECIAL_TOKENS, encode, evaluate
from playground.catalog import resolve_model

TINY = Path(make_datasets.__file__).parent / "tiny"
DATASETS = list(make_datasets.GENERATORS)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerBase:
    return AutoTokenizer.from_pretrained(TINY)


def _rows(dataset: str, split: str) -> list[dict[str, str]]:
    lines = (make_datasets.FOLDER / dataset / f"{split}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


# --- datasets ---------------------------------------------------------------------------------


def test_the_generators_write_the_bundled_bytes(tmp_path: Path) -> None:
    make_datasets.write(tmp_path)
    written = sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*.jsonl"))
    assert len(written) == 2 * len(DATASETS)
    for name in written:
        assert (tmp_path / name).read_bytes() == (make_datasets.FOLDER / name).read_bytes(), name


@pytest.mark.parametrize("dataset", DATASETS)
def test_no_prompt_is_in_both_splits_or_twice_in_one(dataset: str) -> None:
    train = [row["prompt"] for row in _rows(dataset, "train")]
    held_out = [row["prompt"] for row in _rows(dataset, "eval")]
    assert (len(train), len(held_out)) == (make_datasets.TRAIN_ROWS, make_datasets.EVAL_ROWS)
    assert len(set(train + held_out)) == len(train) + len(held_out)


def test_json_answers_are_json_with_the_promised_keys() -> None:
    for row in _rows("sentences-to-json", "eval"):
        answer = json.loads(row["completion"])
        assert list(answer) == ["name", "age", "job", "city"]
        assert all(str(value) in row["prompt"] for value in answer.values()), row


def test_the_corpus_never_shows_the_bundled_tasks() -> None:
    keys = make_datasets.rows("sentences-to-json")[1][0]["completion"][:9]  # {"name":
    asked = ("Write as JSON", "ISO date", "Convert ", "How many")
    for chat in itertools.islice(corpus.chats(7), 5000):
        text = "\n".join(turn["content"] for turn in chat)
        assert keys not in text and not any(words in text for words in asked), text


def test_the_same_seed_writes_the_same_chats() -> None:
    first, again, other = (list(itertools.islice(corpus.chats(s), 50)) for s in (4, 4, 5))
    assert first == again != other


# --- the tiny model ---------------------------------------------------------------------------


def test_the_weights_take_at_most_eight_megabytes() -> None:
    assert sum(file.stat().st_size for file in TINY.glob("*.safetensors")) <= 8_000_000


def test_it_is_a_llama_whose_linears_read_whole_blocks() -> None:
    config = AutoConfig.from_pretrained(TINY)
    assert config.model_type == "llama" and config.architectures == ["LlamaForCausalLM"]
    with safe_open(TINY / "model.safetensors", framework="pt") as weights:
        linears = [name for name in weights.keys() if "_proj" in name]  # noqa: SIM118
        widths = {weights.get_slice(name).get_shape()[1] for name in linears}
    assert len(linears) == 7 * config.num_hidden_layers
    assert all(width % 64 == 0 for width in widths), widths


def test_the_catalog_knows_its_size() -> None:
    model = AutoModelForCausalLM.from_pretrained(TINY)
    assert sum(p.numel() for p in model.parameters()) == resolve_model("tiny").parameters


def test_it_can_do_what_it_was_trained_for(tokenizer: PreTrainedTokenizerBase) -> None:
    loss, right = evaluate(AutoModelForCausalLM.from_pretrained(TINY), tokenizer, count=128)
    assert loss < 0.2 and right > 0.7, (loss, right)  # 0.07 and 0.89 on all 512


def test_the_template_writes_every_role_and_ends_each_turn(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    chat = [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": "Repeat: owl"},
        {"role": "assistant", "content": "owl"},
    ]
    text = tokenizer.apply_chat_template(chat, tokenize=False)
    assert text == (
        "<|bos|><|system|>Answer briefly.<|end|><|user|>Repeat: owl<|end|><|assistant|>owl<|end|>"
    )
    opened = tokenizer.apply_chat_template(chat[:2], tokenize=False, add_generation_prompt=True)
    assert text.startswith(opened) and opened.endswith("<|assistant|>")
    assert tokenizer.eos_token == "<|end|>" and tokenizer.pad_token != tokenizer.eos_token


def test_the_template_marks_what_the_assistant_says(tokenizer: PreTrainedTokenizerBase) -> None:
    chat = [{"role": "user", "content": "Repeat: owl"}, {"role": "assistant", "content": "owl"}]
    marked = tokenizer.apply_chat_template(
        chat, tokenize=True, return_dict=True, return_assistant_tokens_mask=True
    )
    said = [i for i, m in zip(marked["input_ids"], marked["assistant_masks"], strict=True) if m]
    assert tokenizer.decode(said) == "owl<|end|>"


def test_a_role_without_a_place_in_the_template_is_refused(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    with pytest.raises(Exception, match="knows the roles system, user and assistant"):
        tokenizer.apply_chat_template([{"role": "tool", "content": "4"}], tokenize=False)


def test_pretraining_encodes_as_the_template_does(tokenizer: PreTrainedTokenizerBase) -> None:
    for chat in itertools.islice(corpus.chats(6), 100):
        ids = tokenizer.apply_chat_template(chat, tokenize=True, return_dict=False)
        assert encode(tokenizer, chat).ids == list(ids)


def test_special_tokens_are_single_tokens(tokenizer: PreTrainedTokenizerBase) -> None:
    assert [tokenizer.encode(token) for token in SPECIAL_TOKENS] == [[i] for i in range(6)]


@pytest.mark.parametrize("dataset", DATASETS)
def test_dataset_text_survives_the_tokenizer(
    tokenizer: PreTrainedTokenizerBase, dataset: str
) -> None:
    for row in _rows(dataset, "eval"):
        for text in row.values():
            assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize(
    "text", ["", " a  b\n", "naïve Zoë, 東京 🙂", "<script>", "don't , stop !"]
)
def test_any_text_survives_the_tokenizer(tokenizer: PreTrainedTokenizerBase, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_rows_are_short_enough_to_learn_quickly(tokenizer: PreTrainedTokenizerBase) -> None:
    for dataset in DATASETS:
        answers = [len(tokenizer.encode(r["completion"])) + 1 for r in _rows(dataset, "eval")]
        prompts = [len(tokenizer.encode(r["prompt"])) + 4 for r in _rows(dataset, "eval")]
        assert max(answers) <= 48, (dataset, max(answers))
        assert max(map(sum, zip(prompts, answers, strict=True))) <= 96, dataset
