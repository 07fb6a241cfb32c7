"""Odd picture files are answered as stated, noted, or one row's problem; none stops a run."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from likewise.errors import ItemError
from likewise.tasks import _decode
from likewise.tasks._picture import Pictures
from likewise.types import Preprocessing

WANTED = Preprocessing((3, 64, 64), "bicubic", 0.9, "center", (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
RED, BLUE = (255, 0, 0), (0, 0, 255)


def random_picture(width: int, height: int, seed: int = 1) -> Image.Image:
    draw = np.random.default_rng(seed)
    return Image.fromarray(draw.integers(0, 256, (height, width, 3), dtype=np.uint8))


def encoded(picture: Image.Image, format: str = "PNG", **options: Any) -> bytes:
    written = BytesIO()
    picture.save(written, format, **options)
    return written.getvalue()


def flat(item: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the RGB picture as an array, and the notes."""
    picture, notes = _decode.decode(item)
    assert picture.mode == "RGB"
    return np.asarray(picture), notes


@pytest.mark.parametrize("mode", ["L", "1", "RGB", "CMYK", "YCbCr", "HSV"])
def test_an_opaque_picture_is_converted_as_pillow_does(mode: str) -> None:
    picture = random_picture(24, 16).convert(mode)
    pixels, notes = flat(picture)
    assert (pixels == np.asarray(picture.convert("RGB"))).all()
    assert notes == ()


@pytest.mark.parametrize("mode", ["RGBA", "LA", "PA", "P"])
def test_an_opaque_picture_with_an_alpha_channel_is_converted_as_pillow_does(mode: str) -> None:
    picture = random_picture(24, 16).convert("RGBA").convert(mode)
    pixels, notes = flat(picture)
    assert (pixels == np.asarray(picture.convert("RGBA").convert("RGB"))).all()
    assert notes == ()


def test_transparent_pixels_are_laid_on_white() -> None:
    picture = Image.new("RGBA", (4, 2), (*RED, 0))
    picture.putpixel((0, 0), (*RED, 255))
    picture.putpixel((1, 0), (*RED, 51))
    pixels, notes = flat(encoded(picture))
    assert pixels[0, :3].tolist() == [[255, 0, 0], [255, 204, 204], [255, 255, 255]]
    assert notes == ("laid on white",)
    palette = picture.convert("RGB").quantize(2)
    pixels, notes = flat(encoded(palette, transparency=palette.getpixel((3, 1))))
    assert (pixels == 255).all()
    assert notes == ("laid on white",)


def test_deep_grey_is_scaled_not_clipped() -> None:
    levels = np.linspace(0, 65535, 32).astype(np.uint16).reshape(4, 8)
    pixels, notes = flat(encoded(Image.fromarray(levels)))
    assert np.abs(pixels[..., 0] - levels / 257).max() <= 0.5
    assert notes == ("16-bit grey scaled to 8 bits",)


def test_pixels_of_32_bits_are_refused_whose_white_nobody_states() -> None:
    with pytest.raises(ItemError, match="32-bit"):
        _decode.decode(Image.fromarray(np.full((4, 8), 200, np.int32)))


@pytest.mark.parametrize("orientation", range(2, 9))
def test_a_turned_jpeg_is_upright(orientation: int) -> None:
    upright = Image.new("RGB", (32, 16), BLUE)
    upright.paste(RED, (0, 0, 16, 8))
    back = {
        2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }[orientation]  # fmt: skip
    exif = Image.Exif()
    exif[0x0112] = orientation
    item = encoded(upright.transpose(back), "JPEG", quality=98, subsampling=0, exif=exif)
    pixels, notes = flat(item)
    assert pixels.shape == (16, 32, 3)
    assert np.abs(pixels.astype(int) - np.asarray(upright)).mean() < 3
    assert notes == ("turned as its EXIF block says",)


def test_an_orientation_that_there_is_not_turns_nothing_and_is_said() -> None:
    exif = Image.Exif()
    exif[0x0112] = 99
    pixels, notes = flat(encoded(Image.new("RGB", (32, 16), RED), "JPEG", exif=exif))
    assert pixels.shape == (16, 32, 3)
    assert notes == ("not turned: its EXIF block says orientation 99",)


@pytest.mark.parametrize("format", ["GIF", "WEBP", "PNG", "TIFF", "MPO"])
def test_B071_the_first_of_several_frames_is_taken_and_noted(format: str) -> None:
    frames = [Image.new("RGB", (16, 16), colour) for colour in (RED, BLUE)]
    item = encoded(frames[0], format, save_all=True, append_images=frames[1:])
    pixels, notes = flat(item)
    assert pixels[..., 0].mean() > 240
    assert pixels[..., 2].mean() < 15
    assert notes == ("the first of several frames",)


def test_B071_a_frame_that_the_caller_chose_is_kept() -> None:
    frames = [Image.new("RGB", (16, 16), colour) for colour in (RED, BLUE)]
    opened = Image.open(BytesIO(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])))
    opened.seek(1)
    pixels, notes = flat(opened)
    assert pixels[0, 0].tolist() == list(BLUE)
    assert notes == ()


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (None, "not a path, bytes or picture: null"),
        (7, "not a path, bytes or picture: int"),
        (np.zeros((3, 3, 3)), "not a path, bytes or picture: ndarray"),
        ("/no/such/file.jpg", "there is no file /no/such/file.jpg"),
        ("/tmp", "there is no file /tmp"),
        (b"", "not a picture"),
        (b"GIF89a", "not a picture|cannot be decoded"),
        (b"plain text", "not a picture"),
    ],
)
def test_B075_what_is_not_a_picture_is_that_row_s_problem(item: Any, said: str) -> None:
    good = random_picture(8, 8)
    rows = Pictures(WANTED).encode([good, item, good])
    assert rows[0].problem is rows[2].problem is None
    assert rows[1].arrays == {}
    with pytest.raises(ItemError, match=said):
        _decode.decode(item)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_damaged_file_never_raises(data: st.DataObject) -> None:
    format = data.draw(st.sampled_from(["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP"]))
    item = bytearray(encoded(random_picture(20, 14), format))
    for _ in range(data.draw(st.integers(1, 6))):
        item[data.draw(st.integers(0, len(item) - 1))] = data.draw(st.integers(0, 255))
    del item[data.draw(st.integers(1, len(item))) :]
    row = Pictures(WANTED).encode([bytes(item)])[0]
    assert (row.problem is None) == bool(row.arrays)


@pytest.mark.parametrize("size", [(10_000, 10_000), (60_000, 60_000)])
def test_a_bomb_is_refused_before_it_is_decoded(size: tuple[int, int]) -> None:
    def chunk(name: str, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    header = struct.pack(">IIBBBBB", *size, 8, 2, 0, 0, 0)
    item = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")
    assert "pixels" in str(Pictures(WANTED).encode([item])[0].problem)


def test_a_large_file_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_decode, "MOST_BYTES", 100)
    file = tmp_path / "large.png"
    random_picture(40, 40).save(file)
    for item in (file, file.read_bytes()):
        assert "the limit is 100" in str(Pictures(WANTED).encode([item])[0].problem)


def test_a_picture_of_a_single_row_of_pixels_is_that_row_s_problem() -> None:
    row = Pictures(replace(WANTED, crop_pct=0.01)).encode([Image.new("RGB", (30_000, 1))])[0]
    assert "too thin" in str(row.problem)


def test_floating_point_pixels_are_not_guessed() -> None:
    picture = Image.fromarray(np.zeros((4, 4), dtype=np.float32))
    with pytest.raises(ItemError, match="floating-point"):
        _decode.decode(picture)
