"""What a graph declares decides what it is fed."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.engines._feeds import feeds, refuse_unknown
from likewise.errors import RefusedError
from likewise.types import Network

NETWORK = Network("classes", ("input_ids", "attention_mask", "token_type_ids"), ("logits",))
BATCH = {name: np.ones((2, 3), np.int64) for name in NETWORK.inputs}


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_b087_ids_come_in_the_width_that_the_graph_declares(kind: str) -> None:
    made = feeds(dict.fromkeys(NETWORK.inputs, kind), BATCH, NETWORK)
    assert {array.dtype.name for array in made.values()} == {kind}


def test_nothing_is_copied_that_fits() -> None:
    assert feeds({"input_ids": "int64"}, BATCH, NETWORK)["input_ids"] is BATCH["input_ids"]


def test_b088_what_the_graph_does_not_read_is_left_out() -> None:
    assert list(feeds({"input_ids": "int64"}, BATCH, NETWORK)) == ["input_ids"]


def test_b088_absent_segments_are_zeros() -> None:
    made = feeds({"token_type_ids": "int32"}, {"input_ids": BATCH["input_ids"]}, NETWORK)
    assert made["token_type_ids"].tolist() == [[0, 0, 0], [0, 0, 0]]


def test_b088_a_graph_that_wants_unknown_inputs_is_refused_with_a_list() -> None:
    declared = dict.fromkeys((*NETWORK.inputs, "input.1", "position_ids"), "int64")
    with pytest.raises(RefusedError, match=r"input\.1, position_ids; given are input_ids"):
        refuse_unknown(declared, ("logits",), NETWORK)


def test_b083_a_graph_without_the_output_is_refused() -> None:
    with pytest.raises(RefusedError, match="outputs last_hidden_state, but no logits"):
        refuse_unknown({"input_ids": "int64"}, ("last_hidden_state",), NETWORK)
