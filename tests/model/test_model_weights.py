"""What is loaded is what the file holds: every tensor, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import tiny as builders
from likewise.errors import FolderError, LikewiseError, WeightsError
from likewise.model.read import read
from likewise.model.weights import Loaded, load
from likewise.types import Head, Model, Network

Tiny = Callable[[str], Path]

IDS = torch.tensor([[2, 15, 26, 37, 3], [2, 28, 39, 3, 1]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 1, 0]])
ROWS = torch.tensor([1, 6, 2])
PIXELS = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(5))
TEXT = [
    ("bert_classifier", "classes"), ("roberta_classifier", "classes"),
    ("xlmr_classifier", "classes"), ("distilbert_classifier", "classes"),
    ("electra_classifier", "classes"), ("bert_fillmask", "tokens"),
    ("roberta_fillmask", "tokens"), ("xlmr_fillmask", "tokens"),
    ("distilbert_fillmask", "tokens"), ("bert_encoder", "hidden"),
    ("sentence_transformer", "hidden"), ("roberta_fillmask", "hidden"),
    ("bert_classifier", "hidden"), ("distilbert_classifier", "hidden"),
]  # fmt: skip


def network(model: Model, head: Head) -> Network:
    if model.library == "timm":
        return Network(head, ("pixel_values",), ("features",))
    segments = ("token_type_ids",) if model.token_types > 1 else ()
    rows = ("rows",) if head == "tokens" else ()
    return Network(head, ("input_ids", "attention_mask", *segments, *rows), ("output",))


def loaded(folder: Path, head: Head, dtype: str = "float32", seed: int = 0) -> Loaded:
    model = read(folder)
    return load(model, network(model, head), dtype, seed=seed)


def output(folder: Path, head: Head, dtype: str = "float32") -> torch.Tensor:
    model = read(folder)
    feeds = {
        "input_ids": IDS,
        "attention_mask": MASK,
        "token_type_ids": torch.zeros_like(IDS),
        "rows": ROWS,
        "pixel_values": PIXELS.to(getattr(torch, dtype)),
    }
    wanted = network(model, head)
    module = load(model, wanted, dtype).module
    with torch.inference_mode():
        (result,) = module(*(feeds[name] for name in wanted.inputs))
    assert isinstance(result, torch.Tensor)
    return result


def reference(folder: Path, head: Head, dtype: str = "float32") -> torch.Tensor:
    import transformers

    kind = {
        "hidden": transformers.AutoModel,
        "classes": transformers.AutoModelForSequenceClassification,
        "tokens": transformers.AutoModelForMaskedLM,
    }[head]
    module = kind.from_pretrained(
        str(folder), dtype=getattr(torch, dtype), attn_implementation="eager"
    ).eval()
    with torch.inference_mode():
        result: torch.Tensor = module(input_ids=IDS, attention_mask=MASK)[0]
    return result.reshape(-1, result.shape[-1])[ROWS] if head == "tokens" else result


def rename(folder: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, Any]]) -> Path:
    """Change the tensors of a folder's safetensors file."""
    from safetensors.torch import load_file, save_file

    file = folder / "model.safetensors"
    save_file(change(load_file(file)), file)
    return folder


def without(*marks: str) -> Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
    return lambda tensors: {n: t for n, t in tensors.items() if not any(m in n for m in marks)}


def configured(folder: Path, **changes: Any) -> Path:
    file = folder / "config.json"
    builders.write_json(file, {**json.loads(file.read_text()), **changes})
    return folder


# ---- the same numbers as the library ----


@pytest.mark.parametrize(("name", "head"), TEXT)
def test_outputs_are_those_of_transformers(tiny: Tiny, name: str, head: Head) -> None:
    assert torch.equal(output(tiny(name), head), reference(tiny(name), head))


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
def test_each_dtype_is_that_of_transformers(tiny: Tiny, dtype: str) -> None:
    ours = output(tiny("roberta_fillmask"), "tokens", dtype)
    theirs = reference(tiny("roberta_fillmask"), "tokens", dtype)
    assert ours.dtype == getattr(torch, dtype)
    # in half precision a head on 3 rows may add up in another order than one on all rows
    tolerance = 1e-12 if dtype == "float64" else 0.1
    assert torch.allclose(ours, theirs, atol=tolerance, rtol=0)


