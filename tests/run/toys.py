"""A task and a session of a few lines, in; what the runner makes of them can be computed by hand.

Each letter of an item is a token; each capital is a row that the network answers, as a mask is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.types import Answer, Item, Json, Kind, Network, Row

if TYPE_CHECKING:
    from likewise.types import Arrays, Ints

NETWORK = Network("tokens", ("input_ids", "attention_mask", "rows"), ("logits",))


@dataclass
class Letters:
    """Answers every capital of a text by its code; a text without one has a problem."""

    name: str = "letters"
    network: Network = NETWORK
    takes: str = "text"
    kinds: Mapping[str, Kind] = field(default_factory=lambda: {"logits": "logits"})
    window: int = 7
    assumptions: tuple[str, ...] = ()

    def facts(self) -> Mapping[str, Json]:
        return {"limit": 100}

    def hints(self) -> Mapping[str, Json]:
        return {}

    def encode(self, items: Sequence[Item]) -> list[Row]:
        return [self._row(item) for item in items]

    def collate(self, rows: Sequence[Row]) -> Arrays:
        length = max(row.tokens for row in rows)
        ids = np.zeros((len(rows), length), np.int64)
        for place, row in enumerate(rows):
            ids[place, : row.tokens] = row.arrays["input_ids"]
        capitals = np.flatnonzero((ids >= ord("A")) & (ids <= ord("Z")))
        return {"input_ids": ids, "attention_mask": (ids > 0).astype(np.int64), "rows": capitals}

    def owners(self, inputs: Arrays) -> Ints:
        return inputs["rows"] // inputs["input_ids"].shape[1]

    def finish(self, inputs: Arrays, outputs: Arrays) -> Arrays:
        assert len(outputs["logits"]) == len(inputs["rows"])
        return dict(outputs)

    def answers(self, inputs: Arrays, arrays: Arrays, *, top: int | None) -> list[Answer]:
        owners = self.owners(inputs)
        codes = arrays["logits"][:, 0]
        return [
            {"codes": codes[owners == place].tolist()[:top]}
            for place in range(len(inputs["input_ids"]))
        ]

    def _row(self, item: Item) -> Row:
        if not isinstance(item, str):
            return Row({}, 0, problem=f"not a text: {type(item).__name__}")
        notes = {"tokens": len(item)}
        if not any(letter.isupper() for letter in item):
            return Row({}, len(item), notes, problem="no capital")
        return Row({"input_ids": np.array([ord(c) for c in item])}, len(item), notes)


@dataclass
class Codes:
    """Computes (R, 2): the code of each asked letter, and the batch's length; keeps its shapes."""

    shapes: list[tuple[int, ...]] = field(default_factory=list)
    spoil: Any = None  # (outputs) → outputs
    closed: bool = False

    def run(self, inputs: Arrays) -> Arrays:
        ids, rows = inputs["input_ids"], inputs["rows"]
        self.shapes.append(ids.shape)
        codes = ids.reshape(-1)[rows].astype(np.float32)
        outputs = {"logits": np.stack([codes, np.full_like(codes, ids.shape[1])], axis=1)}
        return self.spoil(outputs) if self.spoil else outputs

    def facts(self) -> Mapping[str, Json]:
        return {"engine": "codes"}

    def close(self) -> None:
        self.closed = True
