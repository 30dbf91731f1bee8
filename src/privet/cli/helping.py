"""``completion`` and ``man``: what other programs show of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.completion import Shell, completion_script
from privet.cli.tree import command_tree
from privet.errors import ParameterError

ABOUT_COMPLETION = 'Example: eval "$(privet completion bash)"'
ABOUT_MAN = "Example: privet man fit | man -l -"


def completion(shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> None:
    """Print a script that completes commands and flags in a shell."""
    print(completion_script(command_tree(), shell), end="")


def man(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND]...", help="Such as fit, or schema draft.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--into", metavar="FOLDER", help="Write the pages of all commands to files of this folder."),
    ] = None,
) -> None:
    """Print the man page of a command, or write those of all commands to a folder."""
    from privet.cli.manual import file_name, man_page

    pages = {one.words[1:]: one for one in command_tree().walk()}
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for one in pages.values():
            (folder / file_name(one)).write_text(man_page(one), encoding="utf-8")
        print(f"{folder}: {len(pages)} pages; try man -l {folder}/privet.1")
        return
    wanted = tuple(words or ())
    if wanted not in pages:
        raise ParameterError(f"there is no command {' '.join(wanted)!r}", fix="`privet --help` lists the commands")
    print(man_page(pages[wanted]), end="")


def register(app: typer.Typer) -> None:
    app.command(epilog=ABOUT_COMPLETION)(completion)
    app.command(epilog=ABOUT_MAN)(man)
