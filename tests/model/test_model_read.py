"""What a folder says of its model, and what is said where it says nothing."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny as builders
from likewise.errors import FolderError, LikewiseError, SettingsError
from likewise.model.locate import locate
from likewise.model.read import read
from likewise.model.tokenizer import open_tokenizer
from likewise.run.opening import open_runner
from likewise.settings import Overrides
from likewise.types import Plan
from tiny_pictures import changed

Tiny = Callable[[str], Path]


@pytest.mark.parametrize(
    ("name", "family", "heads", "segments"),
    [
        ("bert_classifier", "bert", ("classes",), 2),
        ("bert_encoder", "bert", (), 2),
        ("bert_fillmask", "bert", ("tokens",), 2),
        ("roberta_classifier", "roberta", ("classes",), 1),
        ("roberta_fillmask", "roberta", ("tokens",), 1),
        ("xlmr_classifier", "xlm-roberta", ("classes",), 1),
        ("xlmr_fillmask", "xlm-roberta", ("tokens",), 1),
        ("distilbert_classifier", "distilbert", ("classes",), 0),
        ("distilbert_fillmask", "distilbert", ("tokens",), 0),
        ("electra_classifier", "electra", ("classes",), 2),
        ("sentence_transformer", "bert", (), 2),
    ],
)
def test_a_text_folder_gives_its_facts(
    tiny: Tiny, name: str, family: str, heads: tuple[str, ...], segments: int
) -> None:
    from safetensors import safe_open

    model = read(tiny(name))
    assert (model.family, model.trained_heads, model.token_types) == (family, heads, segments)
    assert (model.layers, model.width, model.stored_dtype) == (2, 16, "float32")
    assert model.library == "transformers"
    with safe_open(tiny(name) / "model.safetensors", "np") as file:
        sizes = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no mapping
    assert model.parameters == sum(t.size for t in sizes.values() if t.dtype.kind == "f")
    table = next(t for key, t in sizes.items() if key.endswith("word_embeddings.weight"))
    assert model.vocabulary == len(table)


def test_reading_takes_neither_torch_nor_transformers(tiny: Tiny) -> None:
    names = ["bert_classifier", "roberta_fillmask", "sentence_transformer", "timm_tower"]
    program = (
        "import sys\nfrom likewise.model.read import read\n"
        "from likewise.model.tokenizer import open_tokenizer\n"
        f"models = [read(f) for f in {[str(tiny(name)) for name in names]!r}]\n"
        "[open_tokenizer(m) for m in models if m.tokenizer]\n"
        "print([m for m in ('torch', 'transformers', 'timm', 'onnx') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


# ---- length ----


@pytest.mark.parametrize(("positions", "pad", "limit"), [(66, 1, 64), (514, 1, 512), (514, 3, 510)])
@pytest.mark.parametrize("builder", ["roberta_classifier", "xlmr_fillmask"])
def test_B001_B002_padding_takes_positions(
    builder: str, positions: int, pad: int, limit: int, tmp_path: Path
) -> None:
    folder = getattr(builders, builder)(
        tmp_path / "model", max_position_embeddings=positions, pad_token_id=pad
    )
    changed(folder, "tokenizer_config.json", model_max_length=10**30)
    assert read(folder).max_tokens == limit


@pytest.mark.parametrize("stated", [10**6, 10**30, 1e30, None, ..., -1])
def test_B004_a_tokenizer_limit_that_is_none_does_not_count(stated: Any, tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", max_position_embeddings=40)
    changed(folder, "tokenizer_config.json", model_max_length=stated)
    assert read(folder).max_tokens == 40


def test_B004_a_folder_with_a_vocabulary_only_is_limited_by_its_positions(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", files="vocabulary")
    (folder / "tokenizer_config.json").unlink()
    assert read(folder).max_tokens == 64


@pytest.mark.parametrize(
    ("tokenizer", "sentence", "limit"),
    [(20, 16, 16), (16, 20, 16), (10**30, None, 64), (64, 256, 64)],
)
def test_B008_the_smallest_limit_counts(
    tokenizer: int, sentence: int | None, limit: int, tmp_path: Path
) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", max_seq_length=sentence)
    changed(folder, "tokenizer_config.json", model_max_length=tokenizer)
    assert read(folder).max_tokens == limit


def test_B006_a_model_of_many_positions_keeps_them(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", max_position_embeddings=2048)
    changed(folder, "tokenizer_config.json", model_max_length=...)
    assert read(folder).max_tokens == 2048


def test_a_stated_limit_may_be_smaller_and_never_larger(tiny: Tiny) -> None:
    assert read(tiny("bert_encoder"), Overrides(max_tokens=10)).max_tokens == 10
    with pytest.raises(SettingsError, match="not a limit that this model can keep"):
        read(tiny("bert_encoder"), Overrides(max_tokens=65))


def test_positions_that_leave_no_token_are_refused(tmp_path: Path) -> None:
    folder = builders.roberta_classifier(tmp_path / "model")
    changed(folder, max_position_embeddings=2)
    with pytest.raises(FolderError, match="leaves no position"):
        read(folder)


# ---- the kind of model ----


def test_B039_a_missing_model_type_is_read_from_the_architecture(tmp_path: Path) -> None:
    folder = changed(builders.xlmr_fillmask(tmp_path / "a"), model_type=...)
    assert read(folder).family == "xlm-roberta"
    folder = changed(builders.bert_encoder(tmp_path / "b"), architectures=...)
    assert (read(folder).family, read(folder).architecture) == ("bert", "")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_type": ..., "architectures": ...}, "neither model_type nor architectures"),
        ({"model_type": "llama"}, "model_type 'llama'"),
        ({"model_type": ..., "architectures": ["LlamaModel"]}, "architecture 'LlamaModel'"),
        ({"hidden_size": ...}, "hidden_size is not there"),
        ({"num_hidden_layers": "2"}, "num_hidden_layers is '2'"),
    ],
)
def test_B039_what_is_not_said_is_named(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    folder = changed(builders.bert_encoder(tmp_path / "model"), **changes)
    with pytest.raises(FolderError) as error:
        read(folder)
    assert said in error.value.found
    assert "config.json" in error.value.what
    assert len(str(error.value)) < 600


@pytest.mark.parametrize("said", [{"model_type": ...}, {"model_type": "acme-bert"}])
def test_B039_a_model_type_that_is_stated_answers_as_the_folder_that_says_it(
    said: dict[str, Any], tmp_path: Path
) -> None:
    whole = builders.bert_classifier(tmp_path / "whole")
    folder = changed(
        builders.bert_classifier(tmp_path / "model"), **said, architectures=["AcmeNet"]
    )
    with pytest.raises(FolderError, match="does not know"):
        read(folder)
    stated = Overrides(model_type="bert")
    assert read(folder, stated).family == "bert"
    plan = Plan.parse("torch/cpu/float32/b4/t1")
    runs = []
    for place, overrides in ((whole, Overrides()), (folder, stated)):
        with open_runner(place, plan=plan, overrides=overrides) as runner:
            runs.append(runner.run(["the first text", "and another"]))
    assert (runs[0].arrays["logits"] == runs[1].arrays["logits"]).all()


def test_B039_a_model_type_that_cannot_be_is_refused(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model")
    with pytest.raises(SettingsError, match="'llama'"):
        read(folder, Overrides(model_type="llama"))


@pytest.mark.parametrize(
    ("content", "found"),
    [(b"", "empty"), (b"{", "line 1"), (b"[1]", "a list"), (b"\xff\xfe{}", "byte 0 is not UTF-8")],
)
def test_B039_a_config_that_is_not_json_is_refused(
    content: bytes, found: str, tmp_path: Path
) -> None:
    folder = builders.bert_encoder(tmp_path / "model")
    (folder / "config.json").write_bytes(content)
    with pytest.raises(FolderError, match=r"config\.json") as error:
        read(folder)
    assert found in error.value.found


def test_B039_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model")
    file = folder / "config.json"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert read(folder).family == "bert"


def places(content: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every value in a JSON document."""
    if isinstance(content, dict):
        inner = [way for key in content for way in places(content[key], (*place, key))]
    elif isinstance(content, list):
        inner = [way for i, value in enumerate(content[:2]) for way in places(value, (*place, i))]
    else:
        inner = []
    return [place, *inner]


