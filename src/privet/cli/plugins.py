"""Commands of other distributions, by the entry-point group ``privet.commands``.

An entry point has the name of its command and is a callable ``register(app)`` that adds the command to a Typer app. It
is loaded only when that command is run or listed. One that cannot be loaded prints a sentence and does not affect other
commands.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer

from privet.errors import PrivetError

GROUP = "privet.commands"
# Commands of our other distributions, with what to install for each.
OWN = {"reproduce": "privet-experiments", "peers": "privet-experiments"}


@cache
def found() -> dict[str, EntryPoint]:
    """The installed entry points, by the name of their command."""
    return {point.name: point for point in entry_points(group=GROUP)}


def command(name: str) -> Any:
    """The command of a plug-in, or None for an unknown name.

    If the plug-in is broken or not installed, the command explains that.
    """
    if (point := found().get(name)) is None:
        needed = OWN.get(name)
        return needed and _refusing(name, f"privet {name} needs {needed}: pip install {needed}")
    try:
        app = typer.Typer()
        app.callback()(lambda: None)  # makes it a group, even of one command
        point.load()(app)
        group: Any = typer.main.get_command(app)
        return group.commands[name]
    except Exception as error:  # anything that another distribution does wrong
        maker = point.dist.name if point.dist is not None else point.value
        why = " ".join(f"{type(error).__name__}: {error}".split())  # on one line
        return _refusing(name, f"the command {name!r} of {maker} cannot be loaded ({why}); install {maker} again")


def _refusing(name: str, message: str) -> Any:
    """A command that takes any arguments and fails with a message."""
    app = typer.Typer(add_completion=False)

    def refuse() -> None:
        raise PrivetError(message)

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    app.command(name, help=message[0].upper() + message[1:] + ".", context_settings=settings)(refuse)
    return typer.main.get_command(app)
