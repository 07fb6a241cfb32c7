"""A fault in one label, length or kind of content stands in a row of its own."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from fabricate import arrays_of, evidence, finish, measure, with_arrays

from likewise.outcomes import Rule, Stratum
from likewise.prove.evidence import Evidence
from likewise.prove.strata import strata
from likewise.prove.verdict import judge


def lengthy(made: Evidence, tokens: np.ndarray) -> Evidence:
    return dataclasses.replace(made, yardstick=dataclasses.replace(made.yardstick, tokens=tokens))


def by(made: Evidence, kind: str) -> dict[str, Stratum]:
    return {s.name: s for s in strata(made) if s.by == kind}


def test_a_fault_in_one_length_is_not_averaged_away() -> None:
    lengths = np.where(np.arange(256) < 250, 9, 300)

    def spoil(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        raw = arrays["logits"]
        raw[250:] = raw[250:, ::-1]
        return finish("softmax", raw)

    rows = by(lengthy(evidence(spoil=spoil), lengths), "tokens")
    assert list(rows) == ["1 to 16", "over 256"]
    assert (rows["1 to 16"].n, rows["1 to 16"].flips) == (250, 0)
    assert rows["1 to 16"].error is not None
    assert rows["1 to 16"].error < 1e-5
    assert rows["over 256"].n == 6
    assert rows["over 256"].error is not None
    assert rows["over 256"].error > 0.5
    assert rows["over 256"].worst_item is not None
    assert rows["over 256"].worst_item >= 250


def test_rows_of_labels_have_the_references_answers_and_add_up() -> None:
    def spoil(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        raw = arrays["logits"]
        raw[:, 2] = -50.0  # the third label is never answered
        return finish("softmax", raw)

    rows = by(evidence(spoil=spoil), "label")
    assert list(rows) == ["L0", "L1", "L2"]
    assert sum(s.n for s in rows.values()) == 256
    assert (rows["L0"].differ, rows["L1"].differ) == (0, 0)
    assert rows["L2"].differ == rows["L2"].n > 0


def test_the_labels_of_a_large_vocabulary_are_the_commonest_and_the_others() -> None:
    rows = by(evidence(outputs=50), "label")
    assert len(rows) == 13
    assert sum(s.n for s in rows.values()) == 256
    assert list(rows)[-1].endswith(" others")


def test_independent_labels_each_have_a_row_over_all_items() -> None:
    def spoil(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        raw = arrays["logits"]
        raw[:, 1] *= -1
        return finish("sigmoid", raw)

    rows = by(evidence("sigmoid", spoil=spoil), "label")
    assert [s.n for s in rows.values()] == [256] * 3
    assert [s.differ for s in rows.values()] == [0, 256, 0]


def test_vectors_have_rows_of_content_and_no_answers_to_differ() -> None:
    made = strata(evidence("vector", outputs=8))
    assert [(s.by, s.name, s.n) for s in made] == [
        ("content", "chinese", 128),
        ("content", "english", 128),
    ]
    assert {(s.differ, s.flips, s.reason) for s in made} == {(None, None, "no classes")}


def test_an_error_without_a_number_is_none_and_says_why() -> None:
    made = evidence()
    arrays = arrays_of(made)
    arrays["logits"][3] = np.nan
    made = dataclasses.replace(made, candidate=with_arrays(made.candidate, arrays))
    row = by(made, "content")["english"]
    assert row.error is None
    assert row.worst_item == 3
    assert "not finite" in row.reason


def rule(rules: tuple[Rule, ...], part: str) -> Rule:
    found = [r for r in rules if part in r.name]
    assert len(found) == 1
    return found[0]


def test_the_usual_rules_stand_beside_a_verdict_and_pass_what_it_refuses() -> None:
    def spoil(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        raw = arrays["logits"]
        raw[7] = raw[7, ::-1]
        return finish("softmax", raw)

    verdict = judge(evidence(spoil=spoil))
    assert verdict.outcome == "outside"
    assert len([r for r in verdict.rules if r.name.startswith("error < 1 %")]) == 5
    assert rule(verdict.rules, "mean cosine").passes is True
    assert rule(verdict.rules, "mean absolute").passes is True
    assert rule(verdict.rules, "largest relative").passes is False
    assert rule(verdict.rules, "squared").passes is None
    assert {r.on for r in verdict.rules} == {"scores"}


@pytest.mark.parametrize(
    ("activation", "outputs", "reason"),
    [
        ("softmax", 3, "3 classes"),
        ("softmax", 8, ""),
        ("vector", 8, "no classes"),
        ("sigmoid", 8, "each label stands on its own"),
    ],
)
def test_the_best_five_are_asked_only_where_there_are_more_classes(
    activation: str, outputs: int, reason: str
) -> None:
    top5 = rule(judge(evidence(activation, outputs=outputs)).rules, "top-5")
    assert top5.reason.startswith(reason)
    assert (top5.passes is True) == (reason == "")


@pytest.mark.parametrize("plan", ["onnx/cpu/float32/b16/t2", "onnx/cpu/int8/b16/t2"])
def test_a_verdict_says_what_its_flips_allow_the_true_rate_to_be(plan: str) -> None:
    verdict = judge(evidence(plan=plan))
    exact = "float32" in plan
    bound = measure(verdict, "top1_flips_bound" if exact else "top1_flips")
    flips = measure(verdict, "top1_flips" if exact else "top1_flips_counted")
    assert bound.n == flips.n == 256
    if flips.value == 0:
        assert bound.value == pytest.approx(1 - 0.05 ** (1 / 256))
    assert bound.value > flips.value / 256
