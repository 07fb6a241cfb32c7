"""Tensors under names of other times and tools are found, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from loading import loaded, output, rename

import tiny as builders
from likewise.errors import WeightsError
from likewise.model.read import read


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Tiny products are slower on several threads that wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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
