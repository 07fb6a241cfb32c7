"""Pixels are timm's own to the last bit; odd files are answered, noted, or one row's problem."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from likewise.errors import ItemError, TaskError
from likewise.model.read import read
from likewise.probes import picture as probes
from likewise.tasks import image_classify, image_embed
from likewise.tasks._picture import Pictures, prepare
from likewise.types import Preprocessing

Tiny = Callable[[str], Path]

CLIP = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "lanczos", "box", "hamming")
WANTED = Preprocessing((3, 64, 64), "bicubic", 0.9, "center", *CLIP)


def random_picture(width: int, height: int, seed: int = 1) -> Image.Image:
    draw = np.random.default_rng(seed)
    return Image.fromarray(draw.integers(0, 256, (height, width, 3), dtype=np.uint8))


def theirs(picture: Image.Image, wanted: Preprocessing) -> np.ndarray:
    """Return timm's own tensor for the same picture."""
    from timm.data import create_transform, resolve_data_config

    config = resolve_data_config(
        {},
        pretrained_cfg={
            "input_size": wanted.size, "interpolation": wanted.interpolation,
            "crop_pct": wanted.crop_pct, "crop_mode": wanted.crop_mode,
            "mean": wanted.mean, "std": wanted.std,
        },
    )  # fmt: skip
    return create_transform(**config)(picture).numpy()


@given(
    size=st.tuples(st.integers(1, 160), st.integers(1, 160)),
    wanted=st.builds(
        Preprocessing,
        size=st.sampled_from([(3, 64, 64), (3, 32, 48), (3, 48, 32)]),
        interpolation=st.sampled_from(INTERPOLATIONS),
        crop_pct=st.sampled_from([1.0, 0.95, 0.875, 0.5]),
        crop_mode=st.sampled_from(["center", "squash", "border"]),
        mean=st.just(CLIP[0]),
        std=st.just(CLIP[1]),
    ),
)
@settings(max_examples=80, deadline=None)
def test_B077_pixels_equal_timm_s_transform(size: Any, wanted: Preprocessing) -> None:
    picture = random_picture(*size)
    try:
        pixels = prepare(picture, wanted)
    except ItemError as error:
        assert "too thin" in error.what  # noqa: PT017  # timm fails there too, with a ValueError
        return
    assert pixels.dtype == np.float32
    assert pixels.flags.c_contiguous
    assert (pixels == theirs(picture, wanted)).all()


@pytest.mark.parametrize("name", ["timm_classifier", "timm_features", "timm_tower"])
def test_a_folder_s_pixels_equal_timm_s_own_for_that_folder(tiny: Tiny, name: str) -> None:
    from timm.data import create_transform, resolve_data_config

    folder = tiny(name)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))["pretrained_cfg"]
    transform = create_transform(**resolve_data_config({}, pretrained_cfg=config))
    task = (image_classify if name == "timm_classifier" else image_embed).open(read(folder))
    opaque = [
        probe.item for probe in probes.probes(40, 7, task.hints())
        if probe.group not in ("transparent", "palette", "turned", "deep grey")
    ]  # fmt: skip
    pixels = task.collate(task.encode(opaque))["pixel_values"]
    wanted = [transform(Image.open(BytesIO(item)).convert("RGB")).numpy() for item in opaque]
    assert (pixels == np.stack(wanted)).all()
    json.dumps([task.facts(), task.hints()])


def test_paths_bytes_and_pictures_are_the_same_item(tmp_path: Path) -> None:
    picture = random_picture(30, 20)
    file = tmp_path / "a picture.png"
    picture.save(file)
    items = [file, str(file), file.read_bytes(), bytearray(file.read_bytes()), picture]
    rows = Pictures(WANTED).encode(items)
    assert [row.problem for row in rows] == [None] * 5
    assert all((row.arrays["pixel_values"] == prepare(picture, WANTED)).all() for row in rows)
    assert rows[0].tokens == 1
    assert rows[0].notes == {}


@pytest.mark.parametrize(
    "change",
    [
        {"crop_mode": "stretch"},
        {"interpolation": "random"},
        {"size": (1, 64, 64)},
        {"mean": (0.5,)},
        {"std": (0.5, 0.5)},
    ],
)
def test_B077_preprocessing_that_is_not_known_is_refused(
    tiny: Tiny, change: dict[str, Any]
) -> None:
    model = read(tiny("timm_classifier"))
    assert model.preprocessing is not None
    odd = replace(model, preprocessing=replace(model.preprocessing, **change))
    with pytest.raises(TaskError, match=r"preprocessing's .* is not known"):
        image_classify.open(odd)
    with pytest.raises(TaskError, match="does not say how"):
        image_classify.open(replace(model, preprocessing=None))


def test_a_classifier_names_its_classes(tiny: Tiny) -> None:
    model = read(tiny("timm_classifier"))
    task = image_classify.open(model)
    inputs = task.collate(task.encode([random_picture(90, 70), random_picture(70, 90)]))
    assert task.owners(inputs).tolist() == [0, 1]
    logits = np.random.default_rng(2).standard_normal((2, 7)).astype(np.float32)
    arrays = task.finish(inputs, {"logits": logits})
    answers = task.answers(inputs, arrays, top=3)
    entries = answers[1]["labels"]
    assert [e["index"] for e in entries] == np.argsort(-logits[1])[:3].tolist()
    assert entries[0]["label"] == f"animal {'abcdefg'[entries[0]['index']]}"
    assert arrays["scores"].sum(axis=1) == pytest.approx(1)
    unnamed = image_classify.open(replace(model, labels=()))
    assert unnamed.answers(inputs, arrays, top=1)[1]["labels"][0]["label"].startswith("class_")
    assert unnamed.assumptions
    with pytest.raises(TaskError, match="not this model's"):
        image_classify.open(replace(model, labels=("a", "b"))).finish(inputs, {"logits": logits})


def test_B079_a_projection_or_no_head_is_an_embedding_never_a_classifier(tiny: Tiny) -> None:
    for name, head, output in (
        ("timm_tower", "picture", "logits"),
        ("timm_features", "picture_features", "features"),
    ):
        model = read(tiny(name))
        with pytest.raises(TaskError, match="no trained head that scores classes"):
            image_classify.open(model)
        task = image_embed.open(model)
        assert (task.network.head, task.network.outputs) == (head, (output,))
        raw = np.array([[3.0, 4.0]], dtype=np.float32)
        assert task.finish({}, {output: raw})["vector"].tolist() == raw.tolist()
        assert not task.facts()["normalise"]
        scaled = image_embed.open(replace(model, normalise=True))
        assert scaled.finish({}, {output: raw})["vector"].tolist() == pytest.approx(
            np.array([[0.6, 0.8]])
        )
        assert scaled.answers({}, {"vector": raw}, top=None) == [{"vector": [3.0, 4.0]}]


def test_the_features_under_a_projection_can_be_had(tiny: Tiny) -> None:
    task = image_embed.open(read(tiny("timm_tower")), features=True)
    assert task.network.head == "picture_features"
