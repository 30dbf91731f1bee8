"""What a command says when it fails: a sentence on stderr and, with ``--json``, the same as JSON on stdout.

The object is ``{"error": {"kind", "message", "exit_code", "parameter", "fix"}}``, the last two where they are known.
``kind`` is the name of one of :mod:`privet.errors`, or ``UsageError``, ``FileError`` or ``Interrupted``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import typer

from privet.addresses import without_addresses
from privet.cli.output import complain, print_json
from privet.cli.wording import options_of, spoken_by
from privet.errors import BudgetExceeded, ParameterError, PrivetError

UsageError: Any = typer.BadParameter.__base__  # of the click that typer brings along
MISSING = {
    "--schema": "It names the public facts about the table; `privet schema draft TABLE -o FILE` begins such a file.",
    "--epsilon": "It is what may be spent, such as 0.5; `privet plan` shows what a budget buys.",
    "--output": "It names the file to write.",
}
_OPTION = re.compile(r"--[a-z][a-z-]*(?: [a-z]+_[a-z_]+)?")


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether ``--json`` was typed, also if the rest cannot be understood.

    >>> wants_json(["fit", "t.csv", "--json"]), wants_json(["show", "--", "--json"])
    (True, False)
    """
    options = list(arguments)
    return "--json" in (options[: options.index("--")] if "--" in options else options)


def fail(
    message: str,
    code: int,
    as_json: bool,
    typed: Sequence[str] = (),
    *,
    kind: str,
    parameter: str | None = None,
    fix: str | None = None,
) -> typer.Exit:
    """Say what went wrong; what is returned ends the command. Addresses among what was ``typed`` are not repeated."""
    message, fix = without_addresses(message, typed), fix and without_addresses(fix, typed)
    complain(message)
    if as_json:
        _print(kind, message, code, parameter, fix)
    return typer.Exit(code)


def fail_by(error: PrivetError, command: Any, code: int, as_json: bool, typed: Sequence[str]) -> typer.Exit:
    """The same for an error of the library, in the words of the command that was typed."""
    message, fix = str(error), error.fix
    if isinstance(error, ParameterError | BudgetExceeded):
        message, fix = spoken_by(command, message), spoken_by(command, fix) if fix else fix
    parameter = options_of(command).get(error.parameter or "", error.parameter)
    if parameter is None and (found := _OPTION.match(message)):
        parameter = found[0]
    kind = next(one.__name__ for one in type(error).__mro__ if one.__module__ == PrivetError.__module__)
    return fail(message, code, as_json, typed, kind=kind, parameter=parameter, fix=fix)


def explain_usage(error: Any, as_json: bool) -> None:
    """Add to wrong usage what to do, and print it as JSON; that it goes to stderr is typer's business."""
    param = getattr(error, "param", None)
    option = max(param.opts, key=len) if param is not None else getattr(error, "option_name", None)
    if type(error).__name__ == "MissingParameter" and option in MISSING:
        error.message = MISSING[option]
    if as_json:
        _print("UsageError", error.format_message(), error.exit_code, option, MISSING.get(option or ""))


def _print(kind: str, message: str, code: int, parameter: str | None, fix: str | None) -> None:
    facts = {"kind": kind, "message": message, "exit_code": code, "parameter": parameter, "fix": fix}
    print_json({"error": {key: value for key, value in facts.items() if value is not None}})
