"""The command line: ``app`` with every verb, and ``main`` that runs it."""

from __future__ import annotations

from likewise.cli import act, look
from likewise.cli.app import app, main

__all__ = ["act", "app", "look", "main"]
