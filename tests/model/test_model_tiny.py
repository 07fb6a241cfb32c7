from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tiny as builders

NAMES = [name for name in builders.__all__ if name not in ("redraw", "write_json")]


@pytest.mark.parametrize("name", NAMES)
def test_every_builder_writes_a_config_and_weights_once(
    tiny: Callable[[str], Path], name: str
) -> None:
    folder = tiny(name)
    assert (folder / "config.json").is_file()
    assert (folder / "model.safetensors").stat().st_size > 0
    assert tiny(name) == folder


def test_a_builder_gives_the_same_files_again(tmp_path: Path) -> None:
    for name in ("xlmr_fillmask", "roberta_classifier", "sentence_transformer", "timm_tower"):
        folders = [getattr(builders, name)(tmp_path / name / again) for again in "ab"]
        contents = [
            {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
            for folder in folders
        ]
        assert contents[0] == contents[1]
