"""When a model was made, and by which versions: what a reader of its certificate needs to check or repeat the work."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("privet", "opendp", "numpy", "numba")  # what decides about a model: this code, noise, numbers, counting


def provenance() -> dict[str, str]:
    """The minute (UTC) in which the work begins, and versions. Nothing in it depends on a record.

    >>> sorted(provenance())
    ['date', 'numba', 'numpy', 'opendp', 'privet', 'python']
    """
    began = datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ")
    return {"date": began, "python": platform.python_version()} | dict(_versions())


def _versions() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:  # run from its source, without an installation
            continue
