"""Messages of the library in the words of the command: ``--variant as-published``, not ``variant='as-published'``.

The library names Python parameters. Whoever typed a command knows its options, so what the command has an option for is
called by that option, and other parameters of a recipe by ``--set``.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from functools import cache
from typing import Any

from privet.cli.options import RESERVED

_ASSIGNED = re.compile(r"(?<![\w-])(?<!--set )([a-z][a-z_]*)=('[^']*'|\"[^\"]*\"|[\w./-]+(?:\.\d+)?)")
_LEADING = re.compile(r"^([a-z][a-z_]*)(?= (?:must|names|are rounded|forbids|cannot)\b)")
_NAMED = re.compile(r"(?<![\w.'\"/-])(?<!--set )([a-z]+(?:_[a-z]+)+)(?![\w'\"/(=.])")
_AT_MOST = re.compile(r"ask with epsilon <= (\S+?)\.?$")


def in_own_words(message: str, options: Mapping[str, str], settings: Container[str] = ()) -> str:
    """A message with options in the place of parameters. Lists in further lines stay as they are.

    ``options`` are those of the command by the parameters they stand for; ``settings`` are parameters for ``--set``.

    >>> known, others = {"variant": "--variant", "max_depth": "--max-depth"}, {"tests"}
    >>> in_own_words("choose another recipe, or set variant='as-published'", known, others)
    'choose another recipe, or set --variant as-published'
    >>> in_own_words("max_depth must be 0 or more; lower max_depth or use tests='binary'", known, others)
    '--max-depth must be 0 or more; lower --max-depth or use --set tests=binary'
    """

    def assigned(match: re.Match[str]) -> str:
        name, value = match[1], match[2].strip("'\"")
        if name in options:
            return options[name] if value == "True" else f"{options[name]} {value}"  # a flag has no value
        return f"--set {name}={value}" if name in settings else match[0]

    def named(match: re.Match[str]) -> str:
        name = match[1]
        return options.get(name) or (f"--set {name}" if name in settings else name)

    message, lines, listed = message.partition("\n")
    message = _AT_MOST.sub(r"say --epsilon \1 or less", message)
    message = _ASSIGNED.sub(assigned, message)
    return _NAMED.sub(named, _LEADING.sub(named, message)) + lines + listed


def spoken_by(command: Any, message: str) -> str:
    """A message in the words of a command that was typed."""
    options = options_of(command)
    return in_own_words(message, options, Settings() if "--set" in options.values() else ())


def options_of(command: Any) -> dict[str, str]:
    """The options of a command by the parameters that they stand for."""
    spelt = {p.name: max(p.opts, key=len) for p in getattr(command, "params", ()) if p.opts[0].startswith("-")}
    return spelt | {name: option for name, option in RESERVED.items() if option in spelt.values()}


class Settings:
    """All that --set can name. Recipes are loaded once a message has a name that could be one of theirs."""

    def __contains__(self, name: object) -> bool:
        return name in _settings()


@cache
def _settings() -> set[str]:
    """Fields of recipes and of publishers."""
    from dataclasses import fields

    from privet.publishing import DiffGen, DPCube
    from privet.recipes.registry import recipe_classes

    kinds: tuple[Any, ...] = (*recipe_classes().values(), DiffGen, DPCube)
    return {field.name for kind in kinds for field in fields(kind)}
