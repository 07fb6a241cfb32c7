"""Verbs that look at folders, devices and records, or tidy them; nothing is run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli import flags
from likewise.cli.app import app
from likewise.cli.flags import Folder, JsonFlag, Stated, stating

__all__ = ["cache", "convert", "doctor", "inspect", "report"]


@app.command()
@stating
def inspect(
    stated: Stated,
    model: Folder,
    load: Annotated[
        bool, typer.Option("--load", help="Also load the weights: every tensor accounted for.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Print what a folder is, and its oddities, without torch; --load opens the weights too."""
    from likewise.cli.folder import print_model

    print_model(model, flags.settings(None, stated=stated).model, load=load, as_json=json)


@app.command()
def doctor(json: JsonFlag = False) -> None:
    """List engines and devices here: ready, or why not and what to install."""
    from likewise.cli.tables import print_offers

    print_offers(as_json=json)


@app.command()
def convert(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A model folder.")],
    json: JsonFlag = False,
) -> None:
    """Write pytorch_model.bin as safetensors beside it, compared bit by bit; keep both."""
    from likewise.cli.folder import print_converted

    print_converted(folder, as_json=json)


@app.command()
def report(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="What `likewise port` wrote.")
    ] = None,
    to: Annotated[str, typer.Option("--to", help="md, html or json.")] = "md",
    out: Annotated[Path | None, typer.Option("-o", "--out", help="A file; else stdout.")] = None,
    audit: Annotated[
        Path | None,
        typer.Option(
            "--audit", metavar="README.md", help="A published report: list what contradicts itself."
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="FOLDER", help="The model that --audit is about."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Render a report again from its JSON record, or audit one that somebody wrote.

    An audit ends with 0 where nothing contradicts itself, and with 1 where something does.
    """
    from likewise.cli.tables import render
    from likewise.errors import SettingsError

    if (folder is None) == (audit is None):
        raise SettingsError(
            "likewise report takes a folder, or --audit with a file.",
            found="neither" if folder is None else "both",
            fix="likewise report DIR, or likewise report --audit README.md",
        )
    if model is not None and audit is None:
        raise SettingsError("--model is for --audit.", fix="likewise inspect FOLDER")
    if audit is not None:
        from likewise.cli.audit import print_audit

        raise typer.Exit(print_audit(audit, model, out=out, as_json=json))
    assert folder is not None
    text = render(folder, "json" if json else to)
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
