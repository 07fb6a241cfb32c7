"""A model and perhaps a task's name in; the one task that fits, out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise import find
from likewise.errors import TaskError

if TYPE_CHECKING:
    from likewise.types import Model, Task

__all__ = ["claims", "pick"]


def claims(model: Model) -> list[str]:
    """List the tasks that the model's facts alone point at, sorted."""
    return [name for name in find.names("tasks") if find.load("tasks", name).claims(model)]


def pick(model: Model, name: str | None = None) -> Task:
    """Open the task that claims the model, or the one named.

    Args:
        model: the facts of a folder.
        name: as in ``--task``; None where what is stated beside the model, or the folder, decides.

    Raises:
        TaskError: no task claims the model or several do, or the named one cannot serve it; says
            what the folder can do instead.
    """
    name = name or model.task or None
    if name is None:
        name = _only(claims(model), model)
    elif name not in find.names("tasks"):
        raise TaskError(f"{name!r} is not a task.", fix=f"--task {' | '.join(find.names('tasks'))}")
    task: Task = _open(name, model)
    return task


def _only(names: list[str], model: Model) -> str:
    if len(names) == 1:
        return names[0]
    if names:
        raise TaskError(
            f"{len(names)} tasks claim {model.folder}.",
            found=", ".join(names),
            fix=f"--task {' or --task '.join(names)}",
        )
    kind = model.architecture or model.family
    heads = ", ".join(model.trained_heads) or "none"
    instead = "embed" if model.library == "transformers" else "image_embed"
    raise TaskError(
        f"No task claims {model.folder}.",
        found=f"the config says {kind}; trained heads in the weights: {heads}",
        fix=f"weights with that head, or --task {instead}, which needs none",
    )


def _idle(name: str, model: Model) -> list[str]:
    """List what a person states and this task has no use for; passing over it would be a lie."""
    vectors = name in ("embed", "image_embed")
    own = not model.sentence_transformer  # else its modules.json says so, and nobody stated it
    pooled = model.pooling is not None and not model.pooling.assumed
    stated = {
        "targets": bool(model.targets) and name != "fillmask",
        "pooling": own and pooled and not vectors,
        "normalise": own and model.normalise is not None and not vectors,
        "truncate_dim": model.truncate_dim is not None and not vectors,
    }
    return [what for what, there in stated.items() if there]


def _open(name: str, model: Model) -> Task:
    idle = _idle(name, model)
    if idle:
        raise TaskError(
            f"What is stated changes nothing here: {', '.join(idle)}.",
            found=f"task {name}",
            fix="leave it out" + ("" if "targets" in idle else ", or --task embed"),
        )
    try:
        task: Task = find.load("tasks", name).open(model)
    except TaskError as error:
        others = [other for other in claims(model) if other != name]
        if error.fix or not others:
            raise
        fix = f"this folder can do --task {' or --task '.join(others)}"
        raise TaskError(error.what, found=error.found, fix=fix) from None
    return task
