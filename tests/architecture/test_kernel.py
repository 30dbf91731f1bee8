"""The kernel stays small, has one source of noise, and nobody else makes any."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "privet"
KERNEL = SRC / "privacy"
MOST_LINES = 300  # of a file: what one person can read closely in an hour; intent, not a reason to squeeze code

# Distributions that privacy noise comes in. Public choices (which attribute, which threshold) need none of them.
NOISE = {"laplace", "geometric", "exponential", "standard_exponential", "gumbel", "normal", "standard_normal"}
NOISELESS_ROOMS = (
    "structure",
    "tables",
    "models",
    "engines",
    "growing",
    "recipes/ours",
    "recipes/papers",
    "estimators",
    "evaluation",
)


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def uses_opendp(text: str) -> bool:
    return any(name.split(".")[0] == "opendp" for name in imported(ast.parse(text)))


def uses_ordinary_randomness(text: str) -> bool:
    """`numpy.random` or the standard library's `random`, imported or reached through `np`."""
    tree = ast.parse(text)
    if any(name.split(".")[0] == "random" or name.startswith("numpy.random") for name in imported(tree)):
        return True
    return any(
        isinstance(n, ast.Attribute) and n.attr == "random" and isinstance(n.value, ast.Name) and n.value.id in NUMPY
        for n in ast.walk(tree)
    )


NUMPY = {"np", "numpy"}


def draws_noise(text: str) -> bool:
    calls = (n.func for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call))
    return any(isinstance(f, ast.Attribute) and f.attr in NOISE for f in calls)


def files(where: Path) -> list[Path]:
    return sorted(where.rglob("*.py"))


def test_only_noise_py_imports_opendp() -> None:
    assert [p.relative_to(SRC).as_posix() for p in files(SRC) if uses_opendp(p.read_text("utf-8"))] == [
        "privacy/noise.py"
    ]


def test_every_file_of_the_kernel_can_be_read_in_an_hour() -> None:
    lines = {p.relative_to(KERNEL).as_posix(): len(p.read_text("utf-8").splitlines()) for p in files(KERNEL)}
    assert lines, "the kernel is not where this test looks"
    assert {name: n for name, n in lines.items() if n > MOST_LINES} == {}


def test_the_kernel_uses_no_ordinary_randomness() -> None:
    assert [p.name for p in files(KERNEL) if uses_ordinary_randomness(p.read_text("utf-8"))] == []


def test_no_noise_is_drawn_outside_the_kernel() -> None:
    where = [p for room in NOISELESS_ROOMS for p in files(SRC / room)]
    assert [p.relative_to(SRC).as_posix() for p in where if draws_noise(p.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    "text", ["import opendp.measurements as m", "def f():\n    from opendp import mod", "from opendp.mod import x"]
)
def test_an_opendp_import_is_found(text: str) -> None:
    assert uses_opendp(text)
    assert not uses_opendp("import opendpx\nfrom privet.privacy.noise import opendp")


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nnp.random.default_rng()",
        "from numpy.random import default_rng",
        "from numpy import random",
        "import numpy.random",
        "import random",
        "from random import choice",
    ],
)
def test_ordinary_randomness_is_found(text: str) -> None:
    assert uses_ordinary_randomness(text)
    assert not uses_ordinary_randomness("import os, numpy as np\nnp.frombuffer(os.urandom(8))\nself.random()")


def test_a_noise_draw_is_found() -> None:
    assert draws_noise("rng.laplace(0, 1)")
    assert not draws_noise("rng.integers(0, 3)")
