"""Settings and what the engines offer, in; the plans to try, and those that cannot run, out."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from likewise import find
from likewise.engines._devices import parse_device, threads
from likewise.errors import SettingsError
from likewise.settings import Plans
from likewise.types import Engine, Plan

__all__ = ["engine", "list_plans", "needs"]


def engine(name: str) -> Engine:
    """Return an engine's module by its name."""
    return find.load("engines", name)


def needs(plan: str) -> tuple[str, ...]:
    """Return the packages that running a plan takes."""
    parsed = Plan.parse(plan)
    foreign = () if parsed.extra("graph") is None else ("onnx",)
    return (*engine(parsed.engine).needs, *foreign)


def list_plans(settings: Plans) -> list[Plan]:
    """Return the plans to try, in a fixed order; each is refused or run later, none dropped here.

    Raises:
        SettingsError: the settings name no plan at all, or an engine that is not there.
        PlanError: a plan spelt out is not one.
    """
    if settings.only:
        return _distinct(Plan.parse(text) for text in settings.only)
    known = find.names("engines")
    strange = [name for name in settings.engines if name not in known]
    if strange:
        raise SettingsError(
            f"There is no engine {strange[0]!r}.",
            found=f"engines: {', '.join(known)}",
            fix=f"--engine {known[0]}",
        )
    table = product(
        settings.engines or known,
        [parse_device(d) for d in settings.devices],
        settings.dtypes,
        settings.batches,
        settings.threads or (threads(),),
    )
    plans = _distinct(Plan(*row) for row in table)
    if not plans:
        raise SettingsError(
            "The settings leave no plan to try.",
            found="an empty list in [plans]",
            fix="give every list in [plans] at least one value",
        )
    return plans


def _distinct(plans: Iterable[Plan]) -> list[Plan]:
    return list(dict.fromkeys(plans))
