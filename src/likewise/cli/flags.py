"""The flags that several verbs share, in; Settings and Overrides, out."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from likewise.settings import Settings
    from likewise.types import Plan

__all__ = [
    "Budget", "Device", "Effort", "File", "Folder", "Images", "JsonFlag", "Labelled", "On", "Quiet",
    "SettingsFile", "Stated", "only", "settings", "stating",
]  # fmt: skip

Stated = dict[str, Any]
"""What the flags of ``stating`` say about the model."""

_STATED = "State about the model"

Folder = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model folder, or a hub name: org/name.")
]
On = Annotated[
    str | None,
    typer.Option("--on", metavar="PLAN", help="A plan, as in onnx/cpu/float32/b16/t2."),
]
Device = Annotated[
    str, typer.Option("--device", help="auto (npu, cuda, cpu: the first usable), cpu, cuda:0 …")
]
File = Annotated[
    Path | None,
    typer.Option(
        "--file", "--batch_file", help="A text file, one item a line (UTF-8); - is stdin."
    ),
]
Images = Annotated[list[Path] | None, typer.Option("--image", help="A picture; repeatable.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Budget = Annotated[
    str | None, typer.Option("--budget", help="strict, standard (the default) or relaxed.")
]
Effort = Annotated[
    str | None,
    typer.Option(
        "--effort",
        help="quick, standard (the default) or thorough: how many items, and of which kinds.",
    ),
]
Labelled = Annotated[
    str | None,
    typer.Option(
        "--labelled",
        metavar="FILE",
        help="Items with their right answers: JSON lines, CSV or TSV with text and label.",
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option("--settings", help="A settings file; else ./likewise.toml, if it is there."),
]
TaskName = Annotated[
    str | None,
    typer.Option(
        "--task",
        help="classify, embed, fillmask, image_classify or image_embed, where the folder is "
        "not clear.",
        rich_help_panel=_STATED,
    ),
]
ModelType = Annotated[
    str | None,
    typer.Option(
        "--model-type",
        metavar="TYPE",
        help="bert, roberta …, where config.json does not say, or has a name of its own.",
        rich_help_panel=_STATED,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels", metavar="A,B,C", help="Label names, by index.", rich_help_panel=_STATED
    ),
]
ProblemType = Annotated[
    str | None,
    typer.Option(
        "--problem-type",
        help="single_label_classification, multi_label_classification or regression.",
        rich_help_panel=_STATED,
    ),
]
Pooling = Annotated[
    str | None,
    typer.Option(
        "--pooling",
        metavar="MODE[,MODE]",
        help="cls, mean, max, mean_sqrt_len, weightedmean, lasttoken.",
        rich_help_panel=_STATED,
    ),
]
Normalise = Annotated[
    bool | None,
    typer.Option(
        "--normalise/--no-normalise",
        "--normalize/--no-normalize",
        help="Scale vectors to length 1.",
        rich_help_panel=_STATED,
    ),
]
TruncateDim = Annotated[
    int | None,
    typer.Option(
        "--truncate-dim",
        min=1,
        metavar="N",
        help="Keep the first N numbers of each vector; scaled to length 1 again where vectors are.",
        rich_help_panel=_STATED,
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", min=1, help="Cut items there.", rich_help_panel=_STATED),
]
Prompt = Annotated[
    str | None,
    typer.Option("--prompt", help="The name of one of its prompts.", rich_help_panel=_STATED),
]
Lower = Annotated[
    bool | None,
    typer.Option(
        "--lower-case/--cased",
        help="Whether the tokenizer lower-cases, where the folder does not say.",
        rich_help_panel=_STATED,
    ),
]

Overflow = Annotated[
    str | None,
    typer.Option(
        "--overflow",
        help="What becomes of a text over the limit: cut (the default), refuse, or, with "
        "fill-mask, window: the part around the mask.",
        rich_help_panel=_STATED,
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        help="Several labels at once: those from this score on.",
        rich_help_panel=_STATED,
    ),
]
Targets = Annotated[
    str | None,
    typer.Option(
        "--targets",
        metavar="A,B,C",
        help="Fill-mask: the words to choose from.",
        rich_help_panel=_STATED,
    ),
]


_STATEMENTS: dict[str, Any] = {
    "task": TaskName,
    "model_type": ModelType,
    "labels": Labels,
    "problem_type": ProblemType,
    "pooling": Pooling,
    "normalise": Normalise,
    "truncate_dim": TruncateDim,
    "max_tokens": MaxTokens,
    "prompt": Prompt,
    "lower_case": Lower,
    "overflow": Overflow,
    "threshold": Threshold,
    "targets": Targets,
}


def stating(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the flags that state facts about the model; it gets them as one ``stated``."""

    @functools.wraps(verb)
    def stated_verb(**values: Any) -> None:
        stated = {name: values.pop(name) for name in _STATEMENTS}
        verb(**values, stated=stated)

    hints = {k: v for k, v in get_type_hints(verb, include_extras=True).items() if k != "stated"}
    own = [p for p in inspect.signature(verb).parameters.values() if p.name != "stated"]
    kind = inspect.Parameter.KEYWORD_ONLY
    shared = [inspect.Parameter(name, kind, default=None) for name in _STATEMENTS]
    stated_verb.__annotations__ = {**hints, **_STATEMENTS}
    stated_verb.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # read by typer
        [
            p.replace(kind=kind, annotation=stated_verb.__annotations__[p.name])
            for p in (*own, *shared)
        ]
    )
    del stated_verb.__wrapped__  # or its signature is read instead
    return stated_verb


_LISTS = ("labels", "pooling", "targets")


def settings(
    file: Path | None,
    *,
    stated: dict[str, Any],
    plans: dict[str, Any] | None = None,
    proof: dict[str, Any] | None = None,
    bench: dict[str, Any] | None = None,
) -> Settings:
    """Return the settings of a verb: its file, with its flags on top."""
    from likewise.settings import read_settings

    model = {k: _split(v) if k in _LISTS else v for k, v in stated.items()}
    return read_settings(
        file, {"plans": plans or {}, "proof": proof or {}, "bench": bench or {}, "model": model}
    )


def only(plans: list[Plan]) -> Plan:
    """Return the one plan that a verb takes.

    Raises:
        PlanError: there is none, or there are several.
    """
    if len(plans) == 1:
        return plans[0]
    from likewise.errors import PlanError

    raise PlanError(
        "One plan is proven at a time.",
        found=f"{len(plans)} --on",
        fix="--on PLAN once; or --against OTHER; or likewise port, which tries many",
    )


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
