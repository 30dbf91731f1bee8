"""The ``privet`` command. Thin: parse, call the library, print.

Importing this loads typer and the names of the commands, nothing that counts, draws or learns: each command imports
what it needs when it runs, so that ``privet --help`` answers at once.
"""

from __future__ import annotations

import io
import sys

from privet.cli.app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; the exit code is 0, 1 (a mistake or a refusal), 2 (usage) or 130 (interrupted)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a label that a terminal cannot show may have been paid for
    app(prog_name="privet")
