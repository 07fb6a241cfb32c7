"""A published report is read against itself and its model: what is wrong is found, no more."""

from __future__ import annotations

import json
import time
from pathlib import Path

import accept
import published
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from likewise.cli import app
from likewise.errors import FolderError, ItemError
from likewise.report.audit.audit import MOST_BYTES, audit, audit_text, spelled
from likewise.report.audit.finding import Finding

XLMR = {"model_type": "xlm-roberta", "hidden_size": 1024, "num_hidden_layers": 24}
XLMR |= {"vocab_size": 250002, "max_position_embeddings": 514, "architectures": ["XForMaskedLM"]}
TOWER = {"architecture": "convnext_base", "num_classes": 640, "num_features": 1024}
TOWER |= {"pretrained_cfg": {"tag": "clip_laion2b", "input_size": [3, 256, 256]}}


def folder(tmp_path: Path, config: object) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return tmp_path


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "README.md"
    path.write_text(text, encoding="utf-8")
    return path


def said(findings: tuple[Finding, ...], check: str) -> list[str]:
    return [f"{f.found} | {f.recomputed}" for f in findings if f.check == check]


def one(findings: tuple[Finding, ...], *parts: str) -> Finding:
    """Return the only finding that says all of the parts."""
    found = [f for f in findings if all(p in f"{f.found} {f.recomputed}" for p in parts)]
    assert len(found) == 1, [f.found for f in findings]
    return found[0]


def test_a_report_of_pictures_has_two_latencies_two_sizes_two_outputs_and_a_blank() -> None:
    findings = audit_text(published.PICTURES)
    assert one(findings, "latency", "14.8 ms", "18.9 ms").lines == (14, 33)
    assert one(findings, "picture size", "224", "256").lines == (10, 33)
    assert one(findings, "output width", "[1, 1000]", "[1, 640]").lines == (10, 33)
    assert one(findings, "{accuracy}").lines == (29,)
    assert len(said(findings, "classes")) == 2
    assert len(findings) == 6


def test_the_models_own_config_says_which_of_two_is_wrong(tmp_path: Path) -> None:
    path = file(tmp_path, published.PICTURES)
    findings = audit(path, model=folder(tmp_path, TOWER))
    assert said(findings, "config") == [
        "output width [1, 1000] | config.json: output width 640 (or 1,024 before the head)",
        "picture size 224 × 224 | config.json: picture size 256",
    ]
    assert {f.severity for f in findings} == {"wrong"}


def test_a_report_of_masks_has_ratios_that_do_not_follow_and_too_few_items() -> None:
    findings = audit_text(published.MASKS)
    assert "12 times" in one(findings, "8x beside").recomputed
    assert "720, 360, 20 are 1 : 2 : 36" in one(findings, "1 : 2.7 : 12").recomputed
    assert one(findings, "V100", "2.7x").lines == (21,)
    assert one(findings, "910: energy", "12x").lines == (22,)
    assert "16 J" in one(findings, "310", "61").recomputed
    assert "${to_be_measured}" in one(findings, "a blank").found
    assert "25.9 %" in one(findings, "100 % of 10 items").recomputed
    assert "9 of 10 is 90 %" in one(findings, "9 of 10 (95 %").recomputed
    assert "0.5 points" in one(findings, "one item of 10").found
    assert {f.severity for f in findings if f.check == "few_items"} == {"doubtful"}


def test_a_length_above_the_models_positions_is_found_by_its_config(tmp_path: Path) -> None:
    path = file(tmp_path, published.MASKS)
    findings = audit(path, model=folder(tmp_path, XLMR))
    assert said(findings, "config") == [
        "longest input 1024 | config.json: longest input 514",
    ]


def test_an_honest_report_has_no_finding(tmp_path: Path) -> None:
    config = {"hidden_size": 768, "num_hidden_layers": 12, "max_position_embeddings": 514}
    config |= {"architectures": ["XForSequenceClassification"], "id2label": dict.fromkeys("012")}
    path = file(tmp_path, published.HONEST)
    assert spelled(audit(path, model=folder(tmp_path, config)), "x").startswith("Nothing")


@pytest.mark.parametrize(
    "page", [accept.MARKDOWN, *sorted(accept.SCHEMA.parent.glob("*.md"))], ids=str
)
def test_our_own_report_and_pages_have_no_finding(page: Path) -> None:
    assert audit(page) == ()


@pytest.mark.parametrize(
    "text",
    [
        "The latency is 14.8 ms on the CPU and, on the NPU, the latency is 2.1 ms.",
        "Mean latency: 14.8 ms\n\nMean latency: 14.79 ms",
        "Latency 14.8 ms at batch 1.\n\nLatency 90 ms at batch 16.",
        "## float32\n\nCosine: 0.9999\n\n## int8\n\nCosine: 0.99",
        "The mean cosine must be above 0.99.\n\nThe mean cosine is 0.9999.",
        "Training took 3.5x longer with 16x16 patches than with 8x8 ones, 20 s.",
        "The split is 8:1:1 and the energy 30 J, 20 J, 10 J was logged at 10:21:33.",
        "Use `{label: probability}` and $\\frac{a}{b}_{max}$, or {label: probability}.",
        "We compared 512 texts; 100 % have the same label.",
        "0 of 256; with 95 % confidence fewer than 1.16 %.",
        "Commit 1e9999 of 7e999 and " + "9" * 400 + " ms, faster by " + "8" * 400 + "x.",
        "| 指标 | CPU | NPU |\n|---|---|---|\n| 加速比 | 1.0x | 4.0x |\n\n相比 CPU 加速 4 倍。",
        "See {ref}`the guide` and returns {string}.",
        "| run | latency (ms) |\n|---|---|\n| 1 | 14.8 |\n| 2 | 18.9 |",
        "The best of 1000 classes: top-1 76.1 %, top-5 93.0 %, a classifier.",
    ],
)
def test_what_may_be_true_is_no_finding(text: str) -> None:
    assert audit_text(text) == ()


