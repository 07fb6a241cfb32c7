"""A builder's name in; its tiny model, built once a session, out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tiny as builders


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep derived artefacts out of the user's cache, also in child processes.

    Workers of one run share it, as users' processes do: what one has exported, all have.
    """
    before = os.environ.get("XDG_CACHE_HOME")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    os.environ["XDG_CACHE_HOME"] = str(shared / "cache")
    yield
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return tiny("bert_classifier") -> its folder; copy it before changing a file in it."""
    made: dict[str, Path] = {}

    def build(name: str) -> Path:
        if name not in made:
            made[name] = getattr(builders, name)(tmp_path_factory.mktemp(name) / name)
        return made[name]

    return build
