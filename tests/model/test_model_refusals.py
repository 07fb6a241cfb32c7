"""Weights that are not all there, or not of this model, are refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from loading import configured, loaded, network, output, reference, rename, same, without

import tiny as builders
from likewise.errors import FolderError, LikewiseError, WeightsError
from likewise.model.read import read
from likewise.model.weights import load
from likewise.types import Head

Tiny = Callable[[str], Path]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Tiny products are slower on several threads that wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# ---- refusals ----


@pytest.mark.parametrize("head", ["classes", "tokens"])
def test_B024_an_untrained_head_is_refused_by_its_tensors(head: Head, tiny: Tiny) -> None:
    folder = tiny("bert_encoder")
    with pytest.raises(WeightsError, match="would be random numbers") as error:
        loaded(folder, head)
    assert ("classifier" if head == "classes" else "cls.predictions") in error.value.found


def test_B024_a_mask_model_is_no_classifier(tiny: Tiny) -> None:
    with pytest.raises(WeightsError) as error:
        loaded(tiny("roberta_fillmask"), "classes")
    assert "classifier.dense.weight" in error.value.found


def test_B024_a_token_classifier_is_no_text_classifier(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    configured(folder, architectures=["BertForTokenClassification"])
    with pytest.raises(WeightsError, match="no head that was trained"):
        loaded(folder, "classes")


@pytest.mark.parametrize("name", ["bert_classifier", "bert_encoder", "distilbert_fillmask"])
def test_B025_absent_layers_are_refused_by_name(name: str, tmp_path: Path) -> None:
    folder = rename(getattr(builders, name)(tmp_path / "model"), without("layer.1."))
    for head in ("hidden", *read(folder).trained_heads):
        with pytest.raises(WeightsError) as error:
            loaded(folder, head)  # type: ignore[arg-type]  # the heads of a model are heads
        assert "layer.1." in error.value.found


def test_B025_a_layer_more_than_the_config_has_is_refused(tmp_path: Path) -> None:
    folder = configured(builders.bert_classifier(tmp_path / "model"), num_hidden_layers=1)
    with pytest.raises(WeightsError, match="no place for") as error:
        loaded(folder, "classes")
    assert "layer.1." in error.value.found


def test_an_adapter_inside_the_weights_is_refused(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    name = "bert.encoder.layer.0.attention.self.query.lora_A.weight"
    rename(folder, lambda tensors: tensors | {name: torch.ones(4, 16)})
    with pytest.raises(WeightsError, match="no place for") as error:
        loaded(folder, "classes")
    assert "lora_A" in error.value.found


def test_a_missing_pooler_is_refused_only_where_the_classifier_uses_it(tmp_path: Path) -> None:
    folder = rename(builders.bert_classifier(tmp_path / "model"), without("pooler"))
    with pytest.raises(WeightsError) as error:
        loaded(folder, "classes")
    assert "pooler" in error.value.found
    assert loaded(folder, "hidden").facts["missing"] == []


@pytest.mark.parametrize("changes", [{"intermediate_size": 48}, {"vocab_size": 200}])
def test_weights_of_another_shape_are_refused(changes: dict[str, int], tmp_path: Path) -> None:
    folder = configured(builders.bert_classifier(tmp_path / "model"), **changes)
    with pytest.raises(WeightsError, match="other shapes") as error:
        loaded(folder, "classes")
    assert "is expected" in error.value.found


def test_B035_a_tied_decoder_is_no_missing_tensor(tiny: Tiny) -> None:
    for name in ("bert_fillmask", "roberta_fillmask", "xlmr_fillmask", "distilbert_fillmask"):
        assert loaded(tiny(name), "tokens").facts["missing"] == []


def test_B035_a_stored_decoder_that_equals_the_embeddings_is_fine(tmp_path: Path) -> None:
    folder = builders.bert_fillmask(tmp_path / "model")
    expected = output(folder, "tokens")

    def decoder(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        table = tensors["bert.embeddings.word_embeddings.weight"].clone()
        return tensors | {"cls.predictions.decoder.weight": table}

    rename(folder, decoder)
    assert torch.equal(output(folder, "tokens"), expected)


def test_B036_a_head_that_is_neither_stored_nor_tied_is_refused(tmp_path: Path) -> None:
    folder = configured(builders.bert_fillmask(tmp_path / "model"), tie_word_embeddings=False)
    assert read(folder).trained_heads == ()
    with pytest.raises(WeightsError) as error:
        loaded(folder, "tokens")
    assert "decoder.weight" in error.value.found


def test_B036_a_stored_decoder_of_its_own_is_used_whatever_the_config_says(tmp_path: Path) -> None:
    folder = builders.bert_fillmask(tmp_path / "model")
    tied = output(folder, "tokens")
    other = torch.randn(119, 16, generator=torch.Generator().manual_seed(3))
    rename(folder, lambda tensors: tensors | {"cls.predictions.decoder.weight": other})
    assert same(output(folder, "tokens"), reference(folder, "tokens"), "tokens")
    assert not torch.allclose(output(folder, "tokens"), tied, atol=0.1)
    facts = loaded(folder, "tokens").facts
    assert facts["checked"] == facts["tensors"]


def test_B036_an_untied_head_that_is_stored_loads(tmp_path: Path) -> None:
    folder = builders.bert_fillmask(tmp_path / "model", tie_word_embeddings=False)
    assert read(folder).trained_heads == ("tokens",)
    assert same(output(folder, "tokens"), reference(folder, "tokens"), "tokens")


def test_B079_a_picture_head_that_is_not_there_is_refused(tmp_path: Path) -> None:
    folder = rename(builders.timm_classifier(tmp_path / "model"), without("head.fc"))
    with pytest.raises(WeightsError, match="random numbers") as error:
        loaded(folder, "picture")
    assert "head.fc.weight" in error.value.found
    assert loaded(folder, "picture_features").facts["missing"] == []


def test_an_absent_picture_layer_is_refused(tmp_path: Path) -> None:
    folder = rename(builders.timm_features(tmp_path / "model"), without("stages.1.blocks.0.gamma"))
    with pytest.raises(WeightsError) as error:
        loaded(folder, "picture_features")
    assert "stages.1.blocks.0.gamma" in error.value.found


def test_a_picture_tensor_too_many_is_refused(tmp_path: Path) -> None:
    folder = builders.timm_features(tmp_path / "model")
    rename(folder, lambda tensors: tensors | {"stages.9.weight": torch.ones(2)})
    with pytest.raises(WeightsError, match="no place for"):
        loaded(folder, "picture_features")


def test_unloaded_batch_statistics_are_refused(tmp_path: Path) -> None:
    folder = builders.timm_classifier(tmp_path / "model", architecture="test_resnet")
    rename(folder, without("running_var"))
    with pytest.raises(WeightsError) as error:
        loaded(folder, "picture")
    assert "running_var" in error.value.found


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"architecture": "no_such_net"}, "timm cannot build"),
        ({"model_args": {"pretrained": True}}, "would fetch"),
        ({"model_args": {"no_such_option": 1}}, "timm cannot build"),
    ],
)
def test_a_picture_model_that_cannot_be_built_is_refused(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    folder = configured(builders.timm_classifier(tmp_path / "model"), **changes)
    with pytest.raises(FolderError, match=said):
        loaded(folder, "picture")


@pytest.mark.parametrize("heads", [3, 0])
def test_a_config_that_transformers_cannot_build_is_refused(heads: int, tmp_path: Path) -> None:
    folder = configured(builders.bert_classifier(tmp_path / "model"), num_attention_heads=heads)
    with pytest.raises(FolderError, match="transformers cannot build"):
        loaded(folder, "classes")


def test_a_folder_without_weights_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "model"
    shutil.copytree(tiny("bert_classifier"), folder)
    model = read(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(LikewiseError, match="no weights"):
        load(model, network(model, "classes"), "float32")


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_a_number_that_is_not_the_files_is_refused(
    tiny: Tiny, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from likewise.model import weights

    build = weights._text

    def stale(*arguments: Any) -> Any:
        inner = build(*arguments)
        with torch.no_grad():
            inner.bert.encoder.layer[1].output.dense.weight[3, 5] += 1
        return inner

    monkeypatch.setattr(weights, "_text", stale)
    with pytest.raises(WeightsError, match="not the file's") as error:
        loaded(tiny("bert_classifier"), "classes", dtype)
    assert "layer.1.output.dense.weight" in error.value.found
