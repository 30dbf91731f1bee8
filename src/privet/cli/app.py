"""The tree of commands, and what becomes of an error.

A mistake of the user's (any :class:`~privet.errors.PrivetError`, or a file that cannot be opened) is one message on
stderr and exit code 1. Typer answers wrong usage with 2. Ctrl-C is 130. Anything else is a fault of privet's own and
keeps its traceback.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from privet import __version__
from privet.cli import (
    auditing,
    books,
    comparing,
    evaluating,
    exploring,
    fitting,
    planning,
    predicting,
    publishing,
    reporting,
    reproducing,
    schemas,
    scoring,
    showing,
)
from privet.cli.output import complain
from privet.cli.wording import spoken_by
from privet.errors import BudgetExceeded, ParameterError, PrivetError

MISTAKE, INTERRUPTED = 1, 130  # 130 is what shells report for SIGINT
INTERRUPTION = (
    "interrupted. What was charged stays charged: a budget is spent before noise is drawn, never handed back."
)


class Guarded(TyperGroup):
    """A group whose commands end in a message and an exit code, not in a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (ParameterError, BudgetExceeded) as error:
            complain(spoken_by(self.get_command(ctx, ctx.invoked_subcommand or ""), str(error)))
        except PrivetError as error:
            complain(str(error))
        except OSError as error:
            if error.filename is None:  # a broken pipe, say: nothing the user named
                raise
            complain(f"cannot open {str(error.filename)!r}: {error.strerror}")
        except KeyboardInterrupt:
            complain(INTERRUPTION)
            raise typer.Exit(INTERRUPTED) from None
        raise typer.Exit(MISTAKE)


app = typer.Typer(
    name="privet",
    cls=Guarded,
    help="Decision trees and forests grown under differential privacy, with a budget you can check.",
    epilog="Start with: privet demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"privet {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Decision trees and forests grown under differential privacy, with a budget you can check."""


COMMANDS = (
    exploring,
    schemas,
    planning,
    fitting,
    predicting,
    showing,
    reporting,
    comparing,
    scoring,
    evaluating,
    publishing,
    books,
    reproducing,
    auditing,
)
for command in COMMANDS:
    command.register(app)
