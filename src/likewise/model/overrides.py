"""What a person states about a model, in flags or in ``likewise.json``, in; one Overrides, out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import msgspec

from likewise.errors import FolderError, SettingsError
from likewise.model.files import optional_json, show
from likewise.model.labels import check_problem_type
from likewise.model.modules import MODES
from likewise.settings import Overrides
from likewise.types import Model, Overflow, Pooling

__all__ = ["BESIDE", "read_stated", "restate"]

BESIDE = "likewise.json"


def read_stated(folder: Path, flags: Overrides) -> tuple[Overrides, list[str]]:
    """Return what ``likewise.json`` beside the model states, with the flags on top, and a notice.

    Raises:
        FolderError: the file has a key or a value that Overrides do not.
    """
    file = folder / BESIDE
    content = optional_json(file)
    known = [field.name for field in fields(Overrides)]
    strange = sorted(set(content) - set(known))
    if strange:
        raise FolderError(
            f"{file} has a key that likewise does not know.",
            found=strange[0],
            fix=f"one of: {', '.join(known)}",
        )
    try:
        beside = msgspec.convert(content, Overrides)
    except msgspec.ValidationError as error:
        raise FolderError(f"{file} has a value that cannot be.", found=str(error)) from None
    notice = [f"stated in {BESIDE}: {show(sorted(content), 8)}"] if content else []
    above = {name: value for name, value in vars(flags).items() if value is not None}
    if above:
        notice.append(f"stated by the user: {show(sorted(above), 8)}")
    return replace(beside, **above), notice


def restate(model: Model, stated: Overrides) -> Model:
    """Return the model with what was stated in place of what its folder says.

    Raises:
        SettingsError: what is stated cannot be: a limit beyond the model's, an unknown pooling,
            problem type, prompt or policy, a threshold where just one label is true.
    """
    for name, (field, allow) in _STATEMENTS.items():
        value = getattr(stated, name)
        if value is not None:
            model = replace(model, **{field: allow(model, value)})
    return model


def _overflow(model: Model, stated: str) -> str:
    _refuse_pictures(model, "overflow policy")
    known = get_args(Overflow)
    if stated not in known:
        raise SettingsError(
            f"overflow {stated!r} is not a policy.", fix=f"one of: {', '.join(known)}"
        )
    return stated


def _threshold(model: Model, stated: float) -> float:
    _refuse_pictures(model, "threshold")
    _refuse_without_classes(model, "threshold")
    if not 0 < stated < 1:
        raise SettingsError(
            f"threshold {stated} is no score that decides.", fix="a number between 0 and 1"
        )
    if model.problem_type != "multi_label_classification":
        raise SettingsError(
            "A threshold is for models where several labels can be true at once.",
            found=f"problem_type: {model.problem_type or 'not said'}",
            fix="leave it out, or state --problem-type multi_label_classification",
        )
    return stated


def _problem_type(model: Model, stated: str) -> str:
    _refuse_pictures(model, "problem type")
    _refuse_without_classes(model, "problem type")
    try:
        return check_problem_type(stated, "What is stated")
    except FolderError as error:
        raise SettingsError(error.what, found=error.found, fix=error.fix) from None


def _pooling(model: Model, modes: tuple[str, ...]) -> Pooling:
    _refuse_pictures(model, "pooling")
    strange = [mode for mode in modes if mode not in MODES]
    if strange or not modes:
        raise SettingsError(
            "The pooling that is stated cannot be.",
            found=show(strange) or "none",
            fix=f"one or more of: {', '.join(MODES)}",
        )
    include = model.pooling.include_prompt if model.pooling else True
    return Pooling(tuple(modes), assumed=False, include_prompt=include)


def _truncate_dim(_: Model, stated: int) -> int:
    if stated < 1:
        raise SettingsError(f"truncate_dim {stated} keeps nothing of a vector.", fix="1 or more")
    return stated


def _limit(model: Model, stated: int) -> int:
    _refuse_pictures(model, "limit of tokens")
    if not 1 <= stated <= model.max_tokens:
        raise SettingsError(
            f"max_tokens {stated} is not a limit that this model can keep.",
            found=f"the folder allows 1 to {model.max_tokens} tokens, special tokens included",
            fix=f"--max-tokens {model.max_tokens} or less; or leave it out",
        )
    return stated


def _prompt(model: Model, name: str) -> str:
    _refuse_pictures(model, "prompt")
    if name == "":
        return ""
    if name not in model.prompts:
        raise SettingsError(
            f"The folder has no prompt {name!r}.",
            found=f"prompts: {show(sorted(model.prompts), 8) or 'none'}",
            fix="name one of them, or leave it out",
        )
    return model.prompts[name]


def _targets(_: Model, stated: tuple[str, ...]) -> tuple[str, ...]:
    if not stated:
        raise SettingsError("The list of targets is empty.", fix="--targets good,bad")
    return stated


def _model_type(model: Model, stated: str) -> str:
    _refuse_pictures(model, "model type")
    return stated


def _labels(model: Model, stated: tuple[str, ...]) -> tuple[str, ...]:
    if not stated:
        raise SettingsError("The list of labels is empty.", fix="--labels first,second")
    _refuse_without_classes(model, "labels")
    return stated


def _refuse_without_classes(model: Model, what: str) -> None:
    """A statement that nothing would follow from is an error, not a thing to pass over."""
    if not {"classes", "picture"} & {*model.trained_heads}:
        raise SettingsError(
            f"The {what} of a classifier is stated, and this model is none.",
            found=f"trained heads: {show(model.trained_heads) or 'none'}",
            fix="leave it out",
        )


def _refuse_pictures(model: Model, what: str) -> None:
    if model.library == "timm":
        raise SettingsError(
            f"The {what} is for texts, and this model takes pictures.",
            found=model.architecture,
            fix="leave it out",
        )


def _lower_case(model: Model, stated: bool) -> bool:
    _refuse_pictures(model, "casing")
    return stated


def _as_said(_: Model, stated: Any) -> Any:
    return stated


_STATEMENTS: Mapping[str, tuple[str, Callable[[Model, Any], Any]]] = {
    "task": ("task", _as_said),
    "model_type": ("family", _model_type),
    "labels": ("labels", _labels),
    "problem_type": ("problem_type", _problem_type),
    "pooling": ("pooling", _pooling),
    "normalise": ("normalise", _as_said),
    "truncate_dim": ("truncate_dim", _truncate_dim),
    "max_tokens": ("max_tokens", _limit),
    "prompt": ("default_prompt", _prompt),
    "lower_case": ("lower_case", _lower_case),
    "overflow": ("overflow", _overflow),
    "threshold": ("threshold", _threshold),  # after the problem type that allows it
    "targets": ("targets", _targets),
}
"""What can be stated: the field of Model that it replaces, and what may stand there."""
