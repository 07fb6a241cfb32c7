"""What is loaded is what the file holds: every tensor, and the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from loading import IDS, MASK, PIXELS, TEXT, loaded, network, output, reference, rename, same

import tiny as builders
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


# ---- the same numbers as the library ----


@pytest.mark.parametrize(("name", "head"), TEXT)
def test_outputs_are_those_of_transformers(tiny: Tiny, name: str, head: Head) -> None:
    assert same(output(tiny(name), head), reference(tiny(name), head), head)


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
    for name, head in TEXT[::3]:
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
