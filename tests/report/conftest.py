"""A real browser, and models to write pages of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from page_reader import browser, reader  # noqa: F401 - fixtures

from privet.kinds import ChargeKind
from privet.models.additive import Additive, Part
from privet.models.forest import Forest
from privet.models.model import Model
from privet.models.tree import Tree
from privet.privacy.ledger import Ledger
from privet.schema import Categorical, Numeric, Schema
from privet.structure.routes import Routes
from privet.structure.splits import Multiway, OneCategory, Threshold

EVIL = '</script><script>alert("x")</script>'


SCHEMA = Schema(
    (
        Numeric("age", 0, 100, thresholds=(30.0, 60.5), missing="?"),
        Categorical("job & co", ("clerk", EVIL, "smith")),
        Numeric("hours", 0, 80, integer=True, bins=4),
        Categorical("unused", ("a", "b")),
    ),
    Categorical("rich", ("no", "yes <b>")),
    name="census",
    title="A census",
)
MADE = {"date": "2026-11-17T09:30Z", "privet": "1.0", "python": "3.12"}


def small_tree(shift: int = 0) -> Tree:
    """Five leaves: noise hides two of them, of which one says what its sibling says; that is a sum of three counts."""
    tests = [Threshold(0, 0), Multiway(1), OneCategory(1, 0), None, None, None, None, None]
    counts = np.array([[109, 327], [100, 140], [9, 187], [90, 10], [2, 3], [8, 127], [4, 2], [5, 185]], float) + shift
    draws = np.array([5, 3, 2, 1, 1, 3, 1, 1])
    proba = np.clip(counts, 1, None) / np.clip(counts, 1, None).sum(axis=1, keepdims=True)
    label = [1, 1, 1, 0, 1, 1, 0, 1]
    return Tree.build(SCHEMA, tests, [1, 3, 6, -1, -1, -1, -1, -1], label, proba=proba, counts=counts, draws=draws)


def certificate(*, counts: bool = True, caveat: str | None = None, voids: bool = False) -> dict[str, Any]:
    ledger = Ledger(1).allow_nonprivate()
    ledger.charge(0.25, "choice of tests", mechanism="exponential", scale=8)
    if counts:
        ledger.charge(0.25, "leaf class counts", mechanism="discrete Laplace", scale=4, kind=ChargeKind.CLASS_COUNTS)
    if caveat is not None:
        ledger.add_caveat(caveat, voids=voids)
    return ledger.certificate().to_dict()


@pytest.fixture
def make_certificate() -> Callable[..., dict[str, Any]]:
    return certificate


@pytest.fixture
def tree_model() -> Model:
    return Model("diffpid3", small_tree(), {"max_depth": 2, "variant": "sound"}, certificate(), ("a note",), MADE)


def sum_model(classes: int = 2, *, leaf: bool = False, seed: int = 0) -> Model:
    """An additive model with a curve for each attribute, a table of a pair and, if asked, a small tree."""
    schema = replace(SCHEMA, label=Categorical("rich", ("no", "yes <b>", "very")[:classes]))
    rng, columns = np.random.default_rng(seed), 1 if classes == 2 else classes
    parts = [
        Part((a,), (np.arange(schema.arities[a]),), rng.normal(size=(schema.arities[a], columns)), 0.1)
        for a in range(len(schema.attributes))
    ]
    coarse = (np.array([0, 0, 1, 1]), np.array([0, 1, 1]))  # levels of two attributes
    parts.append(Part((0, 1), coarse, rng.normal(size=(4, columns)), 0.2))
    routes = None
    if leaf:
        routes = Routes.in_level_order(schema, [Threshold(0, 1), None, OneCategory(1, 2), None, None])
        parts.append(Part((), (), rng.normal(size=(3, columns)), 0.1))
    model = Additive(schema, tuple(parts), rng.normal(size=columns), routes)
    return Model("additive", model, {}, certificate(counts=False), (), MADE)


@pytest.fixture
def make_sum() -> Callable[..., Model]:
    return sum_model


@pytest.fixture
def forest_model() -> Model:
    forest = Forest(SCHEMA, tuple(small_tree(7 * i) for i in range(5)), "proba")
    return Model("random-forest", forest, {}, certificate(), (), MADE)
