"""The ``privet`` command. Thin: parse, call the library, print.

This imports typer and the names of the commands only. Each command imports what it needs when it runs, so that ``privet
--help`` answers at once.
"""

from __future__ import annotations

import sys

from privet.cli.app import app
from privet.cli.screen import Screen, hush

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; the exit code is 0, 1 (a mistake or a refusal), 2 (usage) or 130 (interrupted)."""
    sys.stdout, sys.stderr = Screen.of(sys.stdout), Screen.of(sys.stderr)
    try:
        try:
            app(prog_name="privet")
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:  # of a standard stream: commands handle errors of files
        sys.exit(hush(error))