def planted(content: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    copy = list(content) if isinstance(content, list) else dict(content)
    copy[place[0]] = planted(content[place[0]], place[1:], value)
    return copy


@pytest.mark.parametrize(
    ("builder", "file"),
    [
        ("bert_classifier", "config.json"),
        ("bert_classifier", "tokenizer_config.json"),
        ("sentence_transformer", "modules.json"),
        ("sentence_transformer", "1_Pooling/config.json"),
        ("sentence_transformer", "config_sentence_transformers.json"),
        ("timm_classifier", "config.json"),
    ],
)
def test_a_value_of_another_kind_is_read_or_refused_in_words(
    builder: str, file: str, tmp_path: Path
) -> None:
    folder = getattr(builders, builder)(tmp_path / "model")
    content = json.loads((folder / file).read_text())
    values = [None, "x", -1, 0, 1.5, [], {}, True, 1e30, [None], {"a": 1}]
    random = np.random.default_rng(11)
    ways = places(content)
    for _ in range(60):
        place = ways[random.integers(len(ways))]
        value = values[random.integers(len(values))]
        builders.write_json(folder / file, planted(content, place, value))
        with contextlib.suppress(LikewiseError):  # any other exception fails the test
            model = read(folder)
            if model.tokenizer:
                open_tokenizer(model)


# ---- the folder ----


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Model").mkdir()
    with pytest.raises(FolderError, match="There is no folder") as error:
        locate(tmp_path / "model")
    assert "'Model'" in error.value.found
    with pytest.raises(FolderError, match="empty"):
        locate("")


def test_a_file_in_place_of_a_folder_is_refused(tiny: Tiny) -> None:
    file = tiny("bert_encoder") / "model.safetensors"
    with pytest.raises(FolderError, match="is a file") as error:
        read(file)
    assert str(file.parent) in error.value.fix


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="is empty"):
        read(tmp_path)


def test_a_folder_without_config_is_refused_with_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(FolderError, match=r"no config\.json") as error:
        read(tmp_path)
    assert error.value.found == "notes.txt"


def test_a_string_and_a_path_mean_the_same_folder(tiny: Tiny) -> None:
    assert read(str(tiny("bert_encoder"))) == read(tiny("bert_encoder"))
