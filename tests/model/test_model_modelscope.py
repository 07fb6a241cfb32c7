"""Names of models on ModelScope: fetched by its own client from a server on loopback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from modelscope_server import ModelScope, serve

from likewise.errors import WeightsError
from likewise.model.read import read
from tiny import sentence_transformer

Tiny = Callable[[str], Path]
NAME = "acme/mood.v2"


@pytest.fixture
def hub(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelScope]:
    root = tmp_path_factory.mktemp("modelscope")
    shutil.copytree(tiny("bert_classifier"), root / NAME)
    with serve(root) as served:
        yield served


def inspect(
    hub: ModelScope, home: Path, name: str, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run likewise in a fresh process: the hub's client reads its settings when it is imported."""
    foreign = ("HF_", "MODELSCOPE_", "XDG_CACHE_HOME")
    quiet = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    own = {"HOME": str(home), "MODELSCOPE_ENDPOINT": hub.url, "NO_PROXY": "127.0.0.1"}
    return subprocess.run(
        [sys.executable, "-m", "likewise", "inspect", name, "--json"],
        env={**quiet, **own, **more}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Return what inspect said of a model that it read."""
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    return {key: str(said[key]) for key in ("origin", "fingerprint", "folder")}


def test_a_name_is_fetched_once_and_the_second_time_the_hub_is_not_asked(
    hub: ModelScope, tmp_path: Path
) -> None:
    first = answer(inspect(hub, tmp_path, f"ms:{NAME}"))
    assert first["origin"] == f"ms:{NAME}@master"
    assert first["fingerprint"] == read(hub.root / NAME).fingerprint
    assert sorted(hub.fetched()) == sorted(set(hub.fetched()))
    hub.asked.clear()
    for name in (f"ms:{NAME}", f"modelscope:{NAME}", f"ms:{NAME}@master", NAME):
        assert answer(inspect(hub, tmp_path, name)) == first
    assert hub.asked == []


def test_a_moved_cache_is_kept_to(hub: ModelScope, tmp_path: Path) -> None:
    moved = str(tmp_path / "moved")
    first = answer(inspect(hub, tmp_path, f"ms:{NAME}", MODELSCOPE_CACHE=moved))
    assert Path(first["folder"]).is_relative_to(moved)
    assert first["origin"] == f"ms:{NAME}@master"
    hub.asked.clear()
    assert answer(inspect(hub, tmp_path, f"ms:{NAME}", MODELSCOPE_CACHE=moved)) == first
    assert hub.asked == []


def test_a_revision_does_not_overwrite_another_that_an_older_client_cached(
    hub: ModelScope, tmp_path: Path
) -> None:
    older = tmp_path / ".cache/modelscope/hub/models/acme/mood___v2"
    shutil.copytree(hub.root / NAME, older)
    (older / ".mv").write_text("Revision:v1.0,CreatedAt:1700000000")
    before = read(older).fingerprint
    (hub.root / NAME / "vocab.txt").write_text("another\n", encoding="utf-8")
    hub.revisions = {"release/2"}
    first = answer(inspect(hub, tmp_path, f"ms:{NAME}@release/2"))
    assert first["origin"] == f"ms:{NAME}@release/2"
    assert read(older).fingerprint == before
    hub.asked.clear()
    assert answer(inspect(hub, tmp_path, f"ms:{NAME}@release/2")) == first
    assert answer(inspect(hub, tmp_path, f"ms:{NAME}"))["origin"] == f"ms:{NAME}@v1.0"
    assert hub.asked == []


def test_weights_in_a_second_format_are_not_downloaded(hub: ModelScope, tmp_path: Path) -> None:
    for extra in ("pytorch_model.bin", "onnx/model.onnx", "tf_model.h5"):
        (hub.root / NAME / extra).parent.mkdir(exist_ok=True)
        (hub.root / NAME / extra).write_bytes(b"weights")
    said = answer(inspect(hub, tmp_path, f"ms:{NAME}"))
    fetched = {path.name for path in Path(said["folder"]).rglob("*") if path.is_file()}
    assert fetched == {path.name for path in (hub.root / NAME).iterdir()} - {
        "pytorch_model.bin", "onnx", "tf_model.h5"
    }  # fmt: skip
    assert sorted(hub.fetched()) == sorted(fetched)


def test_a_model_in_folders_comes_with_them(hub: ModelScope, tmp_path: Path) -> None:
    source = hub.root / "acme/vectors"
    sentence_transformer(source, dense=[(8, "torch.nn.modules.activation.Tanh")])
    said = answer(inspect(hub, tmp_path, "ms:acme/vectors"))
    assert said["fingerprint"] == read(source).fingerprint
    assert (Path(said["folder"]) / "2_Dense/model.safetensors").is_file()


@pytest.mark.parametrize("name", ["acme/unheard-of", f"{NAME}@v9", "no-owner"])
def test_a_model_that_the_hub_does_not_know_is_an_error_in_words(
    hub: ModelScope, tmp_path: Path, name: str
) -> None:
    done = inspect(hub, tmp_path, f"ms:{name}")
    assert done.returncode == 2
    assert "could not be fetched from ModelScope" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_download_that_breaks_off_goes_on_where_it_was(hub: ModelScope, tmp_path: Path) -> None:
    large = hub.root / NAME / "README.md"
    large.write_bytes(b"0123456789abcdef" * (5 * 2**20 // 16))
    hub.break_after = 3 * 2**20  # of 5 MiB: the client writes 1 MiB at a time
    said = answer(inspect(hub, tmp_path, f"ms:{NAME}"))
    assert any("README.md bytes=" in line for line in hub.fetched())
    assert (Path(said["folder"]) / "README.md").read_bytes() == large.read_bytes()


def test_weights_that_broke_off_are_not_read_and_go_on_the_next_time(
    hub: ModelScope, tmp_path: Path
) -> None:
    weights = hub.root / NAME / "model.safetensors"
    hub.break_after = weights.stat().st_size // 4
    done = inspect(hub, tmp_path, f"ms:{NAME}", MODELSCOPE_DOWNLOAD_MAX_RETRIES="1")
    assert done.returncode == 2
    assert "could not be fetched from ModelScope" in done.stderr
    folder = tmp_path / ".cache/modelscope/models/acme--mood.v2/snapshots/master"
    with pytest.raises(WeightsError, match="not downloaded to its end") as caught:
        read(folder)
    assert "model.safetensors.incomplete" in caught.value.found
    hub.break_after = None
    hub.asked.clear()
    said = answer(inspect(hub, tmp_path, f"ms:{NAME}"))
    assert [line.split(" bytes=")[0] for line in hub.fetched()] == ["model.safetensors"]
    assert said["fingerprint"] == read(hub.root / NAME).fingerprint


def test_a_model_without_a_file_that_did_not_come_is_not_read_the_next_time(
    hub: ModelScope, tmp_path: Path
) -> None:
    hub.down = {"tokenizer.json"}
    done = inspect(hub, tmp_path, f"ms:{NAME}", MODELSCOPE_DOWNLOAD_MAX_RETRIES="1")
    assert done.returncode == 2
    hub.down = set()
    said = answer(inspect(hub, tmp_path, f"ms:{NAME}"))
    assert (Path(said["folder"]) / "tokenizer.json").is_file()
    assert said["fingerprint"] == read(hub.root / NAME).fingerprint


def test_hugging_faces_offline_switch_is_not_modelscopes(hub: ModelScope, tmp_path: Path) -> None:
    answer(inspect(hub, tmp_path, f"ms:{NAME}", HF_HUB_OFFLINE="1"))


def test_a_model_without_a_file_that_likewise_reads_is_not_downloaded(
    hub: ModelScope, tmp_path: Path
) -> None:
    (hub.root / "acme/foreign").mkdir()
    (hub.root / "acme/foreign/model.gguf").write_bytes(b"weights")
    done = inspect(hub, tmp_path, "ms:acme/foreign")
    assert done.returncode == 2
    assert "no file in it that likewise reads" in done.stderr
    assert hub.fetched() == []
