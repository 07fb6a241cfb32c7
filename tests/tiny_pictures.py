"""A folder name in; a tiny timm model with real random weights in it, out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def timm_classifier(folder: Path, **changes: Any) -> Path:
    """Return a timm folder that classifies: seven named labels, 64 px."""
    labels = [f"animal {letter}" for letter in "abcdefg"]
    defaults = {"num_classes": len(labels), "label_names": labels, "tag": "r160_in1k"}
    return _timm(folder, {**defaults, **changes})


def timm_features(folder: Path, **changes: Any) -> Path:
    """Return a timm folder with num_classes 0: features only."""
    return _timm(folder, {"num_classes": 0, "tag": "r160_in1k", **changes})


def timm_tower(folder: Path, **changes: Any) -> Path:
    """Return a timm folder whose head is a CLIP projection of width 24, at a fixed 64 px."""
    clip = {
        "mean": [0.48145466, 0.4578275, 0.40821073],
        "std": [0.26862954, 0.26130258, 0.27577711],
        "crop_pct": 1.0,
    }
    return _timm(folder, {"num_classes": 24, "tag": "clip_laion2b", **clip, **changes})


def write_json(file: Path, content: object) -> None:
    """Write one JSON file, as the hub's libraries do."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=2), encoding="utf-8")


def _timm(folder: Path, changes: dict[str, Any]) -> Path:
    import timm
    import torch
    from safetensors.torch import save_file

    rest = dict(changes)
    architecture = rest.pop("architecture", "test_convnext")
    classes, seed = rest.pop("num_classes"), rest.pop("seed", 0)
    top = {key: rest.pop(key) for key in ("label_names", "model_args") if key in rest}
    folder.mkdir(parents=True, exist_ok=True)
    with torch.random.fork_rng():
        module = timm.create_model(
            architecture, num_classes=classes, **top.get("model_args", {})
        ).eval()
    _redraw_picture(module, seed)
    save_file(
        {name: value.contiguous() for name, value in module.state_dict().items()},
        folder / "model.safetensors",
    )
    known = module.pretrained_cfg
    picture = {
        "tag": "", "custom_load": False, "input_size": [3, 64, 64], "fixed_input_size": False,
        "interpolation": "bicubic", "crop_pct": 0.95, "crop_mode": "center",
        "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225],
        "num_classes": classes, "pool_size": [2, 2],
        "first_conv": known.get("first_conv"), "classifier": known.get("classifier"),
    }  # fmt: skip
    config = {
        "architecture": architecture,
        "num_classes": classes,
        "num_features": module.num_features,
        **top,
        "pretrained_cfg": {**picture, **rest},
    }
    write_json(folder / "config.json", config)
    return folder


def _redraw_picture(module: Any, seed: int) -> None:
    import torch

    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in module.named_parameters():
            if value.ndim >= 2 and "norm" not in name:
                fan = max(1, value[0].numel())
                value.normal_(0.0, (2.0 / fan) ** 0.5, generator=random)
            elif name.endswith("gamma"):
                value.uniform_(0.5, 1.5, generator=random)
            elif name.endswith("bias"):
                value.normal_(0.0, 0.1, generator=random)
        for name, value in module.named_buffers():
            if name.endswith("running_mean"):
                value.normal_(0.0, 0.1, generator=random)
            elif name.endswith("running_var"):
                value.uniform_(0.5, 1.5, generator=random)


def changed(folder: Path, file: str = "config.json", **changes: Any) -> Path:
    """Change keys of a JSON file, which may be new; a value of ... removes the key."""
    place = folder / file
    content = {**(json.loads(place.read_text()) if place.is_file() else {}), **changes}
    write_json(place, {key: value for key, value in content.items() if value is not ...})
    return folder
