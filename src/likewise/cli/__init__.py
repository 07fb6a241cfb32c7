"""The verbs: each reads its flags and makes one call. Results on stdout, talk on stderr.

Exit: 0 passes · 1 outside · 2 usage · 3 undecided · 4 refused.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from likewise.cli import flags
from likewise.cli.flags import (
    Budget,
    Device,
    File,
    Folder,
    Images,
    JsonFlag,
    On,
    Quiet,
    SettingsFile,
    stating,
)
from likewise.errors import ItemError, LikewiseError

__all__ = ["app", "main"]

Stated = dict[str, Any]
"""What the flags of ``stating`` say about the model."""


app = typer.Typer(
    name="likewise",
    help="Carry a trained encoder to another processor, and prove that it answers likewise.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line; draw errors for the person at the keyboard."""
    from likewise.cli.screen import draw_error, say

    try:
        app()
    except LikewiseError as error:
        draw_error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)
    except OSError as error:  # a full disk, a folder that cannot be written
        say(f"{type(error).__name__}: {error}\n  try:   make room, or name another place")
        sys.exit(2)


def _print_version(asked: bool) -> None:
    if asked:
        from likewise import __version__

        typer.echo(f"likewise {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print it."),
    ] = False,
) -> None:
    """Carry a trained encoder to another processor, and prove that it answers likewise."""


@app.command()
@stating
def inspect(
    stated: Stated,
    model: Folder,
    json: JsonFlag = False,
) -> None:
    """Print what a folder is, and its oddities, without torch."""
    from likewise.cli.tables import print_model

    print_model(model, flags.settings(None, stated=stated).model, as_json=json)


@app.command()
def doctor(json: JsonFlag = False) -> None:
    """List engines and devices here: ready, or why not and what to install."""
    from likewise.cli.tables import print_offers

    print_offers(as_json=json)


