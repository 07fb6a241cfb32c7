"""Faults of loading: weights that are not the checkpoint's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.prove.planted import _parts
from likewise.prove.planted._fault import TEXT, Fault, Module, absent, in_module, in_session
from likewise.types import Session

if TYPE_CHECKING:
    from likewise.types import Arrays

_CLASSES = ("classify", "image_classify")


def _permuted(session: Session, inputs: Arrays) -> Arrays:
    return {name: np.roll(a, 1, axis=1) for name, a in session.run(inputs).items()}


def _stale(module: Module) -> None:
    import torch

    random = torch.Generator().manual_seed(4)
    for parameter in _parts.layers(module)[0].parameters():
        noise = torch.randn(parameter.shape, generator=random)
        parameter.add_(noise * 0.01 * parameter.abs().mean())


def _twice(module: Module) -> None:
    found = _parts.layers(module)
    found[1].load_state_dict(found[0].state_dict())


def _dropped(module: Module) -> None:
    del _parts.layers(module)[-1]


def _transposed(module: Module) -> None:
    part = _parts.linears(module, "attention output")[0]
    part.weight.copy_(part.weight.t().clone())


def _swapped(module: Module) -> None:
    query, key = (_parts.linears(module, role)[0] for role in ("query", "key"))
    kept = {name: value.clone() for name, value in query.state_dict().items()}
    query.load_state_dict(key.state_dict())
    key.load_state_dict(kept)


def _no_query_bias(module: Module) -> None:
    _parts.linears(module, "query")[0].bias.zero_()


def _no_key_bias(module: Module) -> None:
    for part in _parts.linears(module, "key"):
        part.bias.zero_()


def _no_output_bias(module: Module) -> None:
    _parts.feed_forward(module).bias.zero_()


def _no_attention_head(module: Module) -> None:
    part = _parts.linears(module, "attention output")[0]
    part.weight[:, : part.in_features // 2] = 0.0


def _cut_short(module: Module) -> None:
    weight = _parts.feed_forward(module, 0).weight.view(-1)
    weight[-max(1, len(weight) // 100) :] = 0.0


def _rare_words(module: Module) -> None:
    table = _parts.linears(module, "words")[0].weight
    rare = table[-max(2, len(table) // 20) :]
    rare.copy_(rare.flip(0).clone())


def _random_head(module: Module) -> None:
    import torch

    weight = _parts.head(module).weight
    drawn = torch.randn(weight.shape, generator=torch.Generator().manual_seed(4))
    weight.copy_(drawn * weight.std())


def _middle_dropped(module: Module) -> None:
    found = _parts.layers(module)
    del found[len(found) // 2]


def _values_swapped(module: Module) -> None:
    key, value = (_parts.linears(module, role)[0] for role in ("key", "value"))
    kept = {name: tensor.clone() for name, tensor in key.state_dict().items()}
    key.load_state_dict(value.state_dict())
    value.load_state_dict(kept)


def _no_value_bias(module: Module) -> None:
    _parts.linears(module, "value")[0].bias.zero_()


def _negated(module: Module) -> None:
    _parts.feed_forward(module, 0).weight[0].neg_()


def _rows_reversed(module: Module) -> None:
    part = _parts.linears(module, "attention output")[-1]
    part.weight.copy_(part.weight.flip(0).clone())


def _segments_lost(module: Module) -> None:
    _parts.linears(module, "segments")[0].weight.zero_()


def _adapter_merged(module: Module) -> None:
    """A low-rank update of a hundredth of the weight, as an adapter that is merged twice."""
    import torch

    weight = _parts.linears(module, "query")[-1].weight
    random = torch.Generator().manual_seed(4)
    down = torch.randn(2, weight.shape[1], generator=random)
    update = torch.randn(weight.shape[0], 2, generator=random) @ down
    weight.add_(update * (0.01 * weight.norm() / update.norm()))


def _no_scale(module: Module) -> None:
    weight = _parts.norms(module)[-1].weight
    if bool((weight == 1).all()):
        raise absent("scale of its own in the last normalisation")
    weight.fill_(1.0)


def _no_shift(module: Module) -> None:
    bias = getattr(_parts.norms(module)[0], "bias", None)
    if bias is None or not bias.any():
        raise absent("shift of its own in the first normalisation")
    bias.zero_()


def _word_emptied(module: Module) -> None:
    table = _parts.linears(module, "words")[0].weight
    table[len(table) // 3].zero_()


def _no_head_bias(module: Module) -> None:
    bias = _parts.head(module).bias
    if bias is None or not bias.any():
        raise absent("bias of the head")
    bias.zero_()


def _heads_swapped(module: Module) -> None:
    part = _parts.linears(module, "attention output")[0]
    half = part.in_features // 2
    part.weight.copy_(part.weight.roll(half, dims=1).clone())


FAULTS = (
    Fault("W02", "head drawn at random", in_module(_random_head), _CLASSES),
    Fault("W07", "middle layer dropped", in_module(_middle_dropped), TEXT),
    Fault("W09", "key and value swapped in one layer", in_module(_values_swapped), TEXT),
    Fault(
        "W12",
        "value bias dropped in one layer",
        in_module(_no_value_bias),
        TEXT,
        coarsest="bfloat16",
    ),
    Fault("W16", "one row of a weight negated", in_module(_negated), TEXT),
    Fault("W18", "rows of a weight in reverse order", in_module(_rows_reversed), TEXT),
    Fault("W20", "segment table not loaded", in_module(_segments_lost), TEXT),
    Fault(
        "W22",
        "adapter merged twice: a low-rank hundredth",
        in_module(_adapter_merged),
        TEXT,
        coarsest="float32",
    ),
    Fault("W26", "scale of the last normalisation not loaded", in_module(_no_scale), TEXT),
    Fault("W27", "shift of the first normalisation not loaded", in_module(_no_shift), TEXT),
    Fault(
        "W28",
        "the row of one word empty",
        in_module(_word_emptied),
        TEXT,
        needs="an item that holds the word",
        coarsest="bfloat16",
    ),
    Fault(
        "W29", "bias of the head dropped", in_module(_no_head_bias), _CLASSES, coarsest="bfloat16"
    ),
    Fault("W30", "heads of attention in another order", in_module(_heads_swapped), TEXT),
    Fault("W03", "label columns permuted", in_session(_permuted), _CLASSES),
    Fault(
        "W04",
        "one layer stale, from an older checkpoint",
        in_module(_stale),
        TEXT,
        coarsest="float16",
    ),
    Fault("W05", "a layer loaded twice", in_module(_twice), TEXT),
    Fault("W06", "last layer dropped", in_module(_dropped), TEXT),
    Fault("W08", "square output matrix of attention transposed", in_module(_transposed), TEXT),
    Fault("W10", "query and key swapped in one layer", in_module(_swapped), TEXT),
    Fault(
        "W11",
        "query bias dropped in one layer",
        in_module(_no_query_bias),
        TEXT,
        coarsest="bfloat16",
    ),
    Fault("W13", "feed-forward output bias dropped", in_module(_no_output_bias), TEXT),
    Fault(
        "W14",
        "key bias dropped: softmax does not see it",
        in_module(_no_key_bias),
        TEXT,
        expected="equivalent",
    ),
    Fault("W15", "an attention head zeroed", in_module(_no_attention_head), TEXT),
    Fault(
        "W17", "one hundredth of a weight zeroed", in_module(_cut_short), TEXT, coarsest="bfloat16"
    ),
    Fault(
        "W19",
        "embedding rows of rare words mixed up",
        in_module(_rare_words),
        TEXT,
        needs="items that hold those words",
    ),
)
