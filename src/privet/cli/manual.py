"""Man pages, from the argument parser."""

from __future__ import annotations

import re

from privet import __version__
from privet.cli.tree import Command, Parameter

FILES = """.SH FILES
.TP
.I privet.toml
Defaults of options, in the current folder or in ~/.config/privet; PRIVET_CONFIG names another file.
.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
An error or a refusal; a message on standard error names the fix.
.TP
.B 2
Wrong usage.
.TP
.B 130
Interrupted.
"""


def file_name(command: Command) -> str:
    """Such as ``privet-schema-draft.1``."""
    return "-".join(command.words) + ".1"


def man_page(command: Command) -> str:
    """A page of section 1, in the language of man."""
    title = "-".join(command.words)
    first, _, rest = command.help.partition("\n\n")
    parts = [
        f'.TH "{title.upper()}" "1" "" "privet {__version__}" "privet"\n',
        f".SH NAME\n{title} \\- {_text(first.rstrip('.'))}\n",
        f".SH SYNOPSIS\n.B {_text(command.name)}\n{_text(command.usage.removeprefix(command.name).strip())}\n",
    ]
    if rest:
        parts.append(f".SH DESCRIPTION\n{_paragraphs(rest)}\n")
    if command.arguments:
        parts += [".SH ARGUMENTS\n", *map(_entry, command.arguments)]
    if command.options:
        parts += [".SH OPTIONS\n", *map(_entry, command.options)]
    if command.subcommands:
        rows = (
            f".TP\n.B {_text(one.words[-1])}\n{_text(one.help.partition(chr(10))[0])}\n" for one in command.subcommands
        )
        parts += [".SH COMMANDS\n", *rows]
    if command.epilog:
        parts.append(f".SH EXAMPLES AND NOTES\n{_paragraphs(command.epilog)}\n")
    others = [command.words[:-1]] if len(command.words) > 1 else []
    others += [one.words for one in command.subcommands]
    see = ", ".join(f"\\fB{_text('-'.join(words))}\\fR(1)" for words in others)
    return "".join([*parts, FILES, f".SH SEE ALSO\n{see}\n" if see else ""])


def _entry(one: Parameter) -> str:
    spelt = ", ".join(f"\\fB{_text(flag)}\\fR" for flag in sorted(one.flags, key=len)) or f"\\fI{_text(one.takes)}\\fR"
    takes = f" \\fI{_text(one.takes)}\\fR" if one.flags and one.takes else ""
    return f".TP\n{spelt}{takes}\n{_text(one.help) or 'No description.'}{' Required.' if one.required else ''}\n"


def _paragraphs(text: str) -> str:
    return "\n.PP\n".join(_text(part) for part in text.split("\n\n"))


def _text(text: str) -> str:
    """Text that man prints as it is.

    >>> _text(".a -b")
    '\\\\&.a \\\\-b'
    """
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", escaped, flags=re.MULTILINE)
