"""What a terminal, a cache or a disk may be like, and one bad row among good ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import tiny as builders
from likewise import cache

LIKEWISE = Path(sys.executable).parent / "likewise"


def call(*words: str | Path, status: int = 0, **variables: str) -> tuple[str, str]:
    done = subprocess.run(
        [LIKEWISE, *words], capture_output=True, check=False, env={**os.environ, **variables}
    )
    assert done.returncode == status, done.stderr
    assert b"Traceback" not in done.stderr
    return done.stdout.decode(), done.stderr.decode()


def test_a_picture_that_is_not_there_takes_no_neighbour_along(tiny, tmp_path):
    from PIL import Image

    Image.new("RGB", (40, 40), "red").save(tmp_path / "red.png")
    pictures = [tmp_path / "red.png", tmp_path / "none.png", tmp_path, tmp_path / "red.png"]
    words = [word for picture in pictures for word in ("--image", picture)]
    out, err = call("run", tiny("timm_classifier"), *words, "--json", status=2)
    rows = [json.loads(line) for line in out.splitlines()]
    assert ["error" in row for row in rows] == [False, True, True, False]
    assert "2 of 4 items" in err


def test_answers_are_utf8_whatever_the_terminal_is_set_to(tmp_path):
    folder = builders.bert_classifier(tmp_path / "model")
    words = ("run", folder, "--labels", "好,坏,中", "--text", "naïve 今天")
    for more in ((), ("--json",)):
        out, _ = call(*words, *more, PYTHONIOENCODING="latin-1")
        assert "今天" in out
        assert "好" in out


def test_run_says_what_is_odd_about_a_folder(tmp_path):
    folder = builders.bert_classifier(tmp_path / "model", format="bin")
    _, err = call("run", folder, "--text", "good")
    assert "note: pytorch_model.bin is a pickle" in err


def test_inspect_loads_the_weights_where_it_is_asked_to(tmp_path):
    from safetensors.torch import load_file, save_file

    folder = builders.bert_classifier(tmp_path / "model")
    out, _ = call("inspect", folder, "--load", "--json")
    facts = json.loads(out)["loaded"]["loading"]
    assert facts["checked"] == facts["tensors"] > 0
    file = folder / "model.safetensors"
    state = load_file(file)
    del state["classifier.bias"]
    save_file(state, file)
    call("inspect", folder)
    _, err = call("inspect", folder, "--load", status=2)
    assert "classifier.bias" in err


def test_what_a_killed_build_left_is_listed_and_pruned_at_once(tmp_path):
    home = cache.build("export", "one", lambda folder: (folder / "a").write_text("1"))
    left = home.parent / f".partial-{'0' * 24}-abc"
    left.mkdir()
    (left / "half").write_text("half")
    assert any(entry.folder == left for entry in cache.entries())
    assert [entry.folder for entry in cache.prune()] == [left]
    assert not left.exists()
    assert home.exists()


def test_what_is_being_built_is_not_pruned():
    def make(folder: Path) -> None:
        (folder / "a").write_text("1")
        done = subprocess.run(
            [sys.executable, "-c", "from likewise import cache; print(cache.prune())"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == "[]"

    assert (cache.build("export", "being built", make) / "a").is_file()


def test_a_link_that_points_nowhere_is_not_overwritten(tmp_path):
    folder = builders.bert_classifier(tmp_path / "model", format="bin")
    (folder / "model.safetensors").symlink_to(tmp_path / "elsewhere")
    _, err = call("convert", folder, status=2)
    assert "not overwritten" in err
    assert not (tmp_path / "elsewhere").exists()


def test_a_plan_that_spells_a_folder_with_a_slash_is_told_how(tiny):
    plan = "onnx/cpu/float32/b4/t1/graph=onnx/model.onnx"
    _, err = call("run", tiny("bert_classifier"), "--on", plan, "--text", "a", status=4)
    assert "graph=FOLDER:NAME.onnx" in err


def test_an_empty_onnx_file_is_called_no_graph(tmp_path):
    folder = builders.bert_classifier(tmp_path / "model")
    (folder / "empty.onnx").write_bytes(b"")
    plan = "onnx/cpu/float32/b4/t1/graph=empty.onnx"
    _, err = call("run", folder, "--on", plan, "--text", "a", status=4)
    assert "no ONNX graph" in err
    assert "likewise doctor" not in err
