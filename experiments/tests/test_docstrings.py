"""The examples in docstrings run, and every module can be imported by itself."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import privet_experiments

MODULES = sorted(m.name for m in pkgutil.walk_packages(privet_experiments.__path__, "privet_experiments."))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
