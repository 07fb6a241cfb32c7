"""Numbers that may be drawn in; reports of any content, for Hypothesis, out."""

from __future__ import annotations

from hypothesis import strategies as st

from likewise.outcomes import (
    SCHEMA,
    Choice,
    Entry,
    Report,
    Rule,
    Samples,
    Stratum,
    Timing,
    Verdict,
    WorstItem,
)
from likewise.types import Measure

words = st.text(max_size=12)
finite = st.floats(allow_nan=False, allow_infinity=False)
any_float = st.floats()
counts = st.integers(0, 2**40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | finite | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
mappings = st.dictionaries(words, json_values, max_size=3)


def rows(of: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(of, max_size=3).map(tuple)


def judged(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[Verdict]:
    """Draw verdicts."""
    maybe = st.none() | numbers
    measures = st.builds(
        Measure,
        metric=words,
        on=words,
        value=maybe,
        unit=words,
        n=counts,
        limit=st.none() | finite,
        better=st.sampled_from(["lower", "higher"]),
        source=words,
        holds=st.none() | st.booleans(),
        worst_item=st.none() | counts,
        reason=words,
        gate=words,
        check=words,
    )
    worst = st.builds(
        WorstItem,
        item=counts,
        shown=words,
        error=maybe,
        metric=words,
        reference=json_values,
        candidate=json_values,
        reason=words,
    )
    strata = st.builds(
        Stratum,
        by=words,
        name=words,
        n=counts,
        differ=st.none() | counts,
        flips=st.none() | counts,
        error=maybe,
        worst_item=st.none() | counts,
        reason=words,
    )
    rules = st.builds(
        Rule,
        name=words,
        on=words,
        value=maybe,
        n=counts,
        better=st.sampled_from(["lower", "higher"]),
        threshold=st.none() | finite,
        passes=st.none() | st.booleans(),
        reason=words,
    )
    return st.builds(
        Verdict,
        outcome=st.sampled_from(["equal", "within", "outside", "undecided"]),
        measures=rows(measures),
        n=counts,
        decisive=st.none() | counts,
        noise_floor=maybe,
        reference=words,
        candidate=words,
        budget=words,
        reasons=rows(words),
        worst=rows(worst),
        facts=mappings,
        scope=words,
        errors=rows(maybe),
        floor=rows(maybe),
        strata=rows(strata),
        rules=rows(rules),
        absent=st.dictionaries(words, words, max_size=2),
    )


def reports(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[Report]:
    """Draw reports whose figures that may be absent come from ``numbers``."""
    samples = st.builds(
        Samples,
        seconds=rows(finite),
        warmups=rows(finite),
        items=counts,
        n=counts,
        median=finite,
        p90=finite,
        p99=st.none() | finite,
        low=finite,
        high=finite,
    )
    timings = st.builds(
        Timing,
        plan=words,
        workload=mappings,
        offline=samples,
        single=samples,
        items_per_second=finite,
        phases=st.dictionaries(words, finite, max_size=3),
        open_seconds=finite,
        first_result_seconds=finite,
        peak_bytes=counts,
        doubts=rows(words),
        facts=mappings,
        made_at=words,
    )
    entries = st.builds(
        Entry,
        plan=words,
        refusal=st.none() | words,
        verdict=st.none() | judged(numbers),
        timing=st.none() | timings,
        reused=st.booleans(),
        needs=rows(words),
    )
    choices = st.builds(
        Choice, plan=st.none() | words, reason=words, front=rows(words), ranking=rows(words)
    )
    return st.builds(
        Report,
        schema=st.just(SCHEMA),
        likewise=words,
        made_at=words,
        command=words,
        model=mappings,
        task=mappings,
        machine=mappings,
        settings=mappings,
        probes=mappings,
        references=mappings,
        entries=rows(entries),
        choice=choices,
        warnings=rows(words),
        interrupted=st.booleans(),
        seconds=finite,
    )
