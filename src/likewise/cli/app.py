"""A command line in; the verb that it names, run, and an exit code, out.

Exit: 0 passes · 1 outside · 2 usage · 3 undecided · 4 refused.
"""

from __future__ import annotations

import errno
import io
import sys
from typing import Annotated

import typer

from likewise.errors import LikewiseError

__all__ = ["app", "main"]

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

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # whatever the locale: labels are in any script
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        app()
    except LikewiseError as error:
        draw_error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)
    except OSError as error:  # a full disk, a folder that cannot be written
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        where = error.filename or "a file"
        say(f"{where} cannot be written or read.\n  found: {error.strerror or error}")
        say(f"  try:   {'make room' if full else 'check the path'}, or name another place")
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