@pytest.mark.parametrize("name", ["timm_classifier", "timm_tower", "timm_features"])
def test_picture_outputs_are_those_of_timm(tiny: Tiny, name: str) -> None:
    import timm

    module = timm.create_model(f"local-dir:{tiny(name)}", pretrained=True).eval()
    bare = timm.create_model(f"local-dir:{tiny(name)}", pretrained=True, num_classes=0).eval()
    with torch.inference_mode():
        if name != "timm_features":
            assert torch.equal(output(tiny(name), "picture"), module(PIXELS))
        assert torch.equal(output(tiny(name), "picture_features"), bare(PIXELS))


@pytest.mark.parametrize("architecture", ["test_resnet", "test_efficientnet", "test_vit"])
def test_other_picture_architectures_load_too(architecture: str, tmp_path: Path) -> None:
    import timm

    more: dict[str, Any] = {"model_args": {"img_size": 64}} if "vit" in architecture else {}
    folder = builders.timm_classifier(tmp_path / "model", architecture=architecture, **more)
    module = timm.create_model(f"local-dir:{folder}", pretrained=True).eval()
    with torch.inference_mode():
        assert torch.equal(output(folder, "picture"), module(PIXELS))


@pytest.mark.parametrize("format", ["bin", "old bin"])
def test_pickles_load_to_the_same_numbers(format: str, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    folder = builders.xlmr_fillmask(tmp_path / "model")
    expected = loaded(folder, "tokens").facts
    tensors = load_file(folder / "model.safetensors")
    torch.save(
        tensors,
        folder / "pytorch_model.bin",
        _use_new_zipfile_serialization=format == "bin",
    )
    (folder / "model.safetensors").unlink()
    facts = loaded(folder, "tokens").facts
    assert facts["sha256"] == expected["sha256"]
    assert facts["checked"] == len(tensors)


def test_half_precision_files_are_brought_to_float32(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    rename(folder, lambda tensors: {n: t.half() for n, t in tensors.items()})
    assert read(folder).stored_dtype == "float16"
    result = loaded(folder, "classes").facts
    assert result["dtypes"] == {"float32": read(folder).parameters}
    assert result["checked"] == result["tensors"]
    assert torch.equal(output(folder, "classes"), reference(folder, "classes"))


# ---- the facts ----


@pytest.mark.parametrize(("name", "head"), TEXT[:10])
def test_every_tensor_of_the_file_is_accounted_for(tiny: Tiny, name: str, head: Head) -> None:
    facts = loaded(tiny(name), head).facts
    assert (facts["missing"], facts["unexpected"]) == ([], [])
    assert facts["checked"] + len(facts["unused"]) == facts["tensors"]
    assert facts["unused"] == [] or head == "hidden"


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_two_loads_with_two_seeds_are_the_same(tiny: Tiny, dtype: str) -> None:
    for name, head in TEXT:
        facts = [loaded(tiny(name), head, dtype, seed=seed).facts for seed in (1, 2)]
        assert facts[0]["sha256"] == facts[1]["sha256"]
        assert [f["seed"] for f in facts] == [1, 2]


def test_one_changed_bit_changes_the_digest(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    before = loaded(folder, "classes").facts["sha256"]
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-400] ^= 1
    (folder / "model.safetensors").write_bytes(content)
    assert loaded(folder, "classes").facts["sha256"] != before


def test_B082_the_module_is_in_eval_mode_and_eager(tiny: Tiny) -> None:
    for name, head in TEXT[:3]:
        module = loaded(tiny(name), head).module
        assert not any(part.training for part in module.modules())
        assert not any(p.requires_grad for p in module.parameters())
        assert module.inner.config._attn_implementation == "eager"


def test_loading_neither_draws_from_nor_seeds_the_global_generator(tiny: Tiny) -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    loaded(tiny("bert_classifier"), "classes", seed=5)
    assert torch.equal(torch.rand(3), expected)


def test_loading_says_nothing_and_leaves_the_log_level(
    tiny: Tiny, capfd: pytest.CaptureFixture[str]
) -> None:
    from transformers.utils import logging

    level = logging.get_verbosity()
    loaded(tiny("bert_classifier"), "hidden")
    assert logging.get_verbosity() == level
    assert logging.is_progress_bar_enabled()
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_dtype_that_no_float_model_has_is_refused(tiny: Tiny) -> None:
    with pytest.raises(ValueError, match="int8"):
        loaded(tiny("bert_classifier"), "classes", "int8")


# ---- names ----


@pytest.mark.parametrize("prefix", ["module.", "model.", "_orig_mod.", "module.model."])
def test_B023_a_prefix_on_every_name_is_taken_off_and_said(prefix: str, tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    expected = output(folder, "classes")
    rename(folder, lambda tensors: {f"{prefix}{n}": t for n, t in tensors.items()})
    assert read(folder).trained_heads == ("classes",)
    assert any(prefix.split(".", maxsplit=1)[0] in warning for warning in read(folder).warnings)
    assert torch.equal(output(folder, "classes"), expected)


def test_B023_a_prefix_on_some_names_only_is_refused(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    rename(folder, lambda t: {(f"module.{n}" if "layer.1" in n else n): v for n, v in t.items()})
    with pytest.raises(WeightsError, match="lacks weights"):
        loaded(folder, "classes")


@pytest.mark.parametrize("key", ["state_dict", "model_state_dict", "model"])
def test_B023_a_nested_checkpoint_is_opened_and_said(key: str, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    folder = builders.bert_classifier(tmp_path / "model")
    expected = output(folder, "classes")
    tensors = load_file(folder / "model.safetensors")
    torch.save({"epoch": 3, key: tensors}, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert any(repr(key) in warning for warning in read(folder).warnings)
    assert torch.equal(output(folder, "classes"), expected)


def test_B025_names_without_the_base_prefix_load_and_equal(tmp_path: Path) -> None:
    folder = builders.bert_fillmask(tmp_path / "model")
    expected = output(folder, "hidden")
    rename(folder, lambda t: {n.removeprefix("bert."): v for n, v in t.items() if "bert." in n})
    assert torch.equal(output(folder, "hidden"), expected)


def test_old_layer_norm_names_are_understood(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    expected = output(folder, "classes")

    def old(name: str) -> str:
        return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        )

    rename(folder, lambda tensors: {old(name): t for name, t in tensors.items()})
    assert torch.equal(output(folder, "classes"), expected)
    facts = loaded(folder, "classes").facts
    assert facts["checked"] == facts["tensors"]


def test_B032_a_parameter_called_gamma_stays_itself(tmp_path: Path) -> None:
    folder = builders.timm_classifier(tmp_path / "model")
    before = output(folder, "picture")
    rename(folder, lambda t: {n: v * 2 if n.endswith("gamma") else v for n, v in t.items()})
    after = output(folder, "picture")
    assert not torch.allclose(before, after, atol=0.1)
    facts = loaded(folder, "picture").facts
    assert facts["checked"] == facts["tensors"]


def test_B034_a_stored_position_buffer_is_passed_over(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    expected = output(folder, "classes")
    buffer = {"bert.embeddings.position_ids": torch.arange(64)[None]}
    rename(folder, lambda tensors: tensors | buffer)
    assert torch.equal(output(folder, "classes"), expected)
    assert read(folder).parameters == sum(
        p.numel() for p in loaded(folder, "classes").module.parameters()
    )


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
    assert torch.equal(output(folder, "tokens"), reference(folder, "tokens"))
    assert not torch.allclose(output(folder, "tokens"), tied, atol=0.1)
    facts = loaded(folder, "tokens").facts
    assert facts["checked"] == facts["tensors"]


def test_B036_an_untied_head_that_is_stored_loads(tmp_path: Path) -> None:
    folder = builders.bert_fillmask(tmp_path / "model", tie_word_embeddings=False)
    assert read(folder).trained_heads == ("tokens",)
    assert torch.equal(output(folder, "tokens"), reference(folder, "tokens"))


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


def test_a_config_that_transformers_cannot_build_is_refused(tmp_path: Path) -> None:
    folder = configured(builders.bert_classifier(tmp_path / "model"), num_attention_heads=3)
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


# ---- rows ----


def test_the_mask_head_runs_on_the_rows_asked_for_alone(tiny: Tiny) -> None:
    model = read(tiny("roberta_fillmask"))
    module = load(model, network(model, "tokens"), "float32").module
    seen: list[tuple[int, ...]] = []
    module.inner.lm_head.register_forward_hook(
        lambda _module, inputs, _output: seen.append(tuple(inputs[0].shape))
    )
    with torch.inference_mode():
        (first,) = module(IDS, MASK, torch.tensor([3, 0]))
        (none,) = module(IDS, MASK, torch.zeros(0, dtype=torch.int64))
    assert seen == [(2, 16), (0, 16)]
    assert (first.shape, none.shape) == ((2, model.vocabulary), (0, model.vocabulary))
