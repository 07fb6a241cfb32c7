"""Names of models on hubs: found in each hub's own cache, fetched by its own client, or refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hub_server import COMMIT, Hub, serve

from likewise.errors import FolderError
from likewise.model.fetch import wanted
from likewise.model.hub import Name, parse_name
from likewise.model.locate import locate
from likewise.model.read import read

Tiny = Callable[[str], Path]
_VARIABLES = ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "MODELSCOPE_CACHE")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a home of its own, and no network."""
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("MODELSCOPE_ENDPOINT", "http://127.0.0.1:9")  # nobody is there
    return tmp_path


def snapshot(root: Path, name: str, source: Path, *, reference: str = "main") -> Path:
    """Lay a folder out as Hugging Face's client does: blobs, links to them, and references."""
    top = root / f"models--{name.replace('/', '--')}"
    folder = top / "snapshots" / COMMIT
    folder.mkdir(parents=True)
    (top / "blobs").mkdir()
    (top / "refs").mkdir()
    (top / "refs" / reference).write_text(COMMIT)
    for file in source.iterdir():
        shutil.copy(file, top / "blobs" / file.name)
        (folder / file.name).symlink_to(top / "blobs" / file.name)
    return folder


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("org/name", Name("org/name")),
        ("org/name@v1.0", Name("org/name", "v1.0")),
        ("ms:iic/nlp_bert.base@master", Name("iic/nlp_bert.base", "master", "ms")),
        ("modelscope:a/b", Name("a/b", "", "ms")),
        ("bert-base-uncased", Name("bert-base-uncased")),
    ],
)
def test_a_hub_name_is_read(text: str, name: Name) -> None:
    assert parse_name(text) == name


@pytest.mark.parametrize("text", ["./a/b", "/a/b", "~/a", "a/b/c", "../a", "xx:a/b", "a--b", "a b"])
def test_a_path_is_no_hub_name(text: str) -> None:
    assert parse_name(text) is None


def test_a_name_is_found_in_the_hugging_face_cache_and_the_report_has_its_revision(
    tiny: Tiny, home: Path
) -> None:
    source = tiny("bert_classifier")
    folder = snapshot(home / ".cache/huggingface/hub", "acme/mood.v2", source)
    model = read("acme/mood.v2")
    assert model.folder == folder.resolve()
    assert model.origin == f"hf:acme/mood.v2@{COMMIT}"
    assert model.fingerprint == read(source).fingerprint
    assert read(f"hf:acme/mood.v2@{COMMIT}").folder == model.folder


@pytest.mark.parametrize("variable", ["HF_HOME", "HF_HUB_CACHE"])
def test_a_moved_cache_is_followed(
    tiny: Tiny, home: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(home / "moved"))
    root = home / "moved" / ("hub" if variable == "HF_HOME" else "")
    folder = snapshot(root, "acme/mood", tiny("bert_classifier"))
    assert locate("acme/mood") == folder.resolve()


@pytest.mark.parametrize(
    "place",
    [
        "hub/models/acme/mood___v2",
        "models/acme/mood___v2",
        "hub/acme/mood___v2",
        "hub/acme/mood.v2",
    ],
)
def test_modelscope_keeps_a_dot_as_three_underscores(tiny: Tiny, home: Path, place: str) -> None:
    folder = home / ".cache/modelscope" / place
    shutil.copytree(tiny("bert_classifier"), folder)
    (folder / ".mv").write_text("Revision:v1.0,CreatedAt:1700000000")
    model = read("ms:acme/mood.v2")
    assert model.folder == folder.resolve()
    assert model.origin == "ms:acme/mood.v2@v1.0"
    assert read("acme/mood.v2@v1.0").folder == folder.resolve()
    if place == "hub/acme/mood.v2":  # once is enough: the client tries for seven seconds
        with pytest.raises(FolderError):
            read("ms:acme/mood.v2@v9")


def test_modelscopes_newer_snapshots_are_found(tiny: Tiny, home: Path) -> None:
    folder = home / ".cache/modelscope/models/acme--mood.v2/snapshots/master"
    shutil.copytree(tiny("bert_classifier"), folder)
    model = read("ms:acme/mood.v2")
    assert model.origin == "ms:acme/mood.v2@master"


def test_openminds_cache_is_found(tiny: Tiny, home: Path) -> None:
    snapshot(home / ".cache/openmind/hub", "acme/mood", tiny("bert_classifier"))
    assert read("om:acme/mood").origin == f"om:acme/mood@{COMMIT}"


