"""A language in; every fixed phrase of the renderings, by name, out.

A language is one table here: the renderings hold structure, never a phrase.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from likewise.errors import SettingsError

__all__ = ["LANGUAGES", "Words", "words"]

Words: TypeAlias = Mapping[str, str]
"""Phrases by name; braces name what is filled in."""

_EN: Words = {
    "language": "en",
    "report": "Report",
    "skip": "Skip to the outcome",
    "contents": "On this page",
    # outcomes
    "equal": "equal",
    "within": "within",
    "outside": "outside",
    "undecided": "undecided",
    "refused": "refused",
    "unjudged": "not judged",
    "means_equal": "the same answers as the CPU reference, inside the noise of float32 itself",
    "means_within": "inside the accuracy budget of its precision",
    "means_outside": "not the same model any more",
    "means_undecided": "the evidence is not enough to say; never a pass",
    "means_refused": "cannot run here as asked, so it did not run",
    "means_unjudged": "the work stopped before its verdict",
    # the outcome in one sentence
    "chosen_equal": "{plan} was chosen: equal to the CPU reference on {n} items{speed}.",
    "chosen_within": "{plan} was chosen: within the {budget} budget on {n} items{speed}.",
    "chosen_other": "{plan} was chosen, though its outcome is {outcome}{speed}.",
    "at_speed": ", at {speed} items per second",
    "none_chosen": "No plan was chosen: {counts}.",
    "no_plans": "there was none to try",
    "interrupted": "Interrupted: this report holds what was finished, and nothing else.",
    # figures of the chosen plan
    "items_per_second": "Items per second",
    "interval": "95 %: {low} to {high}",
    "p90_one": "p90 of one item",
    "of_calls": "{n} calls",
    "peak_memory": "Peak memory",
    "of_process": "whole process",
    "first_result": "First result",
    "from_start": "from process start",
    "largest_error": "Largest error",
    "floor_is": "float32 itself: {floor}",
    "items_compared": "Items compared",
    "decisive_of": "{decisive} decisive",
    # the table of plans
    "plans": "Plans",
    "plans_caption": "Every plan that was asked for. Error is spread-normalised: the difference "
    "from float64 divided by the spread between items. One item is timed end to end.",
    "plan": "Plan",
    "verdict": "Verdict",
    "error": "Largest error",
    "limit": "Closest to its limit",
    "speed": "Items/s",
    "p90": "p90 ms",
    "memory": "Peak MiB",
    "first": "First result s",
    "chosen": "chosen",
    "reused": "from an earlier run",
    "shaky_note": "shaky: the timing has doubts, listed below.",
    "front": "No other plan beats these on both speed and error: {plans}.",
    "others": "Why these were not chosen",
    "not_measured": "not measured",
    # cautions
    "cautions": "Warnings and doubts",
    "no_cautions": "None.",
    # plots
    "plots": "Speed, latency, error",
    "plot_pareto": "Speed against error",
    "plot_latency": "Latency of one item",
    "plot_errors": "Error of each item",
    "note_pareto": "Right is faster, down is closer. The line joins the plans that no other beats "
    "on both.",
    "note_crowd": "Only the plans on that line carry a name; the table lists all.",
    "note_latency": "A tick is a call, the bar the median, the diamond the 90th percentile.",
    "note_errors": "A tick is an item, the bar the median, the diamond the worst item, the dashed "
    "line the limit. The first row is float32 on this CPU: its own rounding, which no "
    "honest port avoids.",
    "not_drawn": "Not drawn",
    "axis_speed": "items per second (faster →)",
    "axis_error": "largest error (closer ↓)",
    "axis_latency": "milliseconds for one item, end to end (faster ←)",
    "axis_errors": "spread-normalised error (closer ←)",
    "yardstick": "float32 on this CPU",
    "latency_is": "median {median}, p90 {p90}",
    "point_is": "{plan}: {outcome}, {speed} items per second, largest error {error}",
    "limit_is": "{caption}, limit {limit}",
    "largest_is": "largest {error}",
    "worst_is": "worst {error}, item {item}",
    "zero_error": "{n} of {total} items: error exactly 0, left of the scale",
    "error_zero": "error exactly 0, drawn on the lower edge",
    "no_error": "items without an error: {reason}",
    "thinned": "{shown} quantiles of {total}",
    "no_timing": "not timed",
    "no_errors": "no error of single items on record",
    # verdict cards
    "verdicts": "Verdicts",
    "why": "Why",
    "evidence": "Evidence",
    "decisive": "Decisive items",
    "flip_bound": "Other answers beyond near-ties",
    "flips_are": "{bad} of {n}; with 95 % confidence fewer than {bound} of such items",
    "canaries": "Canaries",
    "canaries_are": "{caught}/{planted} planted faults caught, {honest}/{ways} honest ways pass",
    "canaries_unknown": "not known: {reason}",
    "noise_floor": "Noise floor (median)",
    "reference": "Reference",
    "candidate": "Candidate",
    "budget": "Budget",
    "median_error": "Median error",
    "needs": "Running it needs",
    "measures": "Measures",
    "gate": "Gate",
    "measure": "Measure",
    "value": "Value",
    "limit_value": "Limit",
    "source": "Source of the limit",
    "n": "n",
    "worst_item": "Worst item",
    "holds": "Holds",
    "yes": "yes",
    "no": "no",
    "shown_only": "shown only",
    "worst": "Worst items",
    "strata": "By label, length and content",
    "by": "By",
    "by_label": "label",
    "by_tokens": "tokens",
    "by_content": "content",
    "stratum": "Of these",
    "same": "Same answer",
    "same_of": "{same} of {n}",
    "flips": "Beyond near-ties",
    "rules": "The usual rules, no part of the verdict",
    "rules_note": "What other reports would print of the same two runs. A mean hides the one wrong "
    "item, and honest rounding breaks some of these: the verdict above asks none of them.",
    "rule": "Usual rule",
    "threshold": "Usual threshold",
    "rule_passes": "Passes",
    "item": "Item",
    "item_error": "Error",
    "text": "What it is",
    "on_reference": "Answer of the reference",
    "on_candidate": "Answer of this plan",
    "timing": "Timing",
    "what_ran": "What really ran",
    "absent": "Absent from {field}: {reason}",
    "passes": "Passes over the workload",
    "passes_are": "{n}, after {warmups} to warm up",
    "one_item": "One item",
    "one_item_is": "median {median}, p90 {p90}, p99 {p99}; {n} calls",
    "phases": "Share of the time",
    "opened": "Process start to open",
    "timed_at": "Timed at",
    "workload": "Workload",
    "doubts": "Doubts",
    # the rest of the page
    "references": "References",
    "probes": "Probes",
    "model": "Model",
    "task": "Task",
    "files": "Weights and fingerprints",
    "file": "File",
    "format": "Format",
    "size": "MiB",
    "hash": "SHA-256",
    "used": "Used",
    "environment": "Environment",
    "settings": "Settings as they took effect",
    "name": "Name",
    "not_run": "What was not run",
    "all_run": "Everything that was asked for ran.",
    "proven_not_timed": "judged, not timed",
    "timed_not_proven": "timed, not judged",
    "not_reached": "not reached",
    "made": "likewise {version}, {made_at}, in {seconds}",
    "only_door": "Every figure here comes from report.json beside this page; the raw samples are "
    "in it.",
    # answers and lists
    "mask": "mask {n}: {tokens}",
    "numbers": "{n} numbers: {numbers}",
    "more": "and {n} more",
}

LANGUAGES: Mapping[str, Words] = {"en": _EN}


def words(language: str) -> Words:
    """Return the phrases of a language.

    Raises:
        SettingsError: likewise does not speak it.
    """
    if language not in LANGUAGES:
        raise SettingsError(
            f"likewise has no report in {language!r}.",
            found=f"there are: {', '.join(LANGUAGES)}",
            fix="leave out --lang",
        )
    return LANGUAGES[language]
