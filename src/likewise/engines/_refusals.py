"""A plan and what an engine can do, in; why the plan cannot run as asked, out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from likewise.engines._devices import device_reason, parse_device, versions
from likewise.errors import DeviceError
from likewise.types import Offer, Plan

__all__ = ["Abilities", "offer", "refusal"]

_EXTRAS: Mapping[str, Callable[[str], bool]] = {"fault": bool, "seed": str.isdigit}
"""What every engine takes: the runner plants faults, and loading takes the seed."""


@dataclass(frozen=True)
class Abilities:
    """What an engine can do."""

    engine: str
    packages: tuple[str, ...]  # that it cannot do without
    install: str  # what to type to get them
    dtypes: tuple[str, ...]
    devices: tuple[str, ...] = ("cpu",)  # kinds
    words: tuple[str, ...] = ()  # extras without a value
    valued: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # extras of stated values
    graphs: tuple[str, ...] = ()  # dtypes of a foreign graph, which the extra graph=NAME asks for
    also: tuple[str, ...] = ()  # packages whose version is worth telling


def offer(abilities: Abilities, device: str = "cpu") -> Offer:
    """Return what an engine offers on a device; never raises."""
    reason, fix = _not_ready(abilities, device)
    return Offer(
        engine=abilities.engine,
        device=device,
        dtypes=() if reason else abilities.dtypes,
        reason=reason,
        fix=fix,
        versions=versions(*abilities.packages, *abilities.also),
    )


def refusal(abilities: Abilities, plan: Plan) -> str | None:
    """Return why an engine cannot run a plan, whatever the model, or None."""
    try:
        kind = parse_device(plan.device).partition(":")[0]
    except DeviceError as error:
        return f"{error.what} {error.found}; {error.fix}"
    if kind not in abilities.devices:
        on = " and ".join(abilities.devices)
        return f"likewise runs {abilities.engine} on {on} only, not on {plan.device}"
    reason, fix = _not_ready(abilities, plan.device)
    if reason:
        return f"{plan.device} with {abilities.engine}: {reason}; {fix}"
    foreign = plan.extra("graph") is not None and bool(abilities.graphs)
    dtypes = abilities.graphs if foreign else abilities.dtypes
    if plan.dtype not in dtypes:
        able = ", ".join(dtypes)
        return f"{abilities.engine} on {plan.device} computes in {able}, not in {plan.dtype}"
    cores = os.cpu_count() or 1
    if plan.threads > cores:
        return f"{plan.threads} threads are more than the {cores} cores of this machine"
    return _extra_refusal(abilities, plan)


def _not_ready(abilities: Abilities, device: str) -> tuple[str | None, str]:
    missing = [p for p in abilities.packages if p not in versions(*abilities.packages)]
    if missing:
        return f"{', '.join(missing)} not installed", abilities.install
    return device_reason(device)


def _extra_refusal(abilities: Abilities, plan: Plan) -> str | None:
    for extra in plan.extras:
        name, _, value = extra.partition("=")
        holds = extra in abilities.words or (name in _EXTRAS and _EXTRAS[name](value))
        holds = holds or value in abilities.valued.get(name, ())
        if not holds and not (name == "graph" and value and abilities.graphs):
            graphs = ("graph=NAME.onnx or graph=FOLDER:NAME.onnx",) if abilities.graphs else ()
            valued = [f"{n}={v}" for n, values in abilities.valued.items() for v in values]
            known = ", ".join((*abilities.words, "seed=NUMBER", "fault=ID", *valued, *graphs))
            return f"{abilities.engine} does not know the extra {extra!r}; it knows {known}"
    return None
