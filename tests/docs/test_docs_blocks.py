"""Every block of the README and the docs runs, in order, in a folder with the models it names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(bash|python|toml|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def desk(tiny, tmp_path_factory) -> Path:
    """A folder as a reader would have it: two models, posts, and one finished port."""
    folder = tmp_path_factory.mktemp("desk")
    base = tmp_path_factory.getbasetemp()
    made = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "desk"
    with FileLock(f"{made}.lock"):  # one worker makes it, and each has a copy of its own
        if not made.is_dir():
            part = make_desk(tiny, tmp_path_factory.mktemp("part"))
            shutil.copytree(part, made)
    return Path(shutil.copytree(made, folder, dirs_exist_ok=True))


def make_desk(tiny, folder: Path) -> Path:
    """Port one of the models, as the pages take for done."""
    shutil.copytree(tiny("roberta_classifier"), folder / "cryptobert")
    shutil.copytree(tiny("sentence_transformer"), folder / "minilm")
    (folder / "posts.txt").write_text("to the moon\nsold everything\n", encoding="utf-8")
    (folder / "likewise.toml").write_text(
        "[plans]\nthreads = [1]\n[proof]\nitems = 96\n"
        "[bench]\nseconds = 0.2\nmost_seconds = 1.0\npasses = 3\npass_seconds = 0.05\n",
        encoding="utf-8",
    )
    call(folder, "likewise port ./cryptobert -o ported --quiet")
    return folder


def call(folder: Path, script: str) -> str:
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_every_block_of_the_page_runs(page, desk):
    for kind, body in blocks(page):
        if kind == "bash":
            call(desk, body)
        elif kind == "python":
            call(desk, f"{sys.executable} - <<'EOF'\n{body}\nEOF")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_every_settings_block_is_read(page, tmp_path):
    from likewise.settings import Settings, read_settings

    for kind, body in blocks(page):
        if kind == "toml":
            (tmp_path / "likewise.toml").write_text(body, encoding="utf-8")
            assert isinstance(read_settings(tmp_path / "likewise.toml"), Settings)


def test_the_settings_page_shows_the_defaults():
    from likewise.settings import Settings, read_settings

    page = ROOT / "docs" / "settings.md"
    body = next(body for kind, body in blocks(page) if kind == "toml")
    scratch = Path(os.environ["XDG_CACHE_HOME"]) / "settings-page.toml"
    scratch.write_text(body, encoding="utf-8")
    assert read_settings(scratch) == Settings()


def test_every_verb_has_a_page():
    from likewise.cli import app

    verbs = {command.callback.__name__ for command in app.registered_commands}
    assert verbs <= {p.stem for p in PAGES}


def test_the_make_targets_that_pages_name_are_there():
    text = "".join(p.read_text(encoding="utf-8") for p in [*PAGES, ROOT / "CONTRIBUTING.md"])
    named = set(re.findall(r"(?:^\$ |`)make ([a-z]+)", text, re.MULTILINE))
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert named
    assert named <= targets
