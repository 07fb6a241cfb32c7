"""``likewise.toml`` and flags, in; one frozen Settings, out. Every default is written here."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from likewise.errors import SettingsError

__all__ = ["EFFORTS", "Bench", "Effort", "Overrides", "Plans", "Proof", "Settings", "read_settings"]


@dataclass(frozen=True)
class Overrides:
    """What the user states about a model; None leaves what its folder says."""

    task: str | None = None
    model_type: str | None = None  # where config.json does not say, or says a name of its own
    labels: tuple[str, ...] | None = None
    problem_type: str | None = None
    pooling: tuple[str, ...] | None = None
    normalise: bool | None = None
    truncate_dim: int | None = None  # numbers kept of each vector, the first ones
    max_tokens: int | None = None
    prompt: str | None = None  # the name of one of the folder's prompts
    lower_case: bool | None = None
    overflow: str | None = None  # cut | refuse | window: what becomes of a text over the limit
    threshold: float | None = None  # multi-label: labels from this score on are answered
    targets: tuple[str, ...] | None = None  # fill-mask: words that answers are drawn from


@dataclass(frozen=True)
class Plans:
    """Which plans to try: the product of these, less what the engines refuse."""

    engines: tuple[str, ...] = ()  # (): every engine that is here
    devices: tuple[str, ...] = ("cpu",)
    dtypes: tuple[str, ...] = ("float32",)
    batches: tuple[int, ...] = (16,)  # items in a batch, at most
    threads: tuple[int, ...] = ()  # (): as many as affinity and cgroup quota allow
    only: tuple[str, ...] = ()  # plans spelt out; then the rest of this table is not used


@dataclass(frozen=True)
class Effort:
    """How much is tried."""

    items: int  # probes; up to three more are drawn, so that the last batch is not full
    truth_items: int  # of them also computed in float64
    near_ties: int = 0  # texts on which the model itself hesitates most, mined from more
    swept_ids: int = 0  # token ids, at most, that are all read at least once


EFFORTS = {
    "quick": Effort(items=64, truth_items=24),
    "standard": Effort(items=256, truth_items=64),  # the limits were calibrated on it
    "thorough": Effort(items=1024, truth_items=192, near_ties=64, swept_ids=65_536),
}
"""By the word that a person says."""


@dataclass(frozen=True)
class Proof:
    """How a plan is proven."""

    budget: Literal["strict", "standard", "relaxed"] = "standard"
    effort: Literal["quick", "standard", "thorough"] = "standard"
    items: int | None = None  # probes; None: as many as the effort says
    truth_items: int | None = None  # of them also computed in float64; None: the same
    least_items: int = 64  # fewer than this: undecided
    seed: int = 20
    labelled: str | None = None  # a file of items with their right answers: JSON lines, CSV, TSV
    timeout_seconds: float = 3600.0  # for one plan's process

    def sized(self) -> Effort:
        """Return how much is tried: what the effort says, but for what is stated beside it."""
        said = EFFORTS[self.effort]
        return replace(
            said,
            items=said.items if self.items is None else self.items,
            truth_items=said.truth_items if self.truth_items is None else self.truth_items,
        )

    def settled(self) -> Proof:
        """Return the same with every number that it leaves to the effort."""
        size = self.sized()
        return replace(self, items=size.items, truth_items=size.truth_items)


@dataclass(frozen=True)
class Bench:
    """How a plan is timed."""

    goal: Literal["throughput", "latency"] = "throughput"  # what "fastest" means
    workload: Literal["short", "mixed", "long"] = "mixed"
    seconds: float = 4.0  # for each of the two scenarios, at least
    most_seconds: float = 10.0  # and at most, however wide the interval
    passes: int = 7  # at least
    width: float = 0.05  # stop when the 95 % interval of the median is this share of it
    pass_seconds: float = 1.0  # the workload is sized so that one pass takes about this
    timeout_seconds: float = 1800.0  # for one plan's process


@dataclass(frozen=True)
class Settings:
    """All settings of one command; stored in the report as they took effect."""

    plans: Plans = field(default_factory=Plans)
    proof: Proof = field(default_factory=Proof)
    bench: Bench = field(default_factory=Bench)
    model: Overrides = field(default_factory=Overrides)


def read_settings(
    file: str | Path | None = None, flags: dict[str, dict[str, Any]] | None = None
) -> Settings:
    """Return the settings from a TOML file, with flags on top.

    Args:
        file: ``likewise.toml``; None reads the one in the working folder, if there is one.
        flags: {table: {key: value}}; a value of None leaves the file's or the default.

    Raises:
        SettingsError: the file is not TOML, or a table, key or value is not one of ours.
    """
    import msgspec

    path = Path(file or "likewise.toml")
    tables: dict[str, Any] = {}
    if file is not None or path.is_file():
        tables = _read_toml(path)
    for table, values in (flags or {}).items():
        chosen = {k: v for k, v in values.items() if v is not None}
        if chosen:
            tables[table] = {**tables.get(table, {}), **chosen}
    _refuse_unknown(tables, path)
    _refuse_impossible(tables, path)
    try:
        return msgspec.convert(tables, Settings)
    except msgspec.ValidationError as error:
        raise SettingsError(
            f"A setting in {path} or a flag has a value it cannot have.",
            found=str(error),
            fix="docs/settings.md lists every key with its values",
        ) from None


def _read_toml(path: Path) -> dict[str, Any]:
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        return dict(toml.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise SettingsError(
            f"There is no settings file {path}.", fix="leave out --settings, or name a file"
        ) from None
    except (toml.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not TOML.", found=str(error)) from None


def _refuse_impossible(tables: dict[str, Any], path: Path) -> None:
    """Counts, seconds and shares are above 0, whatever they count."""
    for table, values in tables.items():
        for key, value in values.items():
            numbers = value if isinstance(value, list | tuple) else [value]
            wrong = [n for n in numbers if isinstance(n, int | float) and not n > 0]
            if wrong and key not in ("seed", "normalise", "lower_case"):
                raise SettingsError(
                    f"[{table}] {key} must be above 0.",
                    found=f"{wrong[0]} in {path} or a flag",
                    fix="docs/settings.md lists every key with its default",
                )


def _refuse_unknown(tables: dict[str, Any], path: Path) -> None:
    kinds: dict[str, Any] = {"plans": Plans, "proof": Proof, "bench": Bench, "model": Overrides}
    for table, values in tables.items():
        known = kinds.get(table)
        if known is None or not isinstance(values, dict):
            raise SettingsError(
                f"{path} has a table that likewise does not know.",
                found=f"[{table}]",
                fix=f"one of: {', '.join(f'[{k}]' for k in kinds)}",
            )
        keys = [f.name for f in fields(known)]
        strange = sorted(set(values) - set(keys))
        if strange:
            raise SettingsError(
                f"{path} has a key that [{table}] does not know.",
                found=strange[0],
                fix=f"one of: {', '.join(keys)}",
            )
