"""Would this very proof have noticed a wrong port, and let an honest one pass?"""

from __future__ import annotations

from collections.abc import Mapping

from likewise.prove.checks._held import ZERO, count, doubted, unknown
from likewise.prove.evidence import Evidence
from likewise.types import Measure, Outcome

gate = "G0"

_LEAST = 4  # faults that could be planted
_PASSES = ("equal", "within")


def check(evidence: Evidence) -> list[Measure]:
    """Return planted faults that passed, and honest runs that did not; [] for a canary itself."""
    if not evidence.canaries_asked:
        return []
    if evidence.canaries is None:
        shown = Measure("canaries_missed", "run", None, "", 0)
        return [unknown(shown, ZERO, "too few items have a reference to plant faults on")]
    return [_missed(evidence.canaries.faults), _alarms(evidence.canaries.honest)]


def _missed(faults: Mapping[str, Outcome]) -> Measure:
    if len(faults) < _LEAST:
        shown = Measure("canaries_missed", "run", None, "", len(faults))
        return unknown(shown, ZERO, f"only {len(faults)} faults could be planted in this model")
    missed = [name for name, outcome in faults.items() if outcome in _PASSES]
    words = f"{len(missed)} of {len(faults)} planted faults passed: {', '.join(missed)}"
    return doubted(count("canaries_missed", "run", len(missed), len(faults), words))


def _alarms(honest: Mapping[str, Outcome]) -> Measure:
    """Count honest runs that did not pass.

    An emulation gives what its precision gives at best. Where that is at the edge of the budget,
    it is undecided: a fact of the model, and a plan that rounds less may well pass.
    """
    wrong = [
        f"{plan} is {outcome}"
        for plan, outcome in honest.items()
        if outcome not in _PASSES and (outcome == "outside" or "emulate=" not in plan)
    ]
    words = f"{len(wrong)} of {len(honest)} honest runs did not pass: {'; '.join(wrong)}"
    return doubted(count("false_alarms", "run", len(wrong), len(honest), words))
