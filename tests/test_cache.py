"""Derived artefacts: made once, whole or not at all, healed one by one."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from likewise import cache
from likewise.errors import LikewiseError


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def write(text: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "part").mkdir()
        (folder / "part" / "content.txt").write_text(text)

    return make


def never(folder: Path) -> None:
    raise AssertionError("made twice")


def _count_builds(folder: str) -> None:
    def make(entry: Path) -> None:
        with (Path(folder) / "builds.txt").open("a") as log:
            log.write("built\n")
        (entry / "content.txt").write_text("x" * 100_000)

    cache.build("export", "the same key", make)


def test_an_entry_is_made_once() -> None:
    first = cache.build("export", "key", write("hello"))
    assert cache.build("export", "key", never) == first
    assert (first / "part" / "content.txt").read_text() == "hello"
    assert cache.root() in first.parents


def test_another_key_or_kind_is_another_entry() -> None:
    folders = {
        cache.build("export", "a", write("1")),
        cache.build("export", "b", write("2")),
        cache.build("reference", "a", write("3")),
    }
    assert len(folders) == 3


def test_what_fails_leaves_nothing() -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise ValueError("no space")

    with pytest.raises(ValueError, match="no space"):
        cache.build("export", "key", fail)
    assert cache.entries() == []
    assert [p.name for p in (cache.root() / "export").iterdir()] == []
    cache.build("export", "key", write("whole"))
    assert len(cache.entries()) == 1


@pytest.mark.parametrize("damage", ["cut", "missing", "manifest", "no manifest"])
def test_a_damaged_entry_is_healed_alone(damage: str) -> None:
    hurt = cache.build("export", "hurt", write("hello"))
    other = cache.build("export", "other", write("untouched"))
    before = (other / "part" / "content.txt").stat().st_ino
    if damage == "cut":
        (hurt / "part" / "content.txt").write_text("hell")
    elif damage == "missing":
        (hurt / "part" / "content.txt").unlink()
    elif damage == "manifest":
        (hurt / "manifest.json").write_text("{")
    else:
        (hurt / "manifest.json").unlink()
    assert [e.problem is None for e in cache.entries() if e.folder == hurt] == [False]
    assert cache.build("export", "hurt", write("hello")) == hurt
    assert (hurt / "part" / "content.txt").read_text() == "hello"
    assert (other / "part" / "content.txt").stat().st_ino == before


def test_verify_sees_a_changed_byte_that_keeps_the_size() -> None:
    folder = cache.build("export", "key", write("hello"))
    (folder / "part" / "content.txt").write_text("hallo")
    (entry,) = cache.verify()
    assert "content.txt does not hold what was written" in entry.problem


def test_entries_tell_kind_key_and_size() -> None:
    cache.build("export", "a telling key", write("hello"))
    (entry,) = cache.entries()
    manifest = entry.folder / "manifest.json"
    assert (entry.kind, entry.key) == ("export", "a telling key")
    assert entry.size == 5 + manifest.stat().st_size
    assert json.loads(manifest.read_text())["files"]["part/content.txt"]["size"] == 5


def test_prune_takes_the_damaged_and_the_unused() -> None:
    hurt = cache.build("export", "hurt", write("hello"))
    fresh = cache.build("export", "fresh", write("hello"))
    (hurt / "part" / "content.txt").unlink()
    assert [e.folder for e in cache.prune()] == [hurt]
    assert fresh.is_dir()
    assert [e.folder for e in cache.prune(days=0)] == [fresh]
    assert cache.entries() == []


def test_eight_processes_build_it_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(4) as pool:
        pool.map(_count_builds, [str(tmp_path)] * 8)
    assert (tmp_path / "builds.txt").read_text() == "built\n"


def test_a_folder_that_cannot_be_written_is_an_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(LikewiseError, match="cannot be written"):
        cache.build("export", "key", write("hello"))
    assert cache.entries() == []


def large(byte: bytes) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "weights.bin").write_bytes(byte * (17 * 2**20))

    return make


def test_a_large_file_is_not_hashed_again_while_it_is_the_one_that_was_sealed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = cache.build("export", "key", large(b"a"))

    def hashed(file: Path) -> dict[str, object]:
        raise AssertionError(f"{file} was hashed")

    monkeypatch.setattr(cache, "file_facts", hashed)
    assert cache.build("export", "key", never) == entry


def test_a_large_file_whose_content_was_changed_is_made_again_even_with_its_old_date() -> None:
    entry = cache.build("export", "key", large(b"a"))
    file = entry / "weights.bin"
    dated = file.stat()
    file.write_bytes(b"b" * dated.st_size)
    os.utime(file, ns=(dated.st_atime_ns, dated.st_mtime_ns))
    cache.build("export", "key", large(b"a"))
    assert file.read_bytes()[:1] == b"a"


def test_a_cache_that_was_copied_elsewhere_is_still_used(tmp_path: Path) -> None:
    entry = cache.build("export", "key", large(b"a"))
    copy = entry.with_name("copy")
    shutil.copytree(entry, copy)
    shutil.rmtree(entry)
    copy.rename(entry)
    assert cache.build("export", "key", never) == entry


def test_the_digest_of_code_tells_files_and_folders_apart() -> None:
    digests = [cache.code("types.py"), cache.code("run"), cache.code("types.py", "run")]
    assert len(set(digests)) == 3
    assert cache.code("run") == digests[1]
