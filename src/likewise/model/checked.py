"""A loaded module and the file it came from in; proof that each tensor is the file's, out."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from likewise.errors import WeightsError
from likewise.model.files import show
from likewise.model.stored import State

__all__ = ["Census", "check", "missing_error", "sha256_of"]

_PIECE = 4 << 20  # elements hashed at once
_BUFFERS = re.compile(r"(^|\.)(position_ids|token_type_ids|inv_freq|num_batches_tracked)$")
_HEADS = re.compile(
    r"(\w+\.)?(pooler|cls|lm_head|classifier|pre_classifier|qa_outputs|score|predictions|"
    r"sop_classifier|seq_relationship|vocab_transform|vocab_layer_norm|vocab_projector|"
    r"generator_predictions|generator_lm_head|discriminator_predictions|lm_predictions|"
    r"mask_predictions|sequence_summary|pred_layer|logits_proj|head|decoder)\."
)


@dataclass(frozen=True)
class Census:
    """What became of every tensor of the file."""

    checked: int  # equal to the module's, bit for bit after the cast
    unused: tuple[str, ...]  # heads and buffers that this network has no use for


def check(module: Any, state: State, *, spare: tuple[str, ...] = (), what: str) -> Census:
    """Compare each tensor of the file with the module's, and each of the module's with the file.

    Args:
        module: in its final dtype.
        state: the file's tensors; they are read a second time, piece by piece.
        spare: module names whose tensors may stay unused: the head that was left off.
        what: the folder, for messages.

    Raises:
        WeightsError: the file lacks a tensor, has one more that belongs to the encoder, or the
            module holds other numbers.
    """
    own = {**dict(module.named_parameters(remove_duplicate=False)), **dict(module.named_buffers())}
    base = getattr(module, "base_model_prefix", "")
    unused, covered, checked = [], set(), 0
    for name in state.stored:
        target = next((own[n] for n in _spellings(name, base) if n in own), None)
        if target is None:
            unused.append(name)
        elif _equal(state, name, target):
            checked += 1
            covered.add(target.data_ptr())
        else:
            raise WeightsError(
                f"{what}: a loaded tensor is not the file's.",
                found=f"{name}, of shape {tuple(state.stored[name].shape)}",
                fix="a tied tensor may be stored twice with other numbers: save the model again",
            )
    _refuse_missing(module, covered, what)
    _refuse_unexpected([name for name in unused if not name.startswith(spare or ("\0",))], what)
    return Census(checked, tuple(unused))


def sha256_of(module: Any) -> tuple[str, dict[str, int]]:
    """Return a digest over every parameter and saved buffer in float32, and elements by dtype.

    Two loads of one folder in one dtype have the same digest, whatever the seed.
    """
    found, counts, seen = hashlib.sha256(), Counter[str](), set()
    for name, tensor in sorted(module.state_dict().items()):
        if tensor.data_ptr() in seen or not tensor.numel():
            continue
        seen.add(tensor.data_ptr())
        if tensor.is_floating_point():
            counts[str(tensor.dtype).removeprefix("torch.")] += tensor.numel()
        found.update(f"{name} {tuple(tensor.shape)}\n".encode())
        for piece in tensor.detach().reshape(-1).split(_PIECE):
            found.update(memoryview(piece.float().contiguous().numpy()).cast("B"))
    return found.hexdigest(), dict(counts)


def _spellings(name: str, base: str) -> tuple[str, ...]:
    """Return how the module may call it: checkpoints come with and without the base's prefix."""
    return (name, f"{base}.{name}", name.removeprefix(f"{base}.")) if base else (name,)


def _equal(state: State, name: str, target: Any) -> bool:
    import torch

    if tuple(state.stored[name].shape) != tuple(target.shape):
        return False
    flat = target.detach().reshape(-1)
    for begin, piece in state.pieces(name):
        cast = piece.to(torch.float32) if piece.is_floating_point() else piece
        if piece.dtype == flat.dtype:
            cast = piece
        ours, theirs = flat[begin : begin + len(piece)], cast.to(flat.dtype)
        if not torch.equal(ours.view(torch.uint8), theirs.contiguous().view(torch.uint8)):
            return False
    return True


def _refuse_missing(module: Any, covered: set[int], what: str) -> None:
    missing = [
        name
        for name, tensor in module.state_dict().items()
        if tensor.numel() and tensor.data_ptr() not in covered and not _BUFFERS.search(name)
    ]
    if missing:
        raise missing_error(missing, what)


def missing_error(missing: list[str], what: str) -> WeightsError:
    """Return the refusal of a module part of which would have stayed at random numbers."""
    return WeightsError(
        f"{what} lacks weights that this network needs; they would be random numbers.",
        found=f"{len(missing)} missing: {show(sorted(missing))}",
        fix="use a task whose head was trained, or get the complete weights",
    )


def _refuse_unexpected(names: list[str], what: str) -> None:
    strange = [n for n in names if not _HEADS.match(n) and not _BUFFERS.search(n)]
    if strange:
        raise WeightsError(
            f"{what} has weights that its config.json leaves no place for.",
            found=f"{len(strange)} unexpected: {show(sorted(strange))}",
            fix="take config.json and weights from one version of the model",
        )
