"""How tests watch a ledger: the scales of the noise that was paid for, and what a forked process could do."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from privet.testing import ZeroNoise

AMOUNTS = st.fractions(min_value=Fraction(1, 12), max_value=1, max_denominator=12)


class Spy(ZeroNoise):
    """No noise, and a list of the scales it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.scales: list[float] = []

    def laplace(self, values: Any, scale: float) -> Any:
        self.scales.append(scale)
        return super().laplace(values, scale)


def in_a_fork(work: Callable[[], object]) -> str:
    """The type of error that ``work`` raises in a forked process, or its result, as text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = str(work())
        except BaseException as error:
            answer = type(error).__name__
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        return pipe.read()
