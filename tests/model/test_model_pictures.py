"""timm folders: what they are for, and how pictures become pixels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tiny as builders
from likewise.errors import FolderError, WeightsError
from likewise.model.read import read
from likewise.settings import Overrides
from likewise.types import Preprocessing

Tiny = Callable[[str], Path]


def configured(folder: Path, picture: dict[str, Any], **changes: Any) -> Path:
    file = folder / "config.json"
    config = json.loads(file.read_text())
    config = {**config, **changes, "pretrained_cfg": {**config["pretrained_cfg"], **picture}}
    builders.write_json(file, {k: v for k, v in config.items() if v is not ...})
    return folder


def test_a_classifier_gives_labels_and_preprocessing(tiny: Tiny) -> None:
    model = read(tiny("timm_classifier"))
    assert (model.library, model.architecture, model.width) == ("timm", "test_convnext", 64)
    assert (model.trained_heads, model.classes_head) == (("picture",), True)
    assert model.labels[0] == "animal a"
    assert len(model.labels) == 7
    assert model.preprocessing == Preprocessing(
        (3, 64, 64), "bicubic", 0.95, "center", (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    )
    assert (model.max_tokens, model.vocabulary, model.tokenizer, model.pooling) == (0, 0, "", None)


def test_a_projection_is_no_classifier(tiny: Tiny) -> None:
    model = read(tiny("timm_tower"))
    assert (model.trained_heads, model.classes_head, model.labels) == (("picture",), False, ())
    assert any("projection" in warning for warning in model.warnings)


def test_B079_a_folder_without_classes_has_no_head(tiny: Tiny) -> None:
    model = read(tiny("timm_features"))
    assert (model.trained_heads, model.classes_head, model.labels) == ((), False, ())


@pytest.mark.parametrize(
    ("tag", "scores"),
    [
        ("clip_laion2b", False),
        ("clip_laion2b_ft_in1k", True),
        ("webli.siglip", False),
        ("lvd142m.dinov2", False),
        ("mae", False),
        ("mae_ft_in1k", True),
        ("in12k_ft_in1k", True),
        ("", True),
    ],
)
def test_the_tag_tells_projections_from_classifiers(tag: str, scores: bool, tmp_path: Path) -> None:
    folder = builders.timm_tower(tmp_path / "model", tag=tag)
    model = read(folder)
    assert model.classes_head is scores
    assert len(model.labels) == (24 if scores else 0)
    assert any("have no names" in warning for warning in model.warnings) is scores


def test_named_labels_make_a_classifier_whatever_the_tag(tmp_path: Path) -> None:
    names = [f"class {index}" for index in range(24)]
    folder = builders.timm_tower(tmp_path / "model", label_names=names)
    assert read(folder).classes_head is True
    plain = builders.timm_tower(tmp_path / "plain")
    assert read(plain, Overrides(labels=tuple(names))).labels == tuple(names)


def test_labels_may_be_given_by_index(tmp_path: Path) -> None:
    folder = builders.timm_classifier(tmp_path / "model")
    configured(folder, {}, label_names={str(index): f"n{index}" for index in range(7)})
    assert read(folder).labels == tuple(f"n{index}" for index in range(7))


def test_B079_a_head_of_another_size_is_refused(tmp_path: Path) -> None:
    folder = builders.timm_classifier(tmp_path / "model")
    configured(folder, {}, num_classes=8, label_names=...)
    with pytest.raises(WeightsError, match="another head") as error:
        read(folder)
    assert "head.fc.weight" in error.value.found


def test_B079_classes_without_a_head_in_the_file_are_untrained(tmp_path: Path) -> None:
    folder = builders.timm_features(tmp_path / "model")
    configured(folder, {}, num_classes=10)
    assert read(folder).trained_heads == ()


@pytest.mark.parametrize(
    ("architecture", "head"),
    [("test_resnet", "fc"), ("test_efficientnet", "classifier"), ("test_vit", "head")],
)
def test_B079_heads_are_found_under_every_name(
    architecture: str, head: str, tmp_path: Path
) -> None:
    more = {"model_args": {"img_size": 64}} if "vit" in architecture else {}
    folder = builders.timm_classifier(tmp_path / "model", architecture=architecture, **more)
    assert read(folder).trained_heads == ("picture",)
    configured(folder, {"classifier": None})
    assert read(folder).trained_heads == ("picture",)
    assert head in {"fc", "classifier", "head"}


def test_an_old_flat_config_is_read(tmp_path: Path) -> None:
    folder = builders.timm_classifier(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    flat = {**config.pop("pretrained_cfg"), **config, "labels": config["label_names"]}
    flat.pop("label_names")
    builders.write_json(folder / "config.json", flat)
    assert read(folder).labels[6] == "animal g"


@pytest.mark.parametrize(
    ("picture", "said"),
    [
        ({"crop_mode": "tile"}, "crop_mode"),
        ({"input_size": None}, "input_size"),
        ({"input_size": [3, 64]}, "numbers that cannot be"),
        ({"input_size": [3, 0, 64]}, "numbers that cannot be"),
        ({"mean": "imagenet"}, "mean"),
        ({"std": [0.0, 1.0, 1.0]}, "numbers that cannot be"),
        ({"crop_pct": 1.5}, "numbers that cannot be"),
        ({"mean": [0.5]}, "numbers that cannot be"),
    ],
)
def test_B077_preprocessing_that_cannot_be_is_refused(
    picture: dict[str, Any], said: str, tmp_path: Path
) -> None:
    folder = configured(builders.timm_classifier(tmp_path / "model"), picture)
    with pytest.raises(FolderError, match=said):
        read(folder)


@pytest.mark.parametrize("mode", ["center", "squash", "border"])
def test_B077_each_crop_mode_is_read_as_itself(mode: str, tmp_path: Path) -> None:
    folder = configured(builders.timm_classifier(tmp_path / "model"), {"crop_mode": mode})
    model = read(folder)
    assert model.preprocessing is not None
    assert model.preprocessing.crop_mode == mode


@pytest.mark.parametrize("name", ["hf-hub:timm/x", "local-dir:/tmp", "Res Net", 5])
def test_an_architecture_that_would_be_fetched_is_refused(name: Any, tmp_path: Path) -> None:
    folder = configured(builders.timm_classifier(tmp_path / "model"), {}, architecture=name)
    with pytest.raises(FolderError, match="architecture"):
        read(folder)
