"""How far a long piece of work is, for whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable

from privet.errors import ParameterError

Progress = Callable[[int, int], None]
"""Told (steps done, steps at most) as the work goes on; what a step is depends on who tells."""


def check_progress(progress: object) -> None:
    """Refuse what cannot be called, before anything is charged: the first call comes after the first charge."""
    if progress is not None and not callable(progress):
        problem = f"must be a function of (steps done, steps at most), not {progress!r}"
        raise ParameterError(parameter="progress", problem=problem)


def tell_stage(progress: Progress | None, what: str) -> None:
    """Tell what begins now to whoever wants to know that too.

    How many records were read so far is told to nobody: their number is private, and what a fit says is released.
    """
    stage = getattr(progress, "stage", None)
    if stage is not None:
        stage(what)
