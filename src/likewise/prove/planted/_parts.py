"""A torch module in; the parts that faults are planted in, by what they are called, out."""

from __future__ import annotations

from likewise.prove.planted._fault import Module, absent

__all__ = [
    "convolutions", "feed_forward", "head", "kin", "layers", "linears", "norms", "positions",
    "replace_each",
]  # fmt: skip

_NAMES = {
    "query": ("query", "q_lin", "q_proj"),
    "key": ("key", "k_lin", "k_proj"),
    "value": ("value", "v_lin", "v_proj"),
    "segments": ("token_type_embeddings",),
    "attention output": ("attention.output.dense", "out_lin", "out_proj", "attn.proj"),
    "positions": ("position_embeddings",),
    "words": ("word_embeddings",),
}


def linears(module: Module, role: str) -> list[Module]:
    """Return the parts of a role, first layer first.

    Raises:
        RefusedError: the model has none.
    """
    found = [part for name, part in module.named_modules() if name.endswith(_NAMES[role])]
    if not found:
        raise absent(role)
    return found


def layers(module: Module) -> Module:
    """Return the list of the model's layers, which can be changed in place."""
    for name, part in module.named_modules():
        last = name.rpartition(".")[2]
        if last in ("layer", "layers", "blocks", "stages") and len(part) > 1:
            return part
    raise absent("list of layers")


def feed_forward(module: Module, layer: int = -1) -> Module:
    """Return the linear part of a layer that brings the width back down."""
    import torch

    parts = [p for p in layers(module)[layer].modules() if isinstance(p, torch.nn.Linear)]
    down = [p for p in parts if p.in_features > p.out_features]
    if not down:
        raise absent("feed-forward output")
    return down[-1]


def norms(module: Module) -> list[Module]:
    """Return every normalisation with an epsilon."""
    found = [part for part in module.modules() if isinstance(getattr(part, "eps", None), float)]
    if not found:
        raise absent("normalisation")
    return found


def head(module: Module) -> Module:
    """Return the last linear part, which scores the classes."""
    import torch

    found = [part for part in module.modules() if isinstance(part, torch.nn.Linear)]
    if not found:
        raise absent("head")
    return found[-1]


def convolutions(module: Module) -> list[Module]:
    """Return every convolution, first first."""
    import torch

    found = [part for part in module.modules() if isinstance(part, torch.nn.Conv2d)]
    if not found:
        raise absent("convolution")
    return found


def positions(module: Module) -> Module:
    """Return the table of positions."""
    return linears(module, "positions")[0]


def kin(module: Module, *names: str) -> list[tuple[Module, str, Module]]:
    """Return (parent, attribute, part) of every part whose class has one of the names."""
    return [
        (parent, name, part)
        for parent in module.modules()
        for name, part in parent.named_children()
        if type(part).__name__ in names
    ]


def replace_each(module: Module, names: tuple[str, ...], other: Module) -> None:
    """Put another module in the place of each part of these classes."""
    found = kin(module, *names)
    if not found:
        raise absent(f"{' or '.join(names)} module")
    for parent, name, _ in found:
        setattr(parent, name, other)
