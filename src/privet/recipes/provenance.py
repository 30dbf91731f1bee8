"""The date and versions of a model: what a reader of its certificate needs to check or repeat the work."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from privet.privacy import noise
from privet.privacy.bookkeeping import this_minute

PACKAGES = ("privet", noise.PACKAGE, "numpy", "numba")  # they decide the result: this code, noise, numbers, counting


def provenance() -> dict[str, str]:
    """The minute (UTC) at which the work begins, and versions. Nothing in it depends on a record.

    >>> {"date", "python", noise.PACKAGE} <= provenance().keys()
    True
    """
    return {"date": this_minute(), "python": platform.python_version()} | _versions()


@cache
def _versions() -> dict[str, str]:
    """Cached: looking them up reads files, and takes longer than a small fit."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from its source, without an installation
            continue
    return found
