"""Verbs that run a model: answer, prove, time, port. Results on stdout, talk on stderr."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from likewise.cli import flags
from likewise.cli.app import app
from likewise.cli.flags import (
    Budget,
    Device,
    Effort,
    File,
    Folder,
    Images,
    JsonFlag,
    Labelled,
    On,
    Quiet,
    SettingsFile,
    Stated,
    stating,
)  # fmt: skip
from likewise.errors import ItemError

__all__ = ["bench", "port", "prove", "run"]


@app.command()
@stating
def run(
    stated: Stated,
    model: Folder,
    text: Annotated[list[str] | None, typer.Option("--text", help="A text; repeatable.")] = None,
    file: File = None,
    image: Images = None,
    pair: Annotated[
        list[str] | None,
        typer.Option("--pair", help="A second text for each --text: a classifier of pairs."),
    ] = None,
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

    items = read_items(text or [], file, image or [], pairs=pair or [])
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
    on: Annotated[
        list[str] | None,
        typer.Option("--on", metavar="PLAN", help="The plan to prove; with --against repeatable."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="OTHER",
            help="Compare with a ported folder, a model folder, or a plan of the same model.",
        ),
    ] = None,
    file: File = None,
    image: Images = None,
    items: Annotated[int | None, typer.Option("--items", min=1, help="Probes to use.")] = None,
    effort: Effort = None,
    budget: Budget = None,
    labelled: Labelled = None,
    settings: SettingsFile = None,
    quiet: Quiet = False,
    json: JsonFlag = False,
) -> None:
    """Judge a plan against the CPU reference: equal, within, outside or undecided."""
    from likewise.cli.read_items import own_items
    from likewise.cli.screen import talking
    from likewise.cli.tables import print_verdicts
    from likewise.prove.compare import compare
    from likewise.prove.proof import prove as act
    from likewise.types import Plan

    own = own_items(file, image or [])
    proof = {"items": items, "effort": effort, "budget": budget, "labelled": labelled}
    chosen = flags.settings(settings, stated=stated, proof=proof)
    plans = [Plan.parse(text) for text in on or []]
    with talking(quiet=quiet) as talk:
        if against is None:
            plan = flags.only(plans)
            verdicts = [act(model, plan, items=own, settings=chosen, progress=talk)]
        else:
            verdicts = compare(model, plans, against, items=own, settings=chosen, progress=talk)
    raise typer.Exit(print_verdicts(verdicts, as_json=json))


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
    from likewise.cli.read_items import own_items
    from likewise.cli.screen import talking
    from likewise.cli.tables import print_timings
    from likewise.types import Plan

    own = own_items(file, image or [])
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
    effort: Effort = None,
    labelled: Labelled = None,
    file: File = None,
    image: Images = None,
    settings: SettingsFile = None,
    quiet: Quiet = False,
    json: JsonFlag = False,
) -> None:
    """Try every way to run a model here; prove and time each; keep the fastest; write DIR."""
    from likewise.cli.read_items import own_items
    from likewise.cli.screen import talking
    from likewise.cli.tables import print_report
    from likewise.port.job import port as act

    chosen = flags.settings(
        settings,
        stated=stated,
        plans={"only": on, "engines": engine, "batches": batch, "devices": [to]},
        proof={"items": items, "effort": effort, "budget": budget, "labelled": labelled},
        bench={"goal": goal},
    )
    own = own_items(file, image or [])
    with talking(quiet=quiet) as talk:
        report = act(model, out=out, settings=chosen, items=own, progress=talk, command=_command())
    raise typer.Exit(print_report(report, out, as_json=json))


def _command() -> str:
    return shlex.join(["likewise", *sys.argv[1:]])
