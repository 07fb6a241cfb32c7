"""Items survive the way to another process, to the bit."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from likewise.errors import ItemError
from likewise.run.items import fingerprint, load_items, save_items

anything = st.text(st.characters(codec=None, categories=None))  # half surrogate pairs included


@given(st.lists(anything))
def test_texts_survive(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("items")
    save_items(texts, folder)
    loaded = load_items(folder)
    assert loaded == texts
    assert fingerprint(loaded) == fingerprint(texts)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "F"])
def test_pictures_survive(tmp_path: Path, mode: str) -> None:
    pixels = np.random.default_rng(5).integers(0, 255, (9, 7, 3), dtype=np.uint8)
    picture = Image.fromarray(pixels).convert("L" if mode == "I;16" else "RGB").convert(mode)
    save_items([picture], tmp_path)
    (loaded,) = load_items(tmp_path)
    assert (loaded.mode, loaded.size) == (mode, (7, 9))
    assert loaded.tobytes() == picture.tobytes()
    assert fingerprint([loaded]) == fingerprint([picture])


def test_a_pictures_orientation_survives(tmp_path: Path) -> None:
    picture = Image.new("RGB", (4, 2), "red")
    orientation = 0x0112
    exif = picture.getexif()
    exif[orientation] = 6
    save_items([picture], tmp_path)
    assert load_items(tmp_path)[0].getexif()[orientation] == 6


def test_files_bytes_and_odd_values_survive(tmp_path: Path) -> None:
    stream = io.BytesIO()
    Image.new("RGB", (4, 2), "red").save(stream, "jpeg")
    items = [Path("picture.jpg"), stream.getvalue(), None, 3, ["a", "b"]]
    save_items(items, tmp_path)
    assert load_items(tmp_path) == [Path("picture.jpg").absolute(), *items[1:]]


def test_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ItemError, match="Item 1 is neither"):
        save_items(["good", {1, 2}], tmp_path)
    with pytest.raises(ItemError, match="found: ndarray"):
        save_items([np.zeros((3, 3, 3))], tmp_path)
    with pytest.raises(ItemError, match="holds no items"):
        load_items(tmp_path / "absent")


def test_the_fingerprint_tells_order_and_borders_apart() -> None:
    seen = [["ab"], ["a", "b"], ["b", "a"], [b"ab"], [], [""], ["", ""]]
    assert len({fingerprint(items) for items in seen}) == len(seen)


def test_the_fingerprint_reads_what_a_path_points_at(tmp_path: Path) -> None:
    file = tmp_path / "picture"
    file.write_bytes(b"one")
    before = fingerprint([file])
    file.write_bytes(b"two")
    assert fingerprint([file]) != before
    assert fingerprint([b"one"]) == before
