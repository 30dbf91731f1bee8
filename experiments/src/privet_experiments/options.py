"""One command for any experiment of the registry: its options are the axes of its grid, declared there and only there.

A grid is imported when its command is typed, not to print the list.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import Field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from privet.cli.failures import spelling
from privet.cli.options import Json, Markdown
from privet.cli.writing import Force
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet_experiments.experiment import Experiment
    from privet_experiments.registry import Entry, Form

Quick = Annotated[bool, typer.Option("--quick", help="A smaller grid: minutes, for a first look.")]
Full = Annotated[bool, typer.Option("--full", help="The whole grid; so too if nothing is said.")]
Smoke = Annotated[bool, typer.Option("--smoke", help="The smallest grid: seconds, to see that it runs.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where each result is kept as soon as it is there.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Begin anew, and forget the results in --out.")]
Processes = Annotated[int | None, typer.Option("--processes", min=1, metavar="N", help="By default one a core.")]
Plots = Annotated[Path | None, typer.Option("--plots", metavar="DIR", help="Also write the figures there, as SVG.")]
Csv = Annotated[
    Path | None, typer.Option("--csv", metavar="FILE", help="Also write the raw results there: a line a job, as CSV.")
]
DEFAULT_OUT = Path("privet-experiments")

COMMON: dict[str, tuple[Any, Any]] = {
    "quick": (Quick, False),
    "full": (Full, False),
    "smoke": (Smoke, False),
    "out": (Out, DEFAULT_OUT),
    "fresh": (Fresh, False),
    "processes": (Processes, None),
    "plots": (Plots, None),
    "csv": (Csv, None),
    "force": (Force, False),
    "markdown": (Markdown, False),
    "as_json": (Json, False),
}


class Experiments(TyperGroup):
    """Commands that learn their options when they are typed."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        from privet_experiments.registry import ENTRIES

        name, command, rest = super().resolve_command(ctx, args)
        known = {entry.name: entry for entry in ENTRIES}
        return (name, full_command(known[name]), rest) if name in known else (name, command, rest)


def form_of(quick: bool, full: bool, smoke: bool) -> Form:
    """The form that was asked for."""
    if quick + full + smoke > 1:
        raise ParameterError("--quick, --full and --smoke exclude each other; say one of them")
    return "quick" if quick else "smoke" if smoke else "full"


def full_command(entry: Entry) -> Any:
    """The command of an experiment, with an option for each axis."""
    grid = entry.form("full")
    axes = grid.axes()

    def command(**values: Any) -> None:
        from privet_experiments.command import reproduce

        changes = {one.name: _value(one, values.pop(one.name)) for one in axes}
        try:
            reproduce(entry, {name: value for name, value in changes.items() if value is not None}, **values)
        except ParameterError as error:
            raise ParameterError(error.text(spelling(made))) from None

    declared = {one.name: (_annotation(one), None) for one in axes} | COMMON
    _declare(command, declared, f"{entry.title} ({entry.source}).\n\n{inspect.getdoc(type(grid))}")
    single = typer.Typer(add_completion=False)
    single.command(entry.name, epilog=f"Example: privet reproduce {entry.name} --quick")(command)
    made = typer.main.get_command(single)
    return made


def stub(entry: Entry) -> Callable[[], None]:
    """What stands for a command in the list of commands, and loads nothing."""

    def command() -> None:
        raise AssertionError("a command is resolved before it is run")

    command.__doc__ = f"{entry.title} ({entry.source})."
    return command


def _declare(command: Any, declared: dict[str, tuple[Any, Any]], text: str) -> None:
    keyword = inspect.Parameter.KEYWORD_ONLY
    found = [inspect.Parameter(n, keyword, default=d, annotation=a) for n, (a, d) in declared.items()]
    command.__signature__ = inspect.Signature(found)
    command.__annotations__ = {name: annotation for name, (annotation, _) in declared.items()}
    command.__doc__ = text


def _annotation(axis: Field[Any]) -> Any:
    """The option of an axis. Nothing said leaves it as the form has it."""
    from privet_experiments.experiment import option_of

    usual: Any = axis.default
    many = isinstance(usual, tuple)
    kind: Any = type(usual[0] if many and usual else usual)
    kind = str if kind in (tuple, type(None)) else kind
    least = axis.metadata["least"]
    if kind is int and least is None:
        least = 1
    short = {"recipes": ("-r",), "epsilons": ("-e",)}.get(axis.name, ())
    spelling = (option_of(axis), *short)
    if kind is bool:
        return Annotated[bool | None, typer.Option(*spelling, help=axis.metadata["help"])]
    letter = {int: "N", float: "X"}.get(kind, "NAME")
    limits = {"min": least} if kind in (int, float) and least is not None else {}
    option = typer.Option(*spelling, metavar=letter, help=axis.metadata["help"], **limits)
    return Annotated[list[kind] | None, option] if many else Annotated[kind | None, option]


def _value(axis: Field[Any], value: Any) -> Any:
    if isinstance(axis.default, tuple):
        return tuple(value) if value else None
    return value


def changed(entry: Entry, form: Form, changes: dict[str, Any]) -> Experiment:
    """The grid of a form with what was said on the command line."""
    from privet_experiments.runner import with_axes

    return with_axes(entry.form(form), changes)
