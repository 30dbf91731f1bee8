"""Whole laws under zCDP: a tree that is drawn as a whole, and a choice, differ between neighbours by what was paid."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privet import Categorical, Ledger, Schema
from privet.audit.draws import Call
from privet.audit.outputs import output_distribution
from privet.audit.weighing import rho_between
from privet.engines.memory import MemoryEngine
from privet.growing.whole.blocks import block_space
from privet.privacy import concentrated, mechanisms
from privet.privacy.concentrated import rho_of
from privet.privacy.dataset import PrivateDataset
from privet.privacy.losses import Loss
from privet.privacy.samplers import tree_sampler
from privet.privacy.samplers.tree_space import TreeSpace
from privet.privacy.scores import Gini
from privet.structure.splits import Tests
from privet.tables.encoding import Codes

PRICE = Loss(Fraction(8), Fraction(1, 10**3))  # a large one, so that rounding and other slack do not hide a fault
RHO = rho_of(PRICE.epsilon, PRICE.delta)
SCHEMA = Schema((Categorical("a", (0, 1)), Categorical("b", (0, 1))), Categorical("class", ("no", "yes")))
ROWS = [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0)]
TESTS = Tests.multiway(SCHEMA)
SPACES = {
    "labelled": TreeSpace(Tests.binary(SCHEMA), 2, (0.0, 0.5), np.ones(2), (1, 1)),
    "multiway": block_space(TESTS, 2, 1),
}


def law(rows: list[tuple[int, ...]], ask: Any, relation: str = "add-remove") -> dict[Any, float]:
    columns = np.array(rows, dtype=np.uint8).reshape(-1, 3).T

    def fit() -> Any:
        engine = MemoryEngine(SCHEMA, Codes(columns[:2], columns[2]))
        data = PrivateDataset(engine, Ledger(PRICE.epsilon, PRICE.delta, neighbours=relation))
        return ask(data.concentrated(PRICE, "work").level())

    return output_distribution(fit)[0]


def rho_of_laws(ours: dict[Any, float], theirs: dict[Any, float]) -> float:
    assert ours.keys() == theirs.keys()
    calls = [Call("exponential", np.array([found[key] for key in ours]), 1.0) for found in (ours, theirs)]
    return rho_between(*calls)


def worst(ask: Any, relation: str = "add-remove") -> float:
    """The largest rho over some neighbours of a small table."""
    whole, found = law(ROWS, ask, relation), []
    for i in range(len(ROWS)):
        rest = ROWS[:i] + ROWS[i + 1 :]
        near = [rest] if relation == "add-remove" else [[*rest, (1 - a, b, 1 - c)] for a, b, c in ROWS[i : i + 1]]
        found += [rho_of_laws(whole, law(other, ask, relation)) for other in near]
    return max(found)


def tree(space: TreeSpace) -> Any:
    return lambda level: tuple(map(tuple, level.sample_trees_all([space], RHO)[0]))


def choice(level: Any) -> Any:
    return int(level.choose_all(Tests.binary(SCHEMA), Gini(), RHO)[0])


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("ask", [*map(tree, SPACES.values()), choice], ids=[*SPACES, "choice"])
def test_a_law_moves_by_what_was_paid(ask: Any, relation: str) -> None:
    least = 0.1 if relation == "add-remove" else 0.02  # a replaced record never moves a score twice as far
    assert least * float(RHO) < worst(ask, relation) <= float(RHO)


def test_a_draw_with_too_much_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """An epsilon that is epsilon^2/2-zCDP in the law's eyes, as if rho were 16 times as much."""
    monkeypatch.setattr(tree_sampler, "choice_epsilon", lambda loss: 4 * concentrated.choice_epsilon(loss))
    assert worst(tree(SPACES["labelled"])) > float(RHO)


def test_rho_in_the_place_of_epsilon_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism that takes rho for its epsilon: at this price, far more than rho buys."""
    monkeypatch.setattr(mechanisms, "choice_epsilon", lambda loss: 8 * loss.rho)
    assert worst(choice) > float(RHO)
