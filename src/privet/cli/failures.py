"""How a command fails: a sentence on stderr and, with ``--json``, the same as JSON on stdout.

The object is ``{"error": {"kind", "message", "exit_code", "parameter", "fix"}}``, the last two if known. ``kind`` is a
class of :mod:`privet.errors`, or ``UsageError``, ``FileError``, ``MemoryError`` or ``Interrupted``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from privet.addresses import without_addresses
from privet.cli.options import RESERVED
from privet.cli.output import complain, print_json
from privet.errors import PrivetError, Setting, Spelling, written

UsageError: Any = typer.BadParameter.__base__  # of the click inside typer
MISSING = {
    "--schema": "It names the public facts about the table; `privet schema draft TABLE -o FILE` begins such a file.",
    "--epsilon": "It is what may be spent, such as 0.5; `privet plan` shows what a budget buys.",
    "--output": "It names the file to write.",
}


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether ``--json`` was typed, even if the rest cannot be parsed.

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
    """Print an error, without the addresses that were ``typed``, and return the exception that ends the command."""
    message, fix = without_addresses(message, typed), fix and without_addresses(fix, typed)
    complain(message)
    if as_json:
        _print(kind, message, code, parameter, fix)
    return typer.Exit(code)


def fail_by(error: PrivetError, command: Any, code: int, as_json: bool, typed: Sequence[str]) -> typer.Exit:
    """The same for an error of the library, in terms of the command's options."""
    spell = spelling(command)
    parameter = error.parameter and options_of(command).get(error.parameter, error.parameter)
    kind = next(one.__name__ for one in type(error).__mro__ if one.__module__ == PrivetError.__module__)
    fix = None if error.fix is None else written(error.fix, spell)
    return fail(error.text(spell), code, as_json, typed, kind=kind, parameter=parameter, fix=fix)


def spelling(command: Any) -> Spelling:
    """How to write a library argument for a command: as its option, or as ``--set`` for a recipe's parameter."""
    options = options_of(command)

    def spell(setting: Setting) -> str:
        option, value = options.get(setting.name), setting.value
        if option is not None:
            return option if value in (None, True) else f"{option} {value}"  # a flag has no value
        if "--set" in options.values() and setting.name.isidentifier():
            return f"--set {setting.name}" if value is None else f"--set {setting.name}={value}"
        return str(setting)

    return spell


def options_of(command: Any) -> dict[str, str]:
    """The options of a command by the library arguments that they set."""
    spelt = {p.name: max(p.opts, key=len) for p in getattr(command, "params", ()) if p.opts[0].startswith("-")}
    return spelt | {name: option for name, option in RESERVED.items() if option in spelt.values()}


def explain_usage(error: Any, as_json: bool) -> None:
    """Add the fix to a usage error, and print it as JSON; typer prints it on stderr."""
    param = getattr(error, "param", None)
    option = max(param.opts, key=len) if param is not None else getattr(error, "option_name", None)
    if type(error).__name__ == "MissingParameter" and option in MISSING:
        error.message = MISSING[option]
    if as_json:
        _print("UsageError", error.format_message(), error.exit_code, option, MISSING.get(option or ""))


def _print(kind: str, message: str, code: int, parameter: str | None, fix: str | None) -> None:
    facts = {"kind": kind, "message": message, "exit_code": code, "parameter": parameter, "fix": fix}
    print_json({"error": {key: value for key, value in facts.items() if value is not None}})