@pytest.mark.parametrize(
    ("text", "check", "recomputed"),
    [
        ("Top-5: 100 % of 3 labels.", "classes", "of 3 classes"),
        ("平均延迟: 14.8 ms\n\n平均延迟: 18.9 ms", "two_values", "27.7 % above"),
        ("10 条文本的标签一致率为 100%。", "few_items", "25.9 %"),
        ("| 指标 | CPU | NPU |\n|---|---|---|\n| 平均延迟 (ms) | 45.2 | 11.3 |\n\n"
         "## 7. 测试总结\n\nNPU 平均延迟 14.1 ms，相比 CPU 45.2 ms 加速 3.2 倍。",
         "two_values", "24.8 % above"),
        ("从 4.8 s 降到 0.4 s, 提升 8 倍。", "sentences", "12 times"),
        ("With batch 32 a pass takes 15.7 ms, 4,000 sentences/s.", "sentences", "2038 per second"),
        ("Memory fell from 4 GB to 3 GB, 40 % less.", "sentences", "25 %"),
        ("Accuracy is xx.x % today.", "placeholders", "blank"),
        ("| Accuracy | TODO |\n|---|---|\n| F1 | TBD |", "placeholders", "blank"),
        ("```\nlatency {latency:.2f} ms\n```", "placeholders", "blank"),
        ("| | CPU | NPU |\n|---|---|---|\n| Power (W) | 100 | 50 |\n| Time (s) | 2 | 1 |\n"
         "| Energy (J) | 200 | 90 |", "tables", "50 J"),
        ("Accuracy fell by 0.5 points on 200 texts, from 0.90.", "few_items", "chance"),
    ],
)  # fmt: skip
def test_each_check_finds_what_it_is_for(text: str, check: str, recomputed: str) -> None:
    findings = audit_text(text)
    assert [f.check for f in findings] == [check] * len(findings)
    assert recomputed in findings[0].recomputed


def test_nothing_that_a_terminal_obeys_is_passed_on() -> None:
    text = "Top-5 \x1b[2J of 2 labels: 100 %\x9b and {acc\u202eb} <your \x1b]0;x\x07 name>"
    assert audit_text(text)
    for finding in audit_text(text):
        assert finding.found.isprintable()
    assert "\x1b" not in spelled(audit_text(text), "a\x1b[31m.md")


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"caf\xe9", "UTF-8"), (b"x" * (MOST_BYTES + 1), "too large")],
    ids=["latin 1", "large"],
)
def test_a_file_that_is_no_report_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "README.md").write_bytes(content)
    with pytest.raises(ItemError, match=says):
        audit(tmp_path / "README.md")


@pytest.mark.parametrize("content", [None, "[]", "{", '{"id2label": 3, "vocab_size": "x"}'])
def test_a_model_without_a_config_that_can_be_read_is_refused(
    tmp_path: Path, content: str | None
) -> None:
    path = file(tmp_path, "Nothing.")
    if content is not None:
        (tmp_path / "config.json").write_text(content, encoding="utf-8")
    if content is not None and "id2label" in content:
        assert audit(path, model=tmp_path) == ()
        return
    with pytest.raises(FolderError, match=r"config\.json"):
        audit(path, model=tmp_path)


@given(st.text(alphabet="e|:-# `0123456789.,%x/[](){}$ msTOD\n*topfa", max_size=300))
def test_any_text_can_be_audited(text: str) -> None:
    for finding in audit_text(text):
        assert all(1 <= line <= text.count("\n") + 1 for line in finding.lines)


@pytest.mark.parametrize("part", ["1:", "1 of 2 ", "9,", "| 1 ms ", "{a", "[1, ", "a 1 s 2x ", "$"])
def test_a_hostile_file_takes_seconds_not_hours(part: str) -> None:
    line = part * (4_000 // len(part))
    began = time.monotonic()
    audit_text("\n".join([line] * 10))
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    "line",
    ["Latency: {n} ms", "| {n} | {n} ms | 2.{n}x |", "The energy is 1:2:{n} of 1 J, 2 J, 9 J."],
)
def test_a_long_file_takes_no_more_than_its_length(line: str) -> None:
    head = "| Batch | Time | Speed-up |\n|---|---|---|\n"
    began = time.monotonic()
    audit_text(head + "\n".join(line.format(n=n) for n in range(1, 3_000)))
    assert time.monotonic() - began < 20


def test_the_verb_says_by_its_exit_status_whether_anything_was_found(tmp_path: Path) -> None:
    run = CliRunner().invoke
    path = file(tmp_path, published.PICTURES)
    found = run(app, ["report", "--audit", str(path)])
    assert found.exit_code == 1
    assert "README.md:14, 33  wrong (two_values)" in found.stdout
    as_json = run(app, ["report", "--audit", str(path), "--json"])
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["findings"][0]["severity"] == "wrong"
    path = file(tmp_path, published.HONEST)
    assert run(app, ["report", "--audit", str(path)]).exit_code == 0


def test_a_folder_and_an_audit_are_one_or_the_other(tmp_path: Path) -> None:
    from likewise.errors import SettingsError

    for flags in ([], [str(tmp_path), "--audit", "x.md"], [str(tmp_path), "--model", "x"]):
        result = CliRunner().invoke(app, ["report", *flags])
        assert isinstance(result.exception, SettingsError)
