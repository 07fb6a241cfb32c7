"""The four classes by the words people already use: items in, answers and arrays out.

Each is a thin face on the one Runner; nothing is computed here. The folder is read when the object
is made, so a wrong folder fails at once; the weights are opened at the first call, or by ``open``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np

from likewise.errors import ItemError, SettingsError
from likewise.run.opening import open_runner
from likewise.run.source import Source, resolve
from likewise.settings import Overrides
from likewise.types import Answer, Item, Json, Plan

if TYPE_CHECKING:
    from typing_extensions import Self

    from likewise.run.runner import Runner
    from likewise.types import Floats, Run

__all__ = ["Classifier", "Encoder", "FillMask", "ImageClassifier", "ImageEncoder"]


class _Predictor:
    """A model folder, or one that ``likewise port`` wrote, ready to answer.

    Args:
        model: the folder.
        device: auto (npu, cuda, cpu: the first that is truly usable), or cpu, cuda:0, npu:1 …
        plan: a plan, to decide everything at once.
        unproven: with a ported folder: run a plan that it holds no proof of.
        overrides: what the folder does not say, or says wrongly: labels, pooling …

    Raises:
        LikewiseError: the folder is not readable, the task does not fit, or the device is not here.
    """

    task: ClassVar[str]

    def __init__(
        self,
        model: str | Path,
        *,
        device: str = "auto",
        plan: str | Plan | None = None,
        unproven: bool = False,
        **overrides: Any,
    ) -> None:
        asked = Plan.parse(plan) if isinstance(plan, str) else plan
        strange = sorted(set(overrides) - {f.name for f in fields(Overrides)})
        if strange:
            raise SettingsError(
                f"Nothing called {strange[0]!r} can be stated about a model.",
                fix=f"one of: {', '.join(f.name for f in fields(Overrides))}",
            )
        self.source: Source = resolve(
            model,
            plan=asked,
            device=device,
            unproven=unproven,
            overrides=_stated({"task": self.task, **overrides}),
        )
        self._runner: Runner | None = None

    def open(self) -> Runner:
        """Load the weights, once; return the runner that everything goes through."""
        if self._runner is None:
            source = self.source
            self._runner = open_runner(source.folder, overrides=source.overrides, plan=source.plan)
        return self._runner

    def close(self) -> None:
        """Free the memory; the next call opens it again."""
        if self._runner is not None:
            self._runner.session.close()
            self._runner = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _facts(self) -> Mapping[str, Json]:
        return self.open().task.facts()

    def _run(self, items: Sequence[Item], *, top: int | None = None) -> Run:
        run = self.open().run(_listed(items), keep=True, top=top)
        for index, answer in enumerate(run.answers):
            if "error" in answer:
                raise ItemError(
                    f"Item {index} has no answer.",
                    found=str(answer["error"]),
                    fix="take it out, or use .answers(items), which answers the others",
                )
        return run

    def answers(self, items: Sequence[Item], *, top: int | None = None) -> list[Answer]:
        """Return one answer per item, in order; {"error": reason} where an item has none."""
        return self.open().run(_listed(items), keep=False, top=top).answers


class Classifier(_Predictor):
    """Text classification."""

    task = "classify"

    def predict(self, items: Sequence[Item]) -> tuple[list[dict[str, float]], Floats]:
        """Return labels with their probabilities, and the same as an array.

        Args:
            items: N texts (or pictures).

        Returns:
            N dicts label → probability, best first (two labels of one name are told apart by
            their index: ``name (3)``), and (N, C) float32 in the order of the model's labels. A
            regression gives {"value": v}, or {"value 0": v, …}, and its raw values.

        Raises:
            ItemError: an item has no answer; names it.
        """
        items = _listed(items)
        if not items:
            return [], np.zeros((0, len(self._facts()["labels"])), np.float32)
        run = self._run(items)
        results = [_by_label(answer) for answer in run.answers]
        return results, run.arrays["scores"].astype("float32")


class ImageClassifier(Classifier):
    """Picture classification: items are paths, bytes or PIL pictures."""

    task = "image_classify"


class Encoder(_Predictor):
    """Sentence embedding."""

    task = "embed"

    def encode(self, items: Sequence[Item]) -> Floats:
        """Return (N, D) float32, one vector per item.

        Raises:
            ItemError: an item has no answer; names it.
        """
        items = _listed(items)
        if not items:
            return np.zeros((0, self._facts()["width"]), np.float32)
        return self._run(items).arrays["vector"].astype("float32")


class ImageEncoder(Encoder):
    """Picture embedding: items are paths, bytes or PIL pictures."""

    task = "image_embed"


class FillMask(_Predictor):
    """Fill-mask."""

    task = "fillmask"

    def fill(self, items: Sequence[Item], *, top: int = 5) -> list[list[list[dict[str, Any]]]]:
        """Return, for each item and each of its masks, the ``top`` tokens, best first.

        Raises:
            ItemError: an item has no mask, or it was cut away; names it.
        """
        return [answer["masks"] for answer in self._run(items, top=top).answers]


def _listed(items: Any) -> list[Item]:
    """Return items as a list; anything that gives one item after the other will do."""
    alone = isinstance(items, str | bytes | Path | Mapping)
    if alone or not isinstance(items, Iterable):
        raise ItemError(
            "A list of items is wanted.",
            found=f"one {type(items).__name__}",
            fix="put it in a list: [item]",
        )
    return list(items)


def _stated(overrides: dict[str, Any]) -> Overrides:
    """Return what was stated, each value of the kind that its name asks for."""
    try:
        return msgspec.convert(overrides, Overrides)
    except msgspec.ValidationError as error:
        raise SettingsError(
            "Something that is stated about the model cannot be.",
            found=str(error),
            fix="lists for labels, pooling and targets; numbers for max_tokens and threshold",
        ) from None


def _by_label(answer: Answer) -> dict[str, float]:
    if "labels" not in answer:  # a regression has values, and no labels to choose from
        values = answer.get("values", [answer.get("value")])
        return (
            {"value": values[0]}
            if len(values) == 1
            else {f"value {i}": v for i, v in enumerate(values)}
        )
    entries = answer["labels"]
    names = [entry["label"] for entry in entries]
    return {
        name if names.count(name) == 1 else f"{name} ({entry['index']})": entry["score"]
        for name, entry in zip(names, entries, strict=True)
    }
