"""What a command says: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.growing.grower import Progress


def complain(message: str) -> None:
    """One message on stderr."""
    print(f"privet: {message}", file=sys.stderr)


def say(message: str) -> None:
    """A remark on stderr, where it does not mix with results."""
    print(message, file=sys.stderr)


def shout(title: str, message: str) -> None:
    """A warning on stderr that is hard to overlook, for people and in logs."""
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

    body = Text(message)
    Console(stderr=True).print(Panel(body, title=f"[bold]{title}", border_style="red", expand=False))


def print_json(value: Any) -> None:
    """JSON on stdout; fractions and infinities as text, what is not a number as null."""
    print(json.dumps(_plain(value), indent=1, ensure_ascii=False))


def print_rich(*renderables: Any) -> None:
    """Tables and text on stdout, at most as wide as the terminal, in full where there is none."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=200)  # a pipe has no width of its own: do not cut what somebody will search
    for renderable in renderables:
        console.print(renderable, highlight=False)


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """A progress bar on stderr, where a person is watching; it leaves no trace when done."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Fraction):
        return str(value)
    if hasattr(value, "tolist"):  # numpy's arrays and scalars
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value).replace("inf", "infinity")
    return value
