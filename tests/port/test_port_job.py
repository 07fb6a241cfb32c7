"""The main job on tiny models: what passed is chosen, what is wrong is not, nothing is lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import likewise
from likewise.cli.tables import print_report
from likewise.errors import FolderError
from likewise.outcomes import Report
from likewise.port.job import port
from likewise.prove.faults import faults
from likewise.report import record
from likewise.settings import Bench, Plans, Proof, Settings

QUICK = Settings(
    proof=Proof(items=67),
    bench=Bench(seconds=0.1, most_seconds=0.5, passes=3, pass_seconds=0.02),
)
GOOD = "onnx/cpu/float32/b16/t1"
BAD = ("torch/cpu/float32/b16/t1/fault=G03", "torch/cpu/float32/b16/t1/fault=W03")
TEXTS = ["to the moon", "", "sold everything " * 80, "买入"]


def only(*plans: str) -> Settings:
    return replace(QUICK, plans=Plans(only=plans))


@pytest.fixture(scope="module")
def ported(tiny: Callable[[str], Path], tmp_path_factory) -> tuple[Report, Path]:
    out = tmp_path_factory.mktemp("ported")
    return port(tiny("roberta_classifier"), out=out, settings=only(GOOD, *BAD)), out


def test_a_plan_with_a_planted_fault_is_not_chosen_and_the_report_says_why(ported):
    report, out = ported
    assert report.choice.plan == GOOD
    entries = {e.plan: e for e in report.entries}
    text = (out / "report.md").read_text(encoding="utf-8")
    for plan in BAD:
        assert entries[plan].verdict.outcome == "outside"
        assert entries[plan].verdict.reasons[0]
        assert entries[plan].timing is None
        assert plan in text


def test_the_record_on_disk_is_the_report_and_follows_its_schema(ported):
    report, out = ported
    raw = json.loads((out / "report.json").read_text(encoding="utf-8"))
    jsonschema.validate(raw, record.schema())
    assert record.load(out).choice == report.choice
    assert raw["entries"][0]["timing"]["offline"]["seconds"]


def test_the_ported_folder_answers_as_the_model_does(ported, tiny):
    _, out = ported
    with (
        likewise.Classifier(out) as small,
        likewise.Classifier(tiny("roberta_classifier")) as whole,
    ):
        assert str(small.source.plan) == GOOD
        results, probabilities = small.predict(TEXTS)
        assert np.abs(probabilities - whole.predict(TEXTS)[1]).max() < 1e-5
    assert [list(r) for r in results] == [sorted(r, key=r.get, reverse=True) for r in results]


def test_run_again_everything_that_is_unchanged_is_used_again(ported, tiny):
    first, out = ported
    again = port(tiny("roberta_classifier"), out=out, settings=only(GOOD, *BAD))
    assert all(e.reused for e in again.entries if e.verdict.passes)
    assert again.references["reused"]
    assert again.entries[0].timing == first.entries[0].timing


def test_where_nothing_can_run_the_report_says_so_and_the_exit_status_is_4(tiny, tmp_path):
    report = port(tiny("bert_classifier"), out=tmp_path, to="npu", settings=QUICK)
    assert report.choice.plan is None
    assert all(e.refusal for e in report.entries)
    assert report.references == {}
    assert print_report(report, tmp_path, as_json=True) == 4
    assert not (tmp_path / "model").exists()


def test_stopped_in_the_middle_what_was_finished_is_kept_and_said(tiny, tmp_path):
    stopped = []

    def stop(phase: str, detail: str) -> None:
        if phase == "prove" and detail.startswith(BAD[0]):
            stopped.append(detail)
            raise KeyboardInterrupt

    report = port(
        tiny("roberta_classifier"), out=tmp_path, settings=only(GOOD, *BAD), progress=stop
    )
    assert stopped
    assert report.interrupted
    kept, *rest = record.load(tmp_path).entries
    assert kept.verdict.passes
    assert [e.refusal for e in rest] == ["interrupted before it was done"] * 2
    assert "interrupted" in (tmp_path / "report.md").read_text(encoding="utf-8").lower()


def test_the_ported_folder_shares_no_file_with_the_cache(ported):
    _, out = ported
    assert all(p.stat().st_nlink == 1 for p in (out / "model").rglob("*") if p.is_file())


@pytest.mark.parametrize(
    "stated", [{"problem_type": "multi_label_classification"}, {"labels": ("A", "B", "C")}]
)
def test_what_is_stated_on_top_of_a_proof_is_refused_unless_told(ported, stated):
    _, out = ported
    with pytest.raises(likewise.LikewiseError, match="not proven so"):
        likewise.Classifier(out, **stated)
    assert likewise.Classifier(out, unproven=True, **stated)


def test_a_plan_on_another_device_than_was_asked_for_is_refused(ported):
    _, out = ported
    with pytest.raises(likewise.LikewiseError, match="not on the device"):
        likewise.Classifier(out, plan=GOOD, device="cuda")


def test_no_items_give_no_answers_in_the_right_shape(ported):
    _, out = ported
    with likewise.Classifier(out) as classifier:
        results, probabilities = classifier.predict([])
    assert results == []
    assert probabilities.shape == (0, 3)


def test_a_ported_folder_is_not_taken_for_a_model(ported, tmp_path):
    _, out = ported
    with pytest.raises(likewise.LikewiseError, match="what likewise port wrote"):
        port(out, out=tmp_path / "out", settings=only(GOOD))


def test_a_model_folder_is_not_written_into(tiny):
    folder = tiny("roberta_classifier")
    with pytest.raises(likewise.LikewiseError, match="model itself"):
        port(folder, out=folder, settings=only(GOOD))


def test_where_nothing_is_chosen_the_earlier_model_stays_and_that_is_said(tiny, ported, tmp_path):
    _, out = ported
    kept = tmp_path / "kept"
    shutil.copytree(out, kept)
    report = port(tiny("roberta_classifier"), out=kept, to="npu", settings=QUICK)
    assert report.choice.plan is None
    assert any("earlier port" in warning for warning in report.warnings)
    assert likewise.Classifier(kept).predict(["to the moon"])[1].shape == (1, 3)


def test_a_folder_that_is_no_model_leaves_nothing_behind(tmp_path):
    with pytest.raises(likewise.LikewiseError):
        port(tmp_path / "nowhere", out=tmp_path / "out", settings=QUICK)
    assert not (tmp_path / "out").exists()


def test_an_unknown_engine_in_a_plan_is_a_refusal_of_that_plan_alone(ported, tiny, tmp_path):
    report = port(
        tiny("roberta_classifier"),
        out=tmp_path,
        settings=only("nothing/cpu/float32/b16/t1", GOOD),
    )
    assert report.choice.plan == GOOD
    assert "not among the engines" in report.entries[0].refusal


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "model"),
    [
        ("classify", "bert_classifier"),
        ("embed", "sentence_transformer"),
        ("fillmask", "bert_fillmask"),
        ("image_classify", "timm_classifier"),
    ],
)
def test_no_saboteur_is_chosen_by_port(task, model, tiny, tmp_path):
    named = [f.name for f in faults().values() if task in f.tasks and f.expected != "equivalent"]
    bad = [f"torch/cpu/float32/b16/t1/fault={name}" for name in named]
    report = port(tiny(model), out=tmp_path, settings=only(GOOD, *bad))
    assert report.choice.ranking == (GOOD,)
    for entry in report.entries[1:]:
        assert entry.verdict is None or entry.verdict.reasons[0], entry.plan
        assert entry.verdict is not None or entry.refusal, entry.plan


def test_what_likewise_did_not_write_is_never_replaced(tiny, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mine.txt").write_text("precious")
    with pytest.raises(FolderError, match="did not write"):
        port(tiny("roberta_classifier"), out=tmp_path, settings=only(GOOD))
    assert (tmp_path / "model" / "mine.txt").read_text() == "precious"


def test_a_port_that_chooses_nothing_leaves_the_earlier_report_beside_its_model(ported, tmp_path):
    folder = shutil.copytree(ported[1], tmp_path / "again")
    before = (folder / "report.json").read_bytes()
    source = json.loads(before)["model"]["folder"]
    port(source, out=folder, settings=only("onnx/npu/float32/b16/t1"))
    assert (folder / "report.json").read_bytes() == before
    assert json.loads((folder / "report-failed.json").read_text())["choice"]["plan"] is None
