"""Output of commands: results to stdout, everything else to stderr."""

from __future__ import annotations

import errno
import json
import math
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any

from privet.bidi import isolated
from privet.errors import ParameterError

PROSE = 100  # columns: longer lines are hard to read


class LogForm(StrEnum):
    """What messages on stderr are."""

    text = "text"
    json = "json"


_form = LogForm.text


def log_as(form: LogForm) -> None:
    """Choose the form of all messages to come."""
    global _form
    _form = form


def logs_json() -> bool:
    return _form is LogForm.json


def _log(level: str, message: str, **facts: Any) -> None:
    """Print an object on a line of its own."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    print(_escaped(json.dumps({"time": now, "level": level, "message": message, **facts})), file=sys.stderr)


def complain(message: str) -> None:
    """Print an error on stderr."""
    if logs_json():
        _log("error", message)
    else:
        print(f"privet: {isolated(message, lines=True)}", file=sys.stderr)


def say(message: str) -> None:
    """Print a remark on stderr, apart from the results."""
    if logs_json():
        _log("info", message)
    else:
        print(isolated(message, lines=True), file=sys.stderr)


def warn(message: str) -> None:
    """Print a warning on stderr."""
    if logs_json():
        _log("warning", message)
    else:
        print(isolated(f"warning: {message}", lines=True), file=sys.stderr)


def try_stdout() -> None:
    """Check that stdout is writable before a charge whose result is only printed."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "it is closed")
        print(flush=True)
    except OSError as error:
        raise ParameterError(f"cannot write to standard output: {error.strerror}; nothing was charged") from error


def shout(title: str, message: str) -> None:
    """Print a warning on stderr that is hard to overlook, for people and in logs."""
    if logs_json():
        _log("warning", message, title=title)
        return
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

    body = Text(message)
    Console(stderr=True).print(Panel(body, title=f"[bold]{title}", border_style="red", expand=False))


def print_json(value: Any) -> None:
    """Print JSON on stdout; fractions and infinities as text, NaN as null."""
    print(_escaped(json.dumps(_plain(value), indent=1, ensure_ascii=False)))


def _escaped(text: str) -> str:
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


# Characters that a terminal obeys and a reader does not see: controls that JSON does not escape, and those of
# direction.
_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def print_rich(*renderables: Any) -> None:
    """Print tables and text on stdout, at most as wide as the terminal, in full if there is none."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=200)  # a pipe has no width: do not cut what may be searched
    for renderable in renderables:
        width = min(console.width, PROSE) if isinstance(renderable, str) else None
        console.print(renderable, highlight=False, width=width)


def print_markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    for line in (headings, ["---"] * len(headings), *rows):
        print(f"| {' | '.join(line)} |")


class Bar:
    """A progress callback that shows nothing."""

    def __call__(self, done: int, total: int) -> None:
        """Report that ``done`` of at most ``total`` steps are done."""

    def stage(self, what: str) -> None:
        """Name the current stage."""


class LogLines(Bar):
    """A progress log for long work without a terminal: one line per minute, with the estimated time left."""

    def __init__(self, what: str, every: float = 60.0) -> None:
        self.what, self.every = what, every
        self.start = self.last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done and now - self.last >= self.every:
            self.last = now
            left = (now - self.start) / done * (total - done)
            say(f"{self.what}: {done} of {total} jobs, about {left / 60:.0f} minutes left")


class JsonLines(Bar):
    """Progress for a program: an object for each stage, and one every ten seconds."""

    def __init__(self, what: str, every: float = 10.0) -> None:
        self.every, self.last = every, time.monotonic()
        self.stage(what)

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last = now
            _log("info", self.what, done=done, total=total)

    def stage(self, what: str) -> None:
        self.what = what
        _log("info", what)


@contextmanager
def progress(what: str, *, time_left: bool = False) -> Iterator[Bar]:
    """A progress bar on stderr if that is a terminal; it leaves no trace when done.

    It moves from the start, also while libraries are loaded or code is compiled. ``time_left`` is for long work in many
    steps; without a terminal it logs one line per minute.
    """
    if logs_json():
        yield JsonLines(what)
        return
    if not sys.stderr.isatty():
        yield LogLines(what) if time_left else Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns: list[ProgressColumn] = [TextColumn("{task.description}"), BarColumn()]
    columns += [TextColumn("{task.fields[share]}"), TimeElapsedColumn()]
    columns += [TextColumn("left:"), TimeRemainingColumn()] if time_left else []
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=None, share="")

        class Shown(Bar):
            def __call__(self, done: int, total: int) -> None:
                bar.update(task, completed=done, total=total, share=f"{100 * done / max(total, 1):.0f} %")

            def stage(self, what: str) -> None:
                bar.reset(task, total=None, description=what, share="")

        yield Shown()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Fraction):
        return str(value)
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value).replace("inf", "infinity")
    return value