@app.command()
@stating
def run(
    stated: Stated,
    model: Folder,
    text: Annotated[list[str] | None, typer.Option("--text", help="A text; repeatable.")] = None,
    file: File = None,
    image: Images = None,
    device: Device = "auto",
    on: On = None,
    top: Annotated[int | None, typer.Option("--top", min=1, help="The best K only.")] = None,
    unproven: Annotated[
        bool, typer.Option("--unproven", help="Run a plan that DIR holds no proof of.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Answer texts or pictures. MODEL is a model folder, or DIR as `likewise port` wrote it.

    A model folder runs on torch in float32; DIR runs the fastest proven plan that can run here.
    """
    from likewise.cli.answer import answer
    from likewise.cli.read_items import read_items

    items = read_items(text or [], file, image or [])
    failed = answer(
        model,
        items,
        plan=on,
        device=device,
        unproven=unproven,
        overrides=flags.settings(None, stated=stated).model,
        top=top,
        as_json=json,
    )
    if failed:
        raise ItemError(
            f"{failed} of {len(items)} items have no answer.",
            found="the reason stands in the item's place above",
            fix="take them out, or mend them",
        )


@app.command()
@stating
def prove(
    stated: Stated,
    model: Folder,
    on: Annotated[str, typer.Option("--on", metavar="PLAN", help="The plan to prove.")],
    file: File = None,
    image: Images = None,
    items: Annotated[int | None, typer.Option("--items", min=1, help="Probes to use.")] = None,
    budget: Budget = None,
    settings: SettingsFile = None,
    quiet: Quiet = False,
    json: JsonFlag = False,
) -> None:
    """Judge one plan against the CPU reference: equal, within, outside or undecided."""
    from likewise.cli.read_items import read_items
    from likewise.cli.screen import talking
    from likewise.cli.tables import EXITS, print_verdict
    from likewise.prove.proof import prove as act
    from likewise.types import Plan

    own = read_items([], file, image or []) if file or image else None
    chosen = flags.settings(settings, stated=stated, proof={"items": items, "budget": budget})
    with talking(quiet=quiet) as talk:
        verdict = act(model, Plan.parse(on), items=own, settings=chosen, progress=talk)
    print_verdict(verdict, as_json=json)
    raise typer.Exit(EXITS[verdict.outcome])


@app.command()
@stating
def bench(
    stated: Stated,
    model: Folder,
    on: Annotated[
        list[str], typer.Option("--on", metavar="PLAN", help="A plan to time; repeatable.")
    ],
    file: File = None,
    image: Images = None,
    workload: Annotated[
        str | None, typer.Option("--workload", help="short, mixed or long.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.1, help="For each scenario, at least.")
    ] = None,
    settings: SettingsFile = None,
    quiet: Quiet = False,
    json: JsonFlag = False,
) -> None:
    """Time plans in fresh processes, in alternating rounds; every figure with its doubts."""
    from likewise.bench.rounds import time_plans
    from likewise.cli.read_items import read_items
    from likewise.cli.screen import talking
    from likewise.cli.tables import print_timings
    from likewise.types import Plan

    own = read_items([], file, image or []) if file or image else None
    chosen = flags.settings(
        settings,
        stated=stated,
        bench={"workload": workload, "seconds": seconds},
    )
    plans = [Plan.parse(text) for text in on]
    with talking(quiet=quiet) as talk:
        timings = time_plans(model, plans, settings=chosen, items=own, progress=talk)
    raise typer.Exit(print_timings(timings, as_json=json))


@app.command()
@stating
def port(
    stated: Stated,
    model: Folder,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="The folder to write.")],
    to: Annotated[str, typer.Option("--to", metavar="DEVICE", help="cpu, npu, cuda:0 …")] = "cpu",
    on: Annotated[
        list[str] | None, typer.Option("--on", metavar="PLAN", help="Only this; repeatable.")
    ] = None,
    engine: Annotated[
        list[str] | None, typer.Option("--engine", help="Only this engine; repeatable.")
    ] = None,
    batch: Annotated[
        list[int] | None, typer.Option("--batch", min=1, help="Items in a batch; repeatable.")
    ] = None,
    goal: Annotated[
        str | None, typer.Option("--goal", help="throughput (the default) or latency.")
    ] = None,
    budget: Budget = None,
    items: Annotated[int | None, typer.Option("--items", min=1, help="Probes to use.")] = None,
    file: File = None,
    image: Images = None,
    settings: SettingsFile = None,
    quiet: Quiet = False,
    json: JsonFlag = False,
) -> None:
    """Try every way to run a model here; prove and time each; keep the fastest; write DIR."""
    from likewise.cli.read_items import read_items
    from likewise.cli.screen import talking
    from likewise.cli.tables import print_report
    from likewise.port.job import port as act

    chosen = flags.settings(
        settings,
        stated=stated,
        plans={"only": on, "engines": engine, "batches": batch, "devices": [to]},
        proof={"items": items, "budget": budget},
        bench={"goal": goal},
    )
    own = read_items([], file, image or []) if file or image else None
    with talking(quiet=quiet) as talk:
        report = act(model, out=out, settings=chosen, items=own, progress=talk, command=_command())
    raise typer.Exit(print_report(report, out, as_json=json))


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `likewise port` wrote.")],
    to: Annotated[str, typer.Option("--to", help="md, html or json.")] = "md",
    out: Annotated[Path | None, typer.Option("-o", "--out", help="A file; else stdout.")] = None,
) -> None:
    """Render a report again from its JSON record."""
    from likewise.cli.tables import render

    text = render(folder, to)
    if out is None:
        typer.echo(text)
    else:
        out.write_text(text, encoding="utf-8")


@app.command()
def cache(
    act: Annotated[str, typer.Argument(metavar="list|verify|prune")],
    days: Annotated[
        float, typer.Option("--days", min=0, help="prune what was unused so long; 0: everything.")
    ] = 30.0,
    json: JsonFlag = False,
) -> None:
    """List, verify or remove what likewise derived and kept: exports and runs."""
    from likewise.cli.tables import print_cache

    raise typer.Exit(print_cache(act, days=days, as_json=json))


def _command() -> str:
    return shlex.join(["likewise", *sys.argv[1:]])
