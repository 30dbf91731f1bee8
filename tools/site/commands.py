"""The reference of all commands, from the argument parser."""

from __future__ import annotations

from privet.cli.tree import Command, Parameter, command_tree

HEAD = """# Commands

Every command with its arguments and options, as the parser has them. `privet COMMAND --help` prints the same, `privet
man COMMAND` as a man page. [The guide](../guide/cli.md) shows them at work.
"""


def commands_page() -> str:
    """The page, as Markdown."""
    return HEAD + "".join(_section(one) for one in command_tree().walk() if len(one.words) > 1)


def _section(command: Command) -> str:
    level = "#" * len(command.words)
    parts = [f"\n{level} {command.name}\n", f"\n```text\n{command.usage}\n```\n", f"\n{_escaped(command.help)}\n"]
    if command.parameters and not command.subcommands:
        parts += ["\n| option | value | meaning |\n|---|---|---|\n", *map(_row, command.parameters)]
    if command.epilog:
        parts += [f"\n{_code(part)}\n" for part in command.epilog.split("\n\n")]
    return "".join(parts)


def _row(one: Parameter) -> str:
    spelt = ", ".join(f"`{flag}`" for flag in sorted(one.flags, key=len, reverse=True)) or f"`{one.takes}`"
    takes = f"`{one.takes}`" if one.flags and one.takes else ""
    has_default = one.default not in (None, False, ()) and not callable(one.default)
    notes = ["Required."] * one.required + [f"Default: `{one.default}`."] * has_default
    return f"| {spelt} | {takes.replace('|', chr(92) + '|')} | {' '.join([_escaped(one.help), *notes])} |\n"


def _code(paragraph: str) -> str:
    """An example as code, other words as they are."""
    head, colon, example = paragraph.partition(": ")
    return f"{head}:\n\n```sh\n{example}\n```" if colon and example.startswith("privet ") else _escaped(paragraph)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
