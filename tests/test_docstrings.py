"""The examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import privet

MODULES = ["privet", *sorted(m.name for m in pkgutil.walk_packages(privet.__path__, "privet."))]


@pytest.mark.parametrize("name", [m for m in MODULES if not m.endswith("__main__")])
def test_examples(name: str, request: pytest.FixtureRequest) -> None:
    if name.startswith("privet.growing.whole."):
        request.getfixturevalue("full_draws")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert result.failed == 0
