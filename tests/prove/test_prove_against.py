"""Two things compared: a folder with a folder, a plan with a plan, on tiny models, in process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from here import Here, stand_in

import likewise
import tiny as builders
from likewise.cli.tables import print_verdicts
from likewise.errors import LikewiseError, RefusedError
from likewise.outcomes import Verdict
from likewise.port.job import port
from likewise.prove.compare import compare
from likewise.prove.limits import limits_of
from likewise.prove.proof import prove
from likewise.settings import Bench, Overrides, Plans, Proof, Settings
from likewise.types import Measure, Plan

Tiny = Callable[[str], Path]

ONNX, OPENVINO = "onnx/cpu/float32/b16/t1", "openvino/cpu/float32/b16/t1"
TORCH = Plan.parse("torch/cpu/float32/b16/t1")
FEW = Settings(proof=Proof(items=64, truth_items=24))
PORTING = replace(
    FEW,
    plans=Plans(only=(ONNX, OPENVINO)),
    bench=Bench(seconds=0.1, most_seconds=0.2, passes=3, pass_seconds=0.02),
)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    """Children run here; what one test made, the next one reuses."""
    return stand_in(monkeypatch)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builders.bert_classifier(tmp_path_factory.mktemp("source") / "model")


@pytest.fixture(scope="module")
def ported(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Last month's port; the folder it was made from is still there."""
    with pytest.MonkeyPatch.context() as patch:
        stand_in(patch)
        out = tmp_path_factory.mktemp("ported") / "dir"
        port(source, out=out, settings=PORTING)
    return out


