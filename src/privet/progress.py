"""Progress callbacks of long work."""

from __future__ import annotations

from collections.abc import Callable

from privet.errors import ParameterError

Progress = Callable[[int, int], None]
"""Called with (steps done, steps at most) as the work goes on; a step is what the caller counts."""


def check_progress(progress: object) -> None:
    """Refuse what is not callable, before anything is charged: the first call comes after the first charge."""
    if progress is not None and not callable(progress):
        problem = f"must be a function of (steps done, steps at most), not {progress!r}"
        raise ParameterError(parameter="progress", problem=problem)


def tell_stage(progress: Progress | None, what: str) -> None:
    """Report a new stage, if the callback has a ``stage`` method.

    The number of records read so far is never reported: it is private, and progress is released.
    """
    stage = getattr(progress, "stage", None)
    if stage is not None:
        stage(what)
