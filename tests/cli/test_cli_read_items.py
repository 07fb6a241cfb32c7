"""Lines of a file become items, and no line is lost in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.cli.read_items import read_items, read_lines
from likewise.errors import ItemError

plain = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb", ["a", "b"]),
        (b"a\n\nb\n\n", ["a", "", "b", ""]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        (b"no end", ["no end"]),
        (b"\n", [""]),
    ],
)
def test_B132_every_kind_of_line_end_gives_the_same_rows(tmp_path: Path, body, lines):
    file = tmp_path / "texts.txt"
    file.write_bytes(body)
    assert read_lines(file) == lines


@given(lines=st.lists(plain, min_size=1), end=st.sampled_from(["\n", "\r\n"]))
def test_rows_in_are_rows_out(tmp_path_factory, lines, end):
    file = tmp_path_factory.mktemp("lines") / "texts.txt"
    file.write_bytes((end.join(lines) + end).encode())
    read = read_lines(file)
    assert len(read) == len(lines)
    assert read[0] == lines[0].removeprefix("\ufeff") or read == lines


def test_a_line_separator_inside_a_text_is_not_the_end_of_it(tmp_path):
    file = tmp_path / "texts.txt"
    file.write_text("one\u2028still one\x0bstill\x0cone\x85same\n", encoding="utf-8")
    assert len(read_lines(file)) == 1


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00"])
def test_an_empty_or_foreign_file_is_refused_by_name(tmp_path, body):
    file = tmp_path / "texts.txt"
    file.write_bytes(body)
    with pytest.raises(ItemError, match=r"texts\.txt"):
        read_lines(file)


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(ItemError, match="cannot be read"):
        read_lines(tmp_path / "not here.txt")


def test_two_kinds_of_input_at_once_are_refused():
    with pytest.raises(ItemError, match="One kind"):
        read_items(["a"], Path("b"), [])


def test_no_input_is_refused_with_what_to_type():
    with pytest.raises(ItemError) as caught:
        read_items([], None, [])
    assert "--text" in caught.value.fix
