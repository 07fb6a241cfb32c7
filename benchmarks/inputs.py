"""Pictures and texts, in; how far pixels and token ids are from timm's and transformers', out.

    python benchmarks/inputs.py [--pictures 150] [--texts 600]

Before any network runs: the probes' pictures through timm's own transform of several published
preprocessings, and the probes' texts through transformers' tokenizer of every text stand-in. Exit 1
where a pixel differs by more than 1/255 of the range (mean 1e-3), or one id differs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

import numpy as np
import standins
import timm.data
from PIL import Image

from likewise import find
from likewise.model.ids import against_transformers
from likewise.model.read import read
from likewise.model.tokenizer import open_tokenizer
from likewise.tasks._pick import pick
from likewise.tasks._picture import prepare
from likewise.types import Preprocessing

_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
_CLIP = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
_HALF = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
PREPARED = {
    "resnet50.a1_in1k": ((3, 224, 224), "bicubic", 0.95, "center", *_IMAGENET),
    "efficientnet_b0.ra_in1k": ((3, 224, 224), "bicubic", 0.875, "center", *_IMAGENET),
    "vit_base_patch16_224.augreg_in21k": ((3, 224, 224), "bicubic", 0.9, "center", *_HALF),
    "convnext_base.clip_laion2b": ((3, 256, 256), "bicubic", 1.0, "center", *_CLIP),
    "swin_base_patch4_window12_384": ((3, 384, 384), "bicubic", 1.0, "squash", *_IMAGENET),
    "vgg16.tv_in1k": ((3, 224, 224), "bilinear", 0.875, "center", *_IMAGENET),
    "tf_efficientnetv2_b0 (border)": ((3, 192, 192), "bicubic", 1.0, "border", *_IMAGENET),
    "inception_v3.tv_in1k": ((3, 299, 299), "bicubic", 0.875, "center", *_IMAGENET),
}
"""Preprocessings as timm's pretrained_cfg states them."""
TEXTS = ("cryptobert", "personality", "chinese", "xlmr")


def pixels(wanted: Preprocessing, files: Sequence[bytes]) -> tuple[float, float]:
    """Return the largest and the mean difference, in units of the 0…1 range."""
    transform = timm.data.create_transform(
        input_size=wanted.size,
        interpolation=wanted.interpolation,
        crop_pct=wanted.crop_pct,
        crop_mode=wanted.crop_mode,
        mean=wanted.mean,
        std=wanted.std,
        is_training=False,
    )
    deviation = np.asarray(wanted.std, np.float64)[:, None, None]
    largest, total = 0.0, 0.0
    for picture in _opaque(files):
        ours, theirs = prepare(picture, wanted), transform(picture).numpy()
        apart = np.abs(ours.astype(np.float64) - theirs) * deviation
        largest, total = max(largest, float(apart.max())), total + float(apart.mean())
    return largest, total / len(files)


def _opaque(files: Sequence[bytes]) -> Iterator[Any]:
    """Yield the pictures as RGB; what becomes of alpha and EXIF is likewise's own affair."""
    for file in files:
        with Image.open(BytesIO(file)) as picture:
            yield picture.convert("RGB")


def main() -> int:
    """Compare and print; 1 where something differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pictures", type=int, default=150)
    parser.add_argument("--texts", type=int, default=600)
    asked = parser.parse_args()
    drawn = find.load("probes", "picture").probes(asked.pictures, 5, {"size": (224, 224)})
    files, wrong = [probe.item for probe in drawn], 0
    print(f"pixels against timm, {len(files)} pictures: largest and mean difference of 0…1")
    for name, fields in PREPARED.items():
        largest, mean = pixels(Preprocessing(*fields), files)
        wrong += not (largest <= 1 / 255 and mean <= 1e-3)
        print(f"  {name:36} {largest:8.1e} {mean:8.1e}", flush=True)
    print("token ids against transformers: texts, and how many of them differ")
    for name in TEXTS:
        model = read(standins.make(name))
        probes = find.load("probes", "text").probes(asked.texts, 5, pick(model).hints())
        texts = [
            part for p in probes for part in ((p.item,) if isinstance(p.item, str) else p.item)
        ]
        said = against_transformers(model, open_tokenizer(model), texts)
        wrong += bool(said["count"] or said["missing"])
        print(f"  {name:36} {said['n']:8} {said['count']:8} {said['missing']}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
