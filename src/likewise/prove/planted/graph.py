"""Faults of the graph: other activations, epsilons and modes than the configuration says."""

from __future__ import annotations

from likewise.prove.planted import _parts
from likewise.prove.planted._fault import ALL, TEXT, Fault, Module, absent, in_module

_EXACT = ("GELUActivation", "GELU")
_TANH = ("GELUTanh", "NewGELUActivation", "PytorchGELUTanh", "FastGELUActivation")


def _other_epsilon(module: Module) -> None:
    for part in _parts.norms(module):
        part.eps = 1e-12 if part.eps >= 1e-5 else 1e-5


def _large_epsilon(module: Module) -> None:
    for part in _parts.norms(module):
        part.eps = 1e-3


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


FAULTS = (
    Fault("G01", "epsilon of the normalisations 1e-5 for 1e-12", in_module(_other_epsilon), TEXT),
    Fault("G02", "epsilon of the normalisations 1e-3", in_module(_large_epsilon), ALL),
    Fault("G03", "the other form of GELU: tanh for erf", in_module(_other_gelu), ALL),
    Fault("G04", "ReLU for GELU", in_module(_relu), ALL, precisions=("float32", "float16")),
    Fault("G07", "dropout left on", in_module(_training), TEXT),
    Fault(
        "G08",
        "tanh of the pooler missing",
        in_module(_no_tanh),
        ("classify",),
        needs="a head with a pooler: BERT",
    ),
)