def test_a_folder_that_is_there_goes_before_any_hub(
    tiny: Tiny, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot(home / ".cache/huggingface/hub", "acme/mood", tiny("bert_classifier"))
    shutil.copytree(tiny("roberta_classifier"), home / "acme/mood")
    monkeypatch.chdir(home)
    assert read("acme/mood").family == "roberta"
    assert read("hf:acme/mood").family == "bert"


def test_a_half_downloaded_snapshot_is_named(tiny: Tiny, home: Path) -> None:
    folder = snapshot(home / ".cache/huggingface/hub", "acme/mood", tiny("bert_classifier"))
    top = folder.parent.parent
    (top / "blobs/model.safetensors").rename(top / "blobs/abc.incomplete")
    (folder / "model.safetensors").unlink()
    with pytest.raises(FolderError, match="not downloaded to its end") as caught:
        locate("acme/mood")
    assert "abc.incomplete" in caught.value.found
    with pytest.raises(FolderError, match="not downloaded to its end"):
        read(folder)


def test_a_name_that_no_cache_holds_says_why_it_is_not_fetched(home: Path) -> None:
    with pytest.raises(FolderError, match="no folder acme/none") as caught:
        locate("acme/none")
    assert "HF_HUB_OFFLINE is set" in caught.value.found
    with pytest.raises(FolderError) as caught:
        locate("mistyped")
    assert "hf:mistyped" in caught.value.fix
    assert home


def test_a_mistyped_path_is_not_sent_to_a_hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.chdir(home)
    (home / "models").mkdir()
    with pytest.raises(FolderError) as caught:
        locate("models/bert")
    assert "models is a folder here" in caught.value.found


def test_one_format_of_weights_is_wanted_in_each_folder() -> None:
    files = [
        "config.json", "README.md", ".gitattributes", "model.safetensors", "pytorch_model.bin",
        "2_Dense/pytorch_model.bin", "2_Dense/config.json", "onnx/model.onnx", "tf_model.h5",
        "optimizer.pt", "LICENSE", "vocab.txt", "spiece.model", "training_args.bin",
    ]  # fmt: skip
    assert wanted(files) == [
        "config.json", "README.md", "model.safetensors", "2_Dense/pytorch_model.bin",
        "2_Dense/config.json", "LICENSE", "vocab.txt", "spiece.model",
    ]  # fmt: skip


@pytest.fixture
def hub(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    root = tmp_path_factory.mktemp("hub")
    shutil.copytree(tiny("bert_classifier"), root / "acme/mood")
    with serve(root) as served:
        yield served


def inspect(hub: Hub, home: Path, name: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run likewise in a fresh process: the hub's client reads its settings when it is imported."""
    quiet = {k: v for k, v in os.environ.items() if k != "HF_HUB_OFFLINE"}
    own = {"HOME": str(home), "HF_ENDPOINT": hub.url, "NO_PROXY": "127.0.0.1"}
    env = {**quiet, **own, **more}
    return subprocess.run(
        [sys.executable, "-m", "likewise", "inspect", name, "--json"],
        env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_a_name_is_fetched_once_through_a_mirror_and_then_needs_no_network(
    hub: Hub, home: Path
) -> None:
    first = inspect(hub, home, "acme/mood")
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["origin"] == f"hf:acme/mood@{COMMIT}"
    assert any("model.safetensors" in line for line in hub.asked)
    hub.asked.clear()
    again = inspect(hub, home, "acme/mood")
    assert json.loads(again.stdout)["fingerprint"] == json.loads(first.stdout)["fingerprint"]
    assert hub.asked == []


def test_a_model_that_the_hub_does_not_know_is_an_error_in_words(hub: Hub, home: Path) -> None:
    done = inspect(hub, home, "acme/unheard-of")
    assert done.returncode == 2
    assert "could not be fetched from Hugging Face" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_offline_switch_is_kept(hub: Hub, home: Path) -> None:
    done = inspect(hub, home, "acme/mood", HF_HUB_OFFLINE="1")
    assert done.returncode == 2
    assert hub.asked == []


def test_a_download_that_breaks_off_goes_on_where_it_was(hub: Hub, home: Path) -> None:
    large = hub.root / "acme/mood/README.md"
    large.write_bytes(b"0123456789abcdef" * (3 * 2**20 // 2))
    hub.break_after = 16 * 2**20  # of 24 MiB: the client writes 10 MiB at a time
    done = inspect(hub, home, "acme/mood")
    assert done.returncode == 0, done.stderr
    assert any("README.md bytes=" in line for line in hub.asked)
    folder = Path(json.loads(done.stdout)["folder"])
    assert (folder / "README.md").read_bytes() == large.read_bytes()
