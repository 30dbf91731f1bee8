"""The commands as values: names, arguments, options and their help, read off the argument parser.

Man pages, shell completion, the reference of commands and the configuration file are all made from these values, so
that none of them can disagree with what the parser takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import EnumType
from typing import Any

import typer


@dataclass(frozen=True)
class Parameter:
    """An argument or an option."""

    name: str
    """The keyword of the function behind the command."""
    flags: tuple[str, ...]
    """Such as ``-e`` and ``--epsilon``; none for an argument."""
    takes: str
    """What stands for the value, such as ``FILE``; empty for a switch."""
    help: str
    default: Any
    required: bool
    many: bool
    """Whether it may be given several times."""
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The longest spelling."""
        return max(self.flags, key=len, default="")


@dataclass(frozen=True)
class Command:
    """A command, or a group of commands."""

    words: tuple[str, ...]
    """Such as ``("privet", "schema", "draft")``."""
    help: str
    epilog: str
    parameters: tuple[Parameter, ...]
    subcommands: tuple[Command, ...] = ()

    @property
    def name(self) -> str:
        return " ".join(self.words)

    @property
    def options(self) -> tuple[Parameter, ...]:
        return tuple(one for one in self.parameters if one.flags)

    @property
    def arguments(self) -> tuple[Parameter, ...]:
        return tuple(one for one in self.parameters if not one.flags)

    @property
    def usage(self) -> str:
        """How it is called.

        >>> usage = Command(("privet", "show"), "", "", (Parameter("model", (), "MODEL", "", None, True, False),)).usage
        >>> usage
        'privet show MODEL'
        """
        if self.subcommands:
            return f"{self.name} COMMAND"
        needed = [f"{one.flag} {one.takes}".strip() for one in self.options if one.required]
        others = ["[OPTIONS]"] if any(not one.required for one in self.options) else []
        places = [one.takes if one.required or one.takes[0] == "[" else f"[{one.takes}]" for one in self.arguments]
        return " ".join([self.name, *places, *needed, *others])

    def walk(self) -> Iterator[Command]:
        """This command and all below it."""
        yield self
        for one in self.subcommands:
            yield from one.walk()


def command_tree(plugins: bool = True) -> Command:
    """All commands of ``privet``, with those of other distributions unless ``plugins`` is false."""
    from privet.cli.app import app

    root: Any = typer.main.get_command(app)
    context = typer.Context(root, info_name="privet")
    names = root.list_commands(context) if plugins else list(root.commands)
    return _command(("privet",), root, {name: root.get_command(context, name) for name in names})


def _command(words: tuple[str, ...], command: Any, below: dict[str, Any]) -> Command:
    return Command(
        words,
        _plain(command.help),
        _plain(command.epilog),
        tuple(_parameter(one) for one in command.params if not getattr(one, "hidden", False)),
        tuple(
            _command((*words, name), one, getattr(one, "commands", {}))
            for name, one in below.items()
            if one is not None and not one.hidden
        ),
    )


def _parameter(one: Any) -> Parameter:
    argument = one.param_type_name == "argument"
    switch = bool(getattr(one, "is_flag", False))
    choices = _choices(one)
    takes = one.metavar or "|".join(choices) or one.name.upper()
    return Parameter(
        one.name,
        () if argument else (*one.opts, *one.secondary_opts),
        "" if switch else takes,
        _plain(getattr(one, "help", "")),
        one.default,
        one.required,
        bool(getattr(one, "multiple", False)) or one.nargs == -1,
        choices,
    )


def _choices(one: Any) -> tuple[str, ...]:
    """The values of an enumeration; typer keeps them in one place or, in older versions, in another."""
    annotation = getattr(getattr(one, "type_descriptor", None), "annotation", None)
    if isinstance(annotation, EnumType):
        members: Any = annotation
        return tuple(str(member.value) for member in members)
    return tuple(map(str, getattr(getattr(one, "type", None), "choices", ())))


def _plain(text: str | None) -> str:
    """Help as paragraphs of one line each."""
    parts = re.split(r"\n\s*\n", (text or "").replace("\f", "").strip())
    return "\n\n".join(" ".join(part.split()) for part in parts)
