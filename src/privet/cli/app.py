"""The command tree and its error handling.

A user's mistake (any :class:`~privet.errors.PrivetError`, or a file that cannot be opened) gives one message on stderr
(with ``--json`` also an object on stdout, :mod:`privet.cli.failures`) and exit code 1. Typer exits with 2 for wrong
usage. Ctrl-C gives 130. Anything else is a bug of privet's and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from privet import __version__
from privet.addresses import without_addresses
from privet.cli import (
    asking,
    auditing,
    comparing,
    evaluating,
    exporting,
    fitting,
    helping,
    ledger,
    owning,
    planning,
    plugins,
    predicting,
    publishing,
    refining,
    reporting,
    retaining,
    schemas,
    scoring,
    serving,
    showing,
    start,
)
from privet.cli.configuration import describe, find_file, read_defaults
from privet.cli.failures import UsageError, explain_usage, fail, fail_by, wants_json
from privet.cli.output import LogForm, complain, log_as, logs_json, say
from privet.errors import ParameterError, PrivetError

MISTAKE, INTERRUPTED = 1, 130  # 130 is what shells report for SIGINT
INTERRUPTION = (
    "interrupted. What was charged stays charged: a budget is spent before noise is drawn. The rest is given back."
)


class Guarded(TyperGroup):
    """A command group that turns errors into a message and an exit code, and includes the commands of plug-ins.

    No message repeats an address that was typed, wherever it was typed: it can hold a password.
    """

    typed: tuple[str, ...] = ()

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **extra: Any) -> Any:
        self.typed = tuple(args)
        with self._addresses_hidden():
            return super().make_context(info_name, args, *more, **extra)

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *(name for name in plugins.found() if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or plugins.command(cmd_name)

    def invoke(self, ctx: Any) -> Any:
        as_json = wants_json([*ctx._protected_args, *ctx.args])
        try:
            with self._addresses_hidden():
                return super().invoke(ctx)
        except UsageError as error:
            explain_usage(error, as_json)
            if not logs_json():
                raise
            complain(error.format_message())
            raise typer.Exit(error.exit_code) from None
        except PrivetError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            raise fail_by(error, command, MISTAKE, as_json, self.typed) from None
        except OSError as error:
            if error.filename is None:  # a broken pipe or a full disk: ``main`` handles it
                raise
            message = f"cannot open {str(error.filename)!r}: {error.strerror}"
            raise fail(message, MISTAKE, as_json, self.typed, kind="FileError") from None
        except MemoryError:
            message = "there is not enough memory for this; what was charged stays charged. Give less at a time"
            raise fail(message, MISTAKE, as_json, kind="MemoryError") from None
        except KeyboardInterrupt:
            raise fail(INTERRUPTION, INTERRUPTED, as_json, kind="Interrupted") from None

    @contextmanager
    def _addresses_hidden(self) -> Iterator[None]:
        """Remove addresses from typer's messages about wrong usage, which quote the input."""
        try:
            yield
        except UsageError as error:
            error.message = without_addresses(error.message, self.typed)
            raise


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
    context: typer.Context,
    log: Annotated[
        LogForm,
        typer.Option("--log", help="The form of messages on standard error: text, or one JSON object per line."),
    ] = LogForm.text,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Defaults of options, as TOML: one table per command, one key per flag. Without it PRIVET_CONFIG, "
            "privet.toml here, or privet/privet.toml in ~/.config.",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Decision trees and forests grown under differential privacy, with a budget you can check."""
    log_as(log)
    if context.resilient_parsing or (path := find_file(config)) is None:
        return
    defaults = read_defaults(path)
    source = context.get_parameter_source("log")
    if "log" in defaults and (source is None or source.name == "DEFAULT"):
        log_as(_log_form(defaults["log"], path))
    typed: tuple[str, ...] = context.command.typed  # type: ignore[attr-defined]
    words = typed[typed.index(context.invoked_subcommand) :] if context.invoked_subcommand in typed else ()
    if given := describe(defaults, words):
        say(f"defaults from {path}: {', '.join(given)}")
    context.default_map = defaults


def _log_form(text: str, path: Path) -> LogForm:
    try:
        return LogForm(text)
    except ValueError:
        problem = f"the configuration {path} has log = {text!r}"
        raise ParameterError(problem, parameter="log", fix="write log = 'text' or log = 'json'") from None


COMMANDS = (
    start,
    schemas,
    planning,
    asking,
    fitting,
    predicting,
    exporting,
    showing,
    reporting,
    retaining,
    comparing,
    scoring,
    evaluating,
    publishing,
    refining,
    ledger,
    auditing,
    serving,
    owning,
    helping,
)
for command in COMMANDS:
    command.register(app)
