"""MODEL or DIR, a plan or a device, in; the folder and the one plan that will run, out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from likewise.engines._devices import device_reason, parse_device, threads
from likewise.errors import DeviceError, RefusedError
from likewise.model.locate import locate
from likewise.model.read import read
from likewise.run.ported import Ported, is_ported, pick_plan, read_ported
from likewise.settings import Overrides
from likewise.types import Plan

__all__ = ["AUTO_ORDER", "Source", "best_device", "resolve"]

AUTO_ORDER = ("npu", "cuda", "cpu")
"""What ``auto`` tries, first to last."""


@dataclass(frozen=True)
class Source:
    """What is to be opened."""

    folder: Path  # holds the configuration, and weights or an export
    plan: Plan
    overrides: Overrides
    said: tuple[str, ...]  # to be said aloud before running


def resolve(
    model: str | Path,
    *,
    plan: Plan | None = None,
    device: str = "auto",
    unproven: bool = False,
    overrides: Overrides | None = None,
) -> Source:
    """Decide what runs, before anything is loaded.

    A model folder runs on the torch engine in float32 unless a plan is given: on the CPU that is
    the reference itself. A ported folder runs the fastest proven plan that can run here.

    Raises:
        FolderError: there is no such folder.
        RefusedError: the plan was not proven, or nothing proven can run here.
        DeviceError: the device is not here, or not the plan's.
    """
    folder = locate(model)
    stated = overrides or Overrides()
    if plan is not None and device not in ("auto", plan.device):
        raise DeviceError(
            f"{plan} is not on the device that was asked for.",
            found=f"--device {device}",
            fix="leave out --device, or name a plan on it",
        )
    if is_ported(folder):
        ported = read_ported(folder)
        if device != "auto":
            device = usable(device)
        chosen, said = pick_plan(ported, plan, device=device, unproven=unproven)
        if not unproven:
            _refuse_unproven_facts(folder, ported, stated)
        merged = _merge(ported.overrides, replace(stated, task=stated.task or ported.task))
        return Source(folder / "model", chosen, merged, (said,) if said else ())
    if not unproven:
        _refuse_unrecorded(folder)
    if plan is not None:
        return Source(folder, plan, stated, ())
    device, words = best_device() if device == "auto" else (usable(device), ())
    count = threads()
    return Source(folder, Plan("torch", device, "float32", 16, count), stated, words)


def _refuse_unrecorded(folder: Path) -> None:
    """Refuse a ported model whose record of proof is elsewhere or gone."""
    exported = [p for p in (folder, folder / "model") if (p / "export.json").is_file()]
    if exported:
        parent = is_ported(folder.parent) and folder.name == "model"
        raise RefusedError(
            f"{folder} holds an exported model without the record of its proof.",
            found="that record is in the folder above" if parent else "no model/ported.json",
            fix=f"likewise run {folder.parent}" if parent else "port it again, or --unproven",
        )


def usable(device: str) -> str:
    """Return the device's name, or refuse with the reason and the remedy.

    Raises:
        DeviceError: the device is not usable here.
    """
    name = parse_device(device)
    reason, fix = device_reason(name)
    if reason:
        raise DeviceError(f"The device {name!r} cannot be used here.", found=reason, fix=fix)
    return name


def best_device() -> tuple[str, tuple[str, ...]]:
    """Return the first usable device of AUTO_ORDER, and what to say about the ones passed over."""
    for name in AUTO_ORDER:
        reason, _ = device_reason(name)
        if reason is None:
            return name, ()
    raise DeviceError("No device can be used here, not even the CPU.", fix="likewise doctor")


_OF_THE_ANSWER = ("overflow", "targets", "threshold")
"""What decides which items are answered and what is listed, and changes no number."""


def _refuse_unproven_facts(folder: Path, ported: Ported, stated: Overrides) -> None:
    """What is stated on top of a proof makes another model of it."""
    proven = {**vars(ported.overrides), "task": ported.task}
    for name, value in vars(stated).items():
        if name not in _OF_THE_ANSWER and value is not None and value != proven[name]:
            read(folder / "model", stated)  # what cannot be at all is said first
            raise RefusedError(
                "This folder was not proven so.",
                found=f"{name} = {value!r}; it was proven with {proven[name]!r}",
                fix="port the model again with it stated, or run with --unproven",
            )


def _merge(below: Overrides, above: Overrides) -> Overrides:
    stated = {k: v for k, v in vars(above).items() if v is not None}
    return replace(below, **stated)
