"""Silence the runs of a search: every message would reveal a run, and their number.

Warnings, log records and output of a fit are released like its model, and an audit checks that they do not depend on a
record. But repeated in each run they reveal the number of runs, which must stay unknown: ``docs/proofs/search.md``.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout


@contextmanager
def silence() -> Iterator[None]:
    """Drop Python's warnings, log records of every level, and what is written to its standard streams.

    >>> with silence():
    ...     print("run 7")
    """
    disabled = logging.root.manager.disable
    with open(os.devnull, "w", encoding="utf-8") as nowhere, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(sys.maxsize)  # above any custom level
        try:
            with redirect_stdout(nowhere), redirect_stderr(nowhere):
                yield
        finally:
            logging.disable(disabled)
