"""The verbs as a person types them: results on stdout, talk on stderr, exit as promised."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LIKEWISE = Path(sys.executable).parent / "likewise"


def call(*words: str | Path, status: int = 0) -> tuple[str, str]:
    done = subprocess.run([LIKEWISE, *words], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def test_doctor_shows_what_to_type_brackets_and_all():
    out, _ = call("doctor")
    table = out.replace("\n", " ")
    assert "ready" in table
    offers = json.loads(call("doctor", "--json")[0])
    assert {o["engine"] for o in offers} >= {"torch", "onnx", "openvino"}


def test_the_doctors_table_keeps_square_brackets(capsys, monkeypatch):
    from likewise import find
    from likewise.cli.tables import print_offers
    from likewise.types import Offer

    class Absent:
        def offers(self) -> list[Offer]:
            return [Offer("torch", "cpu", (), "not installed", "pip install 'likewise[port]'")]

    monkeypatch.setattr(find, "names", lambda _: ["torch"])
    monkeypatch.setattr(find, "load", lambda *_: Absent())
    print_offers(as_json=False)
    assert "likewise[port]" in capsys.readouterr().out


@pytest.mark.parametrize("count", [600, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_file_of_so_many_lines_gives_so_many_answers_in_order(tiny, tmp_path, count):
    file = tmp_path / "lines.txt"
    file.write_text("".join(f"line {i}\n" for i in range(count)), encoding="utf-8")
    out, _ = call("run", tiny("bert_classifier"), "--file", file, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["index"] for row in rows] == list(range(count))
    assert [row["item"] for row in rows] == [f"line {i}" for i in range(count)]


def test_one_bad_item_does_not_take_its_neighbours_along(tiny):
    out, err = call(
        "run",
        tiny("bert_fillmask"),
        "--text",
        "a [MASK] b",
        "--text",
        "no mask",
        "--json",
        status=2,
    )
    good, bad = (json.loads(line) for line in out.splitlines())
    assert good["masks"]
    assert "mask" in bad["error"]
    assert "1 of 2 items" in err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["inspect", "nowhere"], 2, "FolderError"),
        (["run", "nowhere", "--text", "a"], 2, "FolderError"),
        (["run", "MODEL"], 2, "--text"),
        (["run", "MODEL", "--text", "a", "--on", "onnx:cpu"], 2, "is not a plan"),
        (["run", "MODEL", "--text", "a", "--device", "npu"], 4, "torch_npu"),
        (["run", "MODEL", "--text", "a", "--device", "tpu"], 4, "not a device"),
        (["run", "MODEL", "--text", "a", "--task", "embedding"], 2, "embed"),
        (["prove", "MODEL", "--on", "nothing/cpu/float32/b1/t1"], 2, "onnx, openvino, torch"),
        (["prove", "MODEL", "--on", "torch/cpu/float32/b1/t1"], 4, "reference itself"),
        (["prove", "MODEL", "--on", "onnx/npu/float32/b1/t1"], 4, "on cpu only"),
        (["prove", "MODEL"], 2, "--against OTHER"),
        (["prove", "MODEL", "--on", "onnx/cpu/float32/b1/t1", "--effort", "much"], 2, "effort"),
        (["prove", "MODEL", "--against", "nowhere"], 2, "no folder nowhere"),
        (["prove", "MODEL", "--against", "onnx/npu/float32/b1/t1"], 4, "on cpu only"),
        (["bench", "MODEL", "--on", "onnx/cpu/float16/b1/t1"], 4, "float16"),
        (["report", "nowhere"], 2, "no report"),
        (["cache", "zap"], 2, "prune"),
    ],
)
def test_a_wrong_word_is_told_what_to_type(tiny, words, status, said):
    folder = str(tiny("bert_classifier"))
    _, err = call(*(folder if w == "MODEL" else w for w in words), status=status)
    assert said in err


def test_inspect_prints_json_without_torch(tiny):
    facts = json.loads(call("inspect", tiny("roberta_classifier"), "--json")[0])
    assert facts["architecture"] == "RobertaForSequenceClassification"
    assert facts["max_tokens"] > 0


def test_what_is_stated_by_a_flag_reaches_the_answer(tiny):
    folder = tiny("bert_classifier")
    count = len(json.loads(call("inspect", folder, "--json")[0])["labels"])
    names = [f"name {i}" for i in range(count)]
    out, _ = call("run", folder, "--text", "a", "--labels", ",".join(names), "--json")
    assert {e["label"] for e in json.loads(out)["labels"]} == set(names)
