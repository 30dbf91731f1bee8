"""Checks of output files: never overwrite an input or a journal, and other files only with --force."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.models.drafts import Draft

Force = Annotated[
    bool,
    typer.Option("--force", help="Replace an existing output; never an input or a journal."),
]


# Suffixes of formats that a command must not write under a wrong name; any other suffix is allowed.
KINDS = {".csv", ".tsv", ".parquet", ".xlsx", ".json", ".yaml", ".yml", ".html", ".htm", ".pdf", ".pkl", ".joblib"}


@contextmanager
def writing(
    output: Path, what: str, *, inputs: Sequence[Path | None] = (), force: bool = False, room: int = 0
) -> Iterator[Draft]:
    """Open a draft of an output after checking it; see :func:`privet.models.drafts.drafted`."""
    from privet.models.drafts import drafted

    refuse(output, what, inputs=inputs, force=force)
    with drafted(output, what, room=room) as draft:
        yield draft


def put(draft: Draft, content: str | bytes, what: str, *, force: bool) -> Path:
    """Publish what nothing was charged for, and return its path; see :meth:`privet.models.drafts.Draft.publish`."""
    from privet.models.drafts import why

    try:
        return draft.save(content, replace=force)
    except OSError as error:
        raise ParameterError(f"cannot write {what} {str(draft.asked)!r}: {why(error)}") from error


def refuse(output: Path, what: str, *, inputs: Sequence[Path | None] = (), force: bool = False) -> None:
    """Raise if an output would replace something that must stay."""
    from privet.addresses import is_address, safe
    from privet.models.drafts import is_journal

    if is_address(output):
        raise ParameterError(f"cannot write {what} to {safe(output)}: only to a file; give a path")
    stop = f"cannot write {what} {str(output)!r}"
    if any(_same(output, path) for path in inputs if path is not None):
        raise ParameterError(f"{stop}: it is an input of this command, which must stay; name another file")
    if is_journal(output):
        raise ParameterError(f"{stop}: it is a privet journal, the record of what was spent; name another file")
    if output.is_file() and not force:
        raise ParameterError(f"{stop}: it is there already; name another file, or give --force to replace it")


def refuse_kind(output: Path, what: str, *right: str) -> None:
    """Raise if the suffix of a new file promises another format: ``out.parquet`` for CSV."""
    if output.suffix.lower() in KINDS - set(right) and not output.exists():
        fix = f"call it {' or '.join(right)}"
        raise ParameterError(f"--output is {what} and cannot be a {output.suffix} file", parameter="output", fix=fix)


def _same(output: Path, other: Path) -> bool:
    """Whether two paths lead to one file, by name, through a link, or by a hard link."""
    try:
        return os.path.realpath(output) == os.path.realpath(other) or os.path.samefile(output, other)
    except (OSError, ValueError):  # one of them does not exist
        return False
