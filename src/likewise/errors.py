"""What went wrong, in; what to tell the person at the keyboard, out."""

from __future__ import annotations

__all__ = [
    "DeviceError",
    "FolderError",
    "ItemError",
    "LikewiseError",
    "PlanError",
    "RefusedError",
    "SettingsError",
    "ShapeError",
    "TaskError",
    "WeightsError",
]


class LikewiseError(Exception):
    """An error that says what is wrong, what was found, and what to type next.

    LikewiseError
    ├── SettingsError     likewise.toml or a flag says something impossible      exit 2
    ├── FolderError       the model folder is missing, empty or unreadable       exit 2
    │   └── WeightsError  weights absent, damaged, unsafe, or not this model's   exit 2
    ├── TaskError         no task, or several, claim this model                  exit 2
    ├── ItemError         an input file, text or picture cannot be read          exit 2
    ├── PlanError         this is not a plan                                     exit 2
    ├── ShapeError        two runs that cannot be compared                       exit 2
    └── RefusedError      a plan that cannot run as asked; it never runs another way   exit 4
        └── DeviceError   the device asked for is not here                       exit 4

    Args:
        what: one sentence: what is wrong.
        found: what was found instead.
        fix: what to type or change next.
    """

    exit_code = 2
    usual = ""  # what to do where nothing better is known

    def __init__(self, what: str, *, found: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.found = found
        self.fix = fix or self.usual

    def __str__(self) -> str:
        lines = [self.what]
        if self.found:
            lines.append(f"  found: {self.found}")
        if self.fix:
            lines.append(f"  try:   {self.fix}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.what, self.found, self.fix)


def _rebuild(kind: type[LikewiseError], what: str, found: str, fix: str) -> LikewiseError:
    return kind(what, found=found, fix=fix)


class SettingsError(LikewiseError):
    """A setting or flag that cannot be meant."""


class FolderError(LikewiseError):
    """A model folder that is missing, empty, half there or unreadable."""

    usual = "correct the file that is named, or take the folder from its source again"


class WeightsError(FolderError):
    """Weights that are absent, damaged, unsafe to open, or not this model's."""


class TaskError(LikewiseError):
    """A model that no task claims, or several."""


class ItemError(LikewiseError):
    """An input that cannot be read."""


class PlanError(LikewiseError):
    """A word that is not a plan."""


class ShapeError(LikewiseError):
    """Two runs that cannot be compared."""


class RefusedError(LikewiseError):
    """A plan that cannot run as asked, and so does not run."""

    exit_code = 4


class DeviceError(RefusedError):
    """A device that was asked for and is not here."""
