"""Faults of the graph: other activations, epsilons and modes than the configuration says."""

from __future__ import annotations

from collections.abc import Callable

from likewise.prove.planted import _parts
from likewise.prove.planted._fault import ALL, TEXT, Fault, Module, absent, in_module

_EXACT = ("GELUActivation", "GELU")
_TANH = ("GELUTanh", "NewGELUActivation", "PytorchGELUTanh", "FastGELUActivation")


def _other_epsilon(module: Module) -> None:
    for part in _parts.norms(module):
        part.eps = 1e-12 if part.eps >= 1e-5 else 1e-5


def _large_epsilon(module: Module) -> None:
    for part in _parts.norms(module):
        part.eps = 1e-3 if part.eps < 5e-4 else 1e-5


def _other_gelu(module: Module) -> None:
    import torch

    exact = bool(_parts.kin(module, *_EXACT))
    other = torch.nn.GELU(approximate="tanh" if exact else "none")
    _parts.replace_each(module, _EXACT if exact else _TANH, other)


def _relu(module: Module) -> None:
    import torch

    _parts.replace_each(module, (*_EXACT, *_TANH), torch.nn.ReLU())


def _training(module: Module) -> None:
    dropouts = [part for _, _, part in _parts.kin(module, "Dropout")]
    if not dropouts:
        raise absent("dropout")
    for part in dropouts:
        part.p = part.p or 0.1
        part.train()


def _no_tanh(module: Module) -> None:
    import torch

    _parts.replace_each(module, ("Tanh",), torch.nn.Identity())


def _activation(other: str) -> Callable[[Module], None]:
    def change(module: Module) -> None:
        import torch

        _parts.replace_each(module, (*_EXACT, *_TANH), getattr(torch.nn, other)())

    return change


def _quick_gelu(module: Module) -> None:
    import torch

    class QuickGelu(torch.nn.Module):  # type: ignore[misc]  # torch is not read by mypy
        def forward(self, x: Module) -> Module:
            return x * torch.sigmoid(1.702 * x)

    _parts.replace_each(module, (*_EXACT, *_TANH), QuickGelu())


def _scaled(role: str, factor: float) -> Callable[[Module], None]:
    def change(module: Module) -> None:
        for part in _parts.linears(module, role):
            part.weight.mul_(factor)
            if part.bias is not None:
                part.bias.mul_(factor)

    return change


def _last_norm_missing(module: Module) -> None:
    import torch

    last = _parts.norms(module)[-1]
    for parent, name, part in _parts.kin(module, type(last).__name__):
        if part is last:
            setattr(parent, name, torch.nn.Identity())


def _residual_lost(module: Module) -> None:
    """The second sum of the first layer forgets what it adds to: its scale is 0.9."""
    part = _parts.feed_forward(module, 0)
    part.weight.mul_(0.9)
    part.bias.mul_(0.9)


FAULTS = (
    Fault(
        "G05",
        "scale of attention a tenth too large",
        in_module(_scaled("query", 1.1)),
        TEXT,
        coarsest="bfloat16",
    ),
    Fault("G06", "scale of attention missing", in_module(_scaled("query", 4.0)), TEXT),
    Fault(
        "G09",
        "feed-forward part scaled by nine tenths",
        in_module(_residual_lost),
        TEXT,
        coarsest="bfloat16",
    ),
    Fault("G14", "last normalisation missing", in_module(_last_norm_missing), ALL),
    Fault("G16", "quick GELU: a sigmoid for erf", in_module(_quick_gelu), ALL, coarsest="float16"),
    Fault("G17", "SiLU for GELU", in_module(_activation("SiLU")), ALL),
    Fault("G18", "activation missing", in_module(_activation("Identity")), ALL),
    Fault(
        "G01",
        "epsilon of the normalisations 1e-5 for 1e-12",
        in_module(_other_epsilon),
        TEXT,
        coarsest="float32",
    ),
    Fault(
        "G02",
        "epsilon of the normalisations 1e-3",
        in_module(_large_epsilon),
        ALL,
        coarsest="float32",
    ),
    Fault(
        "G03",
        "the other form of GELU: tanh for erf",
        in_module(_other_gelu),
        ALL,
        coarsest="float32",
    ),
    Fault("G04", "ReLU for GELU", in_module(_relu), ALL),
    Fault("G07", "dropout left on", in_module(_training), TEXT),
    Fault(
        "G08",
        "tanh of the pooler missing",
        in_module(_no_tanh),
        ("classify",),
        needs="a head with a pooler: BERT",
    ),
)
