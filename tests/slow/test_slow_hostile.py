"""Hostile texts and pictures: rows in are rows out, nothing crashes, no row takes long."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

import likewise

pytestmark = pytest.mark.slow
Tiny = Callable[[str], Path]
SECONDS = 0.5  # that no row may take, on average of its batch of a hundred
PLAN = "torch/cpu/float32/b16/t1"

characters = st.characters(codec=None, categories=None)  # lone surrogates and NUL among them
texts = st.one_of(
    st.text(characters, max_size=200),
    st.text(
        st.sampled_from("\u200b\u202e\ufeff\u0300\u0301\ufffd\x00\r\n\t 🫠👨‍👩‍👧"), max_size=80
    ),
    st.builds(lambda word, times: word * times, st.text(max_size=5), st.integers(0, 50_000)),
    st.sampled_from(["<s>", "[SEP]", "[CLS][CLS]", "<mask>" * 70, "[MASK]", "[PAD]", "</s>" * 200]),
    st.sampled_from([None, 3, 2.5, float("nan"), [], {}, b"bytes", ("a",), ["a", "b"]]),
)
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "ICO", "PPM")
_timed: dict[str, list[float]] = {"text": [], "picture": []}


def encoded(mode: str, size: tuple[int, int], format: str) -> bytes:
    """Return a picture in a format, in another mode where the format does not know it."""
    values = np.random.default_rng(sum(size)).integers(0, 256, (size[1], size[0], 3), np.uint8)
    stream = io.BytesIO()
    picture = Image.fromarray(values).convert(mode)
    try:
        picture.save(stream, format)
    except (OSError, KeyError, ValueError):  # this format does not know this mode or size
        stream = io.BytesIO()
        picture.convert("RGB").save(stream, "PNG")
    return stream.getvalue()


@st.composite
def pictures(draw: st.DrawFn) -> Any:
    """Draw bytes that were a picture before some of them were cut, changed or put in."""
    modes = st.sampled_from(["RGB", "RGBA", "L", "LA", "P", "1", "CMYK"])
    sizes = st.tuples(st.integers(1, 300), st.integers(1, 300))
    content = bytearray(encoded(draw(modes), draw(sizes), draw(st.sampled_from(FORMATS))))
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, max(0, len(content) - 1)))
        if draw(st.booleans()):
            del content[place : place + draw(st.integers(1, 5000))]
        else:
            content[place : place + 1] = draw(st.binary(max_size=8))
    return bytes(content)


def run(face: str, folder: Path, items: list[Any], kind: str) -> list[dict[str, Any]]:
    """Answer the items, and keep how long it took for each."""
    with getattr(likewise, face)(folder, plan=PLAN) as predictor:
        predictor.open()
        began = time.perf_counter()
        found = list(predictor.answers(items))
        _timed[kind].append((time.perf_counter() - began) / max(1, len(items)))
    return found


@pytest.mark.parametrize("builder", ["bert_classifier", "roberta_classifier", "xlmr_classifier"])
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(items=st.lists(texts, min_size=100, max_size=100))
def test_two_thousand_texts_are_as_many_rows(tiny: Tiny, builder: str, items: list[Any]) -> None:
    found = run("Classifier", tiny(builder), items, "text")
    assert len(found) == len(items)
    assert all(("error" in answer) != ("labels" in answer) for answer in found)
    assert _timed["text"][-1] < SECONDS


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(items=st.lists(pictures(), min_size=30, max_size=30))
def test_three_hundred_pictures_are_as_many_rows(tiny: Tiny, items: list[Any]) -> None:
    found = run("ImageClassifier", tiny("timm_classifier"), items, "picture")
    assert len(found) == len(items)
    assert all(("error" in answer) != ("labels" in answer) for answer in found)
    assert _timed["picture"][-1] < SECONDS


def test_the_slowest_rows_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        for kind, seconds in _timed.items():
            slowest = max(seconds, default=0.0)
            print(f"\n{kind}: {len(seconds)} batches, slowest {slowest * 1e3:.1f} ms a row")  # noqa: T201
    assert all(_timed.values())
