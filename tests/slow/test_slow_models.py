"""Full-size stand-ins answer as the plain libraries do; trained models keep their accuracy.

Both are the scripts of benchmarks/, in processes of their own. They take wheels with pip the first
time, and some gigabytes of the user's own cache folder, which is kept.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
USERS_CACHE = os.environ.get("XDG_CACHE_HOME")  # before conftest.py points it elsewhere

pytestmark = pytest.mark.slow


def run(script: str, *arguments: str) -> None:
    """Run a benchmark script in the user's own cache; show what it printed where it fails."""
    environment = {k: v for k, v in os.environ.items() if k != "XDG_CACHE_HOME"}
    if USERS_CACHE is not None:
        environment["XDG_CACHE_HOME"] = USERS_CACHE
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-3000:]}"


@pytest.mark.parametrize(
    "name", ["chinese", "cryptobert", "pairs", "personality", "convnext", "xlmr"]
)
def test_a_full_size_stand_in_answers_as_the_plain_library_does(name: str) -> None:
    run("equality.py", name)


def test_pixels_and_token_ids_are_those_of_timm_and_transformers() -> None:
    run("inputs.py")


@pytest.mark.parametrize("name", ["efficientnet", "minilm", "sapiens", "antiberty"])
def test_a_trained_model_keeps_its_accuracy_on_every_engine(name: str) -> None:
    run("accuracy.py", "--only", name)
