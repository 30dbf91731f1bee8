"""Defaults of options from a file: TOML with a table for each command, and a key for each flag.

The first of these that exists is read, and no other: ``--config FILE``; the file of ``PRIVET_CONFIG`` (empty: no
file); ``privet.toml`` in the current folder; ``privet/privet.toml`` in the user's folder of configuration
(``XDG_CONFIG_HOME``, else ``~/.config``). Typed options override the file.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from privet.cli.tree import Command, command_tree
from privet.errors import ParameterError

NAME = "privet.toml"
VARIABLE = "PRIVET_CONFIG"
NEVER = {"--force", "--help", "--version", "--config"}  # a file that overwrites by default is an accident


def find_file(typed: Path | None) -> Path | None:
    """The file to read, or None."""
    if typed is not None:
        return typed
    if (named := os.environ.get(VARIABLE)) is not None:
        return Path(named) if named else None
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return next((path for path in (Path(NAME), Path(home) / "privet" / NAME) if path.is_file()), None)


def read_defaults(path: Path) -> dict[str, Any]:
    """The defaults in a file, by command and by the name of the parameter; refused where anything is unknown."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _refused(path, f"is not TOML ({error})", "write lines like journal = 'my.journal' below [fit]") from None
    return _checked(path, content, command_tree())


def describe(defaults: dict[str, Any], words: Sequence[str]) -> list[str]:
    """Which flags of the command that was typed have a default of the file.

    >>> describe({"log": "json", "fit": {"max_depth": "3"}}, ["fit", "t.csv"]), describe({"log": "json"}, ["show"])
    (['--max-depth'], [])
    """
    found: dict[str, Any] = {}
    for word in words:
        if not isinstance(defaults.get(word), dict):
            break
        found = defaults = defaults[word]
    return [f"--{name.replace('_', '-')}" for name, value in found.items() if not isinstance(value, dict)]


def _checked(path: Path, content: dict[str, Any], command: Command) -> dict[str, Any]:
    """The content of a table of the file, with keys as the parser names them."""
    below = {one.words[-1]: one for one in command.subcommands}
    flags = {one.flag.lstrip("-"): one for one in command.options if one.flag not in NEVER}
    found: dict[str, Any] = {}
    for key, value in content.items():
        if isinstance(value, dict):
            if key not in below:
                raise _refused(path, f"has a table [{key}], which is no command", _nearest(key, list(below), "command"))
            found[key] = _checked(path, value, below[key])
        elif key not in flags:
            where = f"below [{'.'.join(command.words[1:])}]" if len(command.words) > 1 else "outside of a table"
            fix = _nearest(key, list(flags), "flag")
            if not flags:
                fix = f"put it below the table of a command, such as [{next(iter(below), 'fit')}]"
            raise _refused(path, f"has the key {key!r} {where}, which is no flag that may have a default", fix)
        else:
            found[flags[key].name] = _value(path, key, value, flags[key].many)
    return found


def _value(path: Path, key: str, value: Any, many: bool) -> Any:
    """A value as if it had been typed."""
    if many:
        return [str(one) for one in (value if isinstance(value, list) else [value])]
    if isinstance(value, list):
        raise _refused(path, f"has a list for {key!r}, which takes one value", f"write {key} = 'VALUE'")
    return value if isinstance(value, bool) else str(value)


def _nearest(key: str, known: list[str], what: str) -> str:
    close = get_close_matches(key.replace("_", "-"), known, n=1)
    return f"did you mean {close[0]}?" if close else f"a {what} here is one of {', '.join(sorted(known))}"


def _refused(path: Path, problem: str, fix: str) -> ParameterError:
    return ParameterError(f"the configuration {path} {problem}", parameter="config", fix=fix)
