"""The evidence in; how well each label, band of lengths and kind of content does, out.

A maximum over all items says that something is wrong; these rows say where, and a mean over all
would have hidden a fault in one label or one length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from likewise.outcomes import Stratum
from likewise.prove.choices import beyond, crossed, exclusive, independent, near_tie
from likewise.prove.evidence import Evidence
from likewise.prove.pairs import Pairs
from likewise.types import Json

if TYPE_CHECKING:
    import numpy.typing as npt

    from likewise.metrics._rows import Numbers

    Flags = npt.NDArray[np.bool_]

__all__ = ["strata"]

_BANDS = (16, 64, 256)  # tokens; the last band is open
_MOST = 12  # labels that have a row of their own; a vocabulary has 250,002


@dataclass(frozen=True, eq=False)
class _Rows:
    """What is known of each row of the output that is judged first."""

    evidence: Evidence
    pairs: Pairs

    @cached_property
    def excess(self) -> Numbers | None:
        """(R, C) or (R, 1): how sure the reference is of an answer that changed; else -inf."""
        if exclusive(self.pairs):
            return beyond(self.pairs, 1)[:, None]
        return crossed(self.pairs) if independent(self.evidence, self.pairs) else None

    @cached_property
    def noise(self) -> Numbers:
        """(R, 1) up to which that is a near-tie."""
        return near_tie(self.evidence, self.pairs)[:, None]

    def stratum(self, by: str, name: str, kept: Flags) -> Stratum:
        """Return what becomes of some rows."""
        excess = None if self.excess is None else self.excess[kept].max(axis=1, keepdims=True)
        return _stratum((by, name), self, kept, (excess, self.pairs.errors[kept]))

    def label(self, name: str, column: int) -> Stratum:
        """Return what becomes of one independent label, on all rows."""
        kept = np.ones(len(self.pairs.items), np.bool_)
        excess = None if self.excess is None else self.excess[:, [column]]
        ours, theirs = (
            np.asarray(a, np.float64) for a in (self.pairs.reference, self.pairs.candidate)
        )
        with np.errstate(all="ignore"):
            errors = np.abs(theirs[:, column] - ours[:, column]) / self.pairs.spread
        return _stratum(("label", name), self, kept, (excess, errors))


def strata(evidence: Evidence) -> tuple[Stratum, ...]:
    """Return the rows of a card: per label, then per band of lengths, then per kind of content.

    A row is there for a band or a kind only where there are several, and () where the two runs'
    rows could not be compared.
    """
    pairs = next(iter(evidence.judged.values()), None)
    if pairs is None:
        return ()
    rows = _Rows(evidence, pairs)
    lengths = evidence.yardstick.tokens[pairs.items]
    groups = [evidence.probes[item].group for item in pairs.items.tolist()]
    bands = [_band(length) for length in lengths.tolist()]
    order = [_band(most) for most in (*_BANDS, _BANDS[-1] + 1)]
    return (
        *_labels(rows),
        *_several(rows, "tokens", bands, order),
        *_several(rows, "content", groups, sorted(set(groups))),
    )


def _several(rows: _Rows, by: str, names: Sequence[str], order: Sequence[str]) -> Iterator[Stratum]:
    found = np.array(names)
    if len(set(names)) > 1:
        yield from (rows.stratum(by, n, found == n) for n in order if (found == n).any())


def _labels(rows: _Rows) -> Iterator[Stratum]:
    pairs = rows.pairs
    if rows.excess is None:
        return
    named = _names(rows.evidence)
    if not exclusive(pairs):
        for column in range(pairs.reference.shape[1]):
            yield rows.label(named.get(column, f"class {column}"), column)
        return
    best = pairs.reference.argmax(axis=1)
    common = [int(index) for index, _ in Counter(best.tolist()).most_common(_MOST)]
    for index in sorted(common):
        yield rows.stratum("label", named.get(index, f"class {index}"), best == index)
    rest = ~np.isin(best, common)
    if rest.any():
        yield rows.stratum("label", f"{len(np.unique(best[rest]))} others", rest)


def _names(evidence: Evidence) -> Mapping[int, str]:
    """Return labels or tokens by index: the contract's, or those that the reference answers."""
    named = {
        entry["index"]: str(entry.get("label", entry.get("token")))
        for answer in evidence.yardstick.answers
        for entries in (answer.get("labels", ()), *answer.get("masks", ()))
        for entry in entries
        if entry["index"] is not None
    }
    return {**named, **dict(enumerate(_listed(evidence.contract.get("labels"))))}


def _listed(labels: Json) -> list[str]:
    return [str(label) for label in labels] if isinstance(labels, list) else []


def _band(length: int) -> str:
    """Return the band of a length.

    >>> _band(16), _band(17), _band(300)
    ('1 to 16', '17 to 64', 'over 256')
    """
    least = 1
    for most in _BANDS:
        if length <= most:
            return f"{least} to {most}"
        least = most + 1
    return f"over {_BANDS[-1]}"


def _stratum(
    key: tuple[str, str], rows: _Rows, kept: Flags, found: tuple[Numbers | None, Numbers]
) -> Stratum:
    excess, errors = found
    finite = np.where(np.isfinite(errors), errors, np.inf)
    worst = int(finite.argmax())
    reasons = [] if excess is not None else ["no classes"]
    if not np.isfinite(finite[worst]):
        reasons.append("the candidate's numbers are not finite")
    return Stratum(
        by=key[0],
        name=key[1],
        n=len(errors),
        differ=None if excess is None else int((excess > -np.inf).sum()),
        flips=None if excess is None else int((excess > rows.noise[kept]).sum()),
        error=float(finite[worst]) if np.isfinite(finite[worst]) else None,
        worst_item=int(rows.pairs.items[np.flatnonzero(kept)[worst]]),
        reason="; ".join(reasons),
    )
