"""Faults of the graph: other activations, epsilons and modes than the configuration says."""

from __future__ import annotations

from likewise.prove.planted import _parts
from likewise.prove.planted._fault import ALL, TEXT, Fault, Module, absent, in_module

_GELU = ("GELUActivation", "GELU")


def _other_epsilon(module: Module) -> None:
    for part in _parts.norms(module):
        part.eps = 1e-12 if part.eps >= 1e-5 else 1e-5


def _large_epsilon(module: Module) -> None:
    for part in _parts.norms(module):
        part.eps = 1e-3


def _tanh_gelu(module: Module) -> None:
    import torch

    _parts.replace_each(module, _GELU, torch.nn.GELU(approximate="tanh"))


def _relu(module: Module) -> None:
    import torch

    _parts.replace_each(module, _GELU, torch.nn.ReLU())


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
    Fault("G03", "tanh form of GELU", in_module(_tanh_gelu), ALL),
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