@pytest.fixture(scope="module")
def orphan(ported: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same port, and no record of where the weights are."""
    copy = Path(shutil.copytree(ported, tmp_path_factory.mktemp("orphan") / "dir"))
    (copy / "report.json").unlink()
    return copy


def measured(verdict: Verdict, metric: str) -> Measure:
    return next(m for m in verdict.measures if m.metric == metric)


def against(source: Path, other: Path | str, plan: Plan | None = TORCH) -> Verdict:
    return prove(source, plan, against=other, settings=FEW)


def test_a_model_gives_its_own_answers(
    here: Here, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # nothing is there yet
    verdict = against(source, str(TORCH))
    assert verdict.outcome == "equal", verdict.reasons
    assert here.plans.count(str(TORCH)) >= 2  # run twice: not one thing held against itself
    assert against(source, source).outcome == "equal"


def test_two_plans_of_one_model_are_compared(here: Here, source: Path) -> None:
    verdict = against(source, ONNX, Plan.parse(OPENVINO))
    assert verdict.outcome == "equal", verdict.reasons
    assert (verdict.reference, verdict.candidate) == (ONNX, OPENVINO)
    assert verdict.against["plan"] == ONNX
    assert verdict.against["candidate"]["plan"] == OPENVINO
    assert verdict.against["noise"] == "CPU float32 against CPU float64"
    assert ONNX in verdict.scope
    assert "not those of the checkpoint" in verdict.scope
    assert measured(verdict, "other_amplification").limit is None


@pytest.mark.parametrize("name", ["sentence_transformer", "roberta_fillmask", "timm_classifier"])
def test_plans_are_compared_whatever_the_task(here: Here, tiny: Tiny, name: str) -> None:
    verdict = against(tiny(name), OPENVINO, Plan.parse(ONNX))
    assert verdict.outcome == "equal", verdict.reasons


def test_a_wrong_plan_is_not_what_an_honest_one_gives_whichever_is_asked(
    here: Here, source: Path
) -> None:
    wrong = f"{TORCH}/fault=W11"
    assert against(source, wrong).outcome == "outside"
    assert against(source, ONNX, Plan.parse(wrong)).outcome == "outside"


def test_a_wrong_other_side_excuses_nobody(here: Here, source: Path) -> None:
    """Noise is that of the float32 reference: were it the other side's error, this would pass."""
    verdict = against(source, f"{TORCH}/fault=G02")
    assert verdict.outcome == "outside"
    assert measured(verdict, "other_amplification").value > 100


def test_a_model_still_gives_the_answers_of_its_port(
    here: Here, source: Path, ported: Path
) -> None:
    verdict = against(source, ported)
    assert verdict.outcome == "equal", verdict.reasons
    assert verdict.against["kind"] == "ported folder"
    assert verdict.against["noise_from"] == str(source)
    assert verdict.against["fingerprint"] == verdict.against["candidate"]["fingerprint"]
    assert {stratum.by for stratum in verdict.strata} == {"label", "tokens", "content"}


def test_a_port_still_gives_the_answers_of_its_model(
    here: Here, source: Path, ported: Path
) -> None:
    verdict = against(ported, source, None)
    assert verdict.outcome == "equal", verdict.reasons
    assert verdict.candidate in (ONNX, OPENVINO)


def test_the_folder_a_port_was_made_from_is_found_by_its_record(
    here: Here, source: Path, ported: Path, orphan: Path
) -> None:
    verdict = against(orphan, ported, None)
    assert verdict.outcome == "equal", verdict.reasons
    assert verdict.against["noise_from"] == str(source)


def test_without_weights_the_noise_is_that_of_other_runs_and_this_is_said(
    here: Here, ported: Path, orphan: Path
) -> None:
    verdict = against(ported, orphan, None)
    assert verdict.outcome == "equal", verdict.reasons
    assert verdict.against["noise"] == "other runs of the same"
    assert "are not here" in verdict.against["float64_missing"]
    assert "Float64 could not be asked" in verdict.scope
    assert measured(verdict, "canaries_missed").n >= 4


def test_without_weights_no_engine_excuses_itself(here: Here, orphan: Path) -> None:
    """Were its own run among the honest ones, its error would be the noise it is held to."""
    verdict = against(orphan, OPENVINO, Plan.parse(ONNX))
    assert here.plans
    assert not [plan for plan in here.plans if plan.startswith("onnx") and "b16" not in plan]
    assert verdict.outcome in ("equal", "undecided"), verdict.reasons
    assert measured(verdict, "amplification_max").value != 1
    if verdict.outcome == "undecided":
        assert all("another engine may round so" in reason for reason in verdict.reasons)


@pytest.mark.parametrize("whole", [True, False])
def test_another_fine_tuning_of_the_same_shape_is_outside(
    here: Here, ported: Path, orphan: Path, tmp_path: Path, whole: bool
) -> None:
    other = builders.bert_classifier(tmp_path / "other", seed=1)
    verdict = against(other, ported if whole else orphan)
    assert verdict.outcome == "outside"
    assert measured(verdict, "other_checkpoint").value == 1
    assert measured(verdict, "spread_error").holds is False


def test_another_task_is_refused_in_words(here: Here, source: Path, tiny: Tiny) -> None:
    with pytest.raises(RefusedError, match="same task") as caught:
        against(tiny("sentence_transformer"), source)
    assert "embed" in caught.value.found
    assert "classify" in caught.value.found
    assert here.plans == []


def test_labels_in_another_order_are_outside_and_named(
    here: Here, source: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(source, tmp_path / "model"))
    config = json.loads((copy / "config.json").read_text())
    config["id2label"] = {"0": "Bullish", "1": "Neutral", "2": "Bearish"}
    config["label2id"] = {"Bullish": 0, "Neutral": 1, "Bearish": 2}
    (copy / "config.json").write_text(json.dumps(config))
    verdict = against(copy, source)
    assert verdict.outcome == "outside"
    assert measured(verdict, "contract").holds is False
    assert "labels is ['Bullish', 'Neutral', 'Bearish']" in verdict.reasons[0]


def test_another_pooling_or_limit_is_outside_and_named(
    here: Here, tiny: Tiny, tmp_path: Path
) -> None:
    model = tiny("sentence_transformer")
    short = builders.sentence_transformer(tmp_path / "short", max_seq_length=16)
    pooled = builders.sentence_transformer(tmp_path / "pooled", modes=("cls",))
    for changed, named in ((short, "limit is 16"), (pooled, "pooling is ['cls']")):
        verdict = against(changed, model)
        assert verdict.outcome == "outside"
        assert any(named in reason for reason in verdict.reasons), verdict.reasons


def test_other_token_ids_are_seen_though_they_are_as_many(
    here: Here, source: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(source, tmp_path / "model"))
    body = json.loads((copy / "tokenizer.json").read_text())
    words = body["model"]["vocab"]
    first, second = [w for w in words if w.isalpha() and w.isascii() and len(w) > 2][:2]
    words[first], words[second] = words[second], words[first]
    (copy / "tokenizer.json").write_text(json.dumps(body))
    (copy / "vocab.txt").unlink()
    verdict = against(copy, source)
    assert verdict.outcome == "outside"
    assert measured(verdict, "inputs").holds is False


def test_a_lossy_plan_is_held_to_the_coarser_class(here: Here, source: Path) -> None:
    verdict = against(source, f"{TORCH}/emulate=bfloat16")
    assert verdict.outcome in ("within", "undecided"), verdict.reasons
    bfloat16 = limits_of("bfloat16", "standard")
    assert measured(verdict, "spread_error").limit == bfloat16["spread_error"].value


def test_what_is_neither_plan_nor_folder_is_an_error(here: Here, source: Path) -> None:
    with pytest.raises(LikewiseError, match="not a plan"):
        against(source, "onnx/cpu")
    with pytest.raises(LikewiseError, match="no folder"):
        against(source, str(source.parent / "nowhere"))
    with pytest.raises(LikewiseError, match="no plan to prove"):
        prove(source, settings=FEW)


def test_a_plan_that_the_folder_holds_no_proof_of_is_refused(here: Here, ported: Path) -> None:
    with pytest.raises(RefusedError, match="not proven"):
        against(ported, OPENVINO, Plan.parse("onnx/cpu/float32/b3/t1"))


def test_several_plans_are_judged_in_order_and_the_worst_is_the_exit_status(
    here: Here, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plans = [Plan.parse(OPENVINO), TORCH]
    verdicts = compare(source, plans, ONNX, settings=FEW)
    assert [v.candidate for v in verdicts] == [OPENVINO, str(TORCH)]
    assert print_verdicts(verdicts, as_json=True) == 0
    assert [v["outcome"] for v in json.loads(capsys.readouterr().out)] == ["equal", "equal"]
    assert (
        print_verdicts([verdicts[0], replace(verdicts[1], outcome="outside")], as_json=False) == 1
    )
    assert f"{OPENVINO}, compared with {ONNX}" in capsys.readouterr().out


def test_what_was_stated_when_a_folder_was_ported_is_asked_of_its_source_too(
    here: Here, source: Path, ported: Path
) -> None:
    stated = replace(FEW, model=Overrides(labels=("a", "b", "c")))
    with pytest.raises(RefusedError, match="not proven so"):
        prove(source, TORCH, against=ported, settings=stated)


def test_the_verdict_is_json(here: Here, source: Path) -> None:
    import msgspec

    verdict = against(source, ONNX, Plan.parse(OPENVINO))
    again = msgspec.json.decode(msgspec.json.encode(verdict, enc_hook=str), type=likewise.Verdict)
    assert again.against["named"] == verdict.against["named"]


def test_int8_is_emulated_alone_and_in_a_batch(here: Here, source: Path) -> None:
    against(source, f"{TORCH}/emulate=int8", Plan.parse(ONNX))
    wanted = [f"torch/cpu/float32/b{batch}/t1/emulate=int8" for batch in (1, 16)]
    assert set(wanted) <= set(here.plans)
