"""A folder that carries likewise's own export in; what its manifest says of the model, out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from likewise.errors import FolderError
from likewise.model.files import read_object

__all__ = ["Export", "read_export"]

_HEADS = {"classes": ("classes",), "tokens": ("tokens",), "picture": ("picture",)}


@dataclass(frozen=True)
class Export:
    """What ``export.json`` tells about the weights that became ``model.onnx``."""

    fingerprint: str
    heads: tuple[str, ...]  # the trained head that the graph ends in
    parameters: int | None
    file: Path  # model.onnx


def read_export(folder: Path) -> Export | None:
    """Return the manifest of a ported folder; None where there is none.

    Raises:
        FolderError: the manifest cannot be read, or the graph is not there.
    """
    manifest, graph = folder / "export.json", folder / "model.onnx"
    if not manifest.is_file():
        return None
    content = read_object(manifest)
    if not graph.is_file():
        raise FolderError(
            f"{folder} holds an export manifest and no model.onnx.",
            found="export.json",
            fix="port the model again: likewise port MODEL -o DIR",
        )
    loading = content.get("loading")
    counts = loading.get("dtypes") if isinstance(loading, dict) else None
    return Export(
        fingerprint=str(content.get("fingerprint") or ""),
        heads=_HEADS.get(str(content.get("head")), ()),
        parameters=sum(counts.values()) if isinstance(counts, dict) else None,
        file=graph,
    )
