"""The exact audit of scores and folds, on the real code, and planted faults beside them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

from privet import CoinFold, Ledger, Unit, private_score
from privet.audit import audit_learner
from privet.audit.zoo import Pair, tiny_schema, zoo
from privet.engines.opening import open_engine
from privet.evaluation import private_score as scoring
from privet.fitting import Request, fit
from privet.models.forest import Forest
from privet.models.model import Model
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.recipes.papers.mohammed2015 import Mohammed2015
from privet.schema import Numeric
from privet.structure.splits import OneCategory

SCHEMA = tiny_schema()
SIZES = (2.5, 7.5, "?")  # a value for each code of the number
DEEP = {
    relation: [pair for pair in zoo(SCHEMA, relation=relation, of_a_class=()) if pair.ways is None][::5]
    for relation in ("add-remove", "replace-one")
}  # a histogram takes one record like another: a fifth of the zoo shows it
SURE = Tree.build(SCHEMA, [OneCategory(0, 1), None, None], [1, -1, -1], [0, 1, 0])
UNSURE = Tree.build(
    SCHEMA,
    [OneCategory(2, 1), None, None],
    [1, -1, -1],
    [0, 1, 0],
    proba=np.array([[0.5, 0.5], [0.1, 0.9], [0.6, 0.4]]),
)
MODELS = {"one leaf a class": SURE, "graded": UNSURE, "forest": Forest(SCHEMA, (SURE, UNSURE), "proba")}
MIXED = tuple(("red", 2.5, False, label) for label in ("yes", "yes", "no", "no") * 2 + ("yes", "yes"))
PAIRS = DEEP["add-remove"]
CERTIFICATE = Ledger(1).certificate().to_dict()


def cells_of(data: PrivateDataset) -> dict[str, list[Any]]:
    """Around the wall: the records as a table that has the same codes, which scores and folds are made of."""
    engine: Any = data._engine
    columns = {}
    for attribute, row in zip(SCHEMA.attributes, engine._features, strict=True):
        values = SIZES if isinstance(attribute, Numeric) else attribute.values
        columns[attribute.name] = [values[code] for code in row]
    return columns | {SCHEMA.label.name: [SCHEMA.label.values[code] for code in engine._labels]}


def score_of(trees: Any, data: PrivateDataset, epsilon: Fraction) -> Any:
    model = Model("public", trees, {}, CERTIFICATE)
    return private_score(model, data, None, epsilon, held_out=True, bins=2)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_private_score_keeps_its_promise_tightly(name: str, neighbours: str) -> None:
    result = audit_learner(
        lambda data, epsilon: score_of(MODELS[name], data, epsilon),
        DEEP[neighbours],
        1,
        neighbours=neighbours,
        transcripts=3,
        complete=0,
    )
    assert result.verdict == "holds", result
    assert result.lower_bound == pytest.approx(1)


def exact_counts(data: PrivateDataset, cells: Any, count: int, epsilon: object, what: str) -> Any:
    data.ledger.charge(epsilon, what).redeem()
    return np.bincount(cells, minlength=count)


def one_count_too_many(data: PrivateDataset, cells: Any, count: int, epsilon: Any, what: str) -> Any:
    """Each record counted in its cell and in the one after, for the price of one."""
    twice = np.concatenate([cells, (cells + 1) % count])
    return scoring_noisy_cells(data, twice, count, epsilon, what)


scoring_noisy_cells = scoring.noisy_cells


@pytest.mark.parametrize(("fault", "loss"), [(exact_counts, math.inf), (one_count_too_many, 2.0)])
def test_a_score_that_breaks_it_is_caught(monkeypatch: Any, fault: Callable[..., Any], loss: float) -> None:
    monkeypatch.setattr(scoring, "noisy_cells", fault)
    result = audit_learner(lambda data, epsilon: score_of(SURE, data, epsilon), PAIRS, 1, transcripts=3)
    assert result.verdict == "violated"
    assert result.lower_bound == pytest.approx(loss)


# ---- units ----

TWO_ROWS = replace(SCHEMA, unit=Unit("who", 2))
OURS = ("red", 2.5, False, "no"), ("blue", 7.5, True, "yes")
OF_A_UNIT = [
    Pair("a unit of two rows", TWO_ROWS, (*((*row, i) for i, row in enumerate(OURS)), *((*OURS[1], 9),) * 2),
         tuple((*row, i) for i, row in enumerate(OURS)))
]  # fmt: skip


def score_by_unit(data: PrivateDataset, epsilon: Fraction) -> Any:
    return score_of(replace(SURE, schema=TWO_ROWS), data, epsilon)


def test_a_score_by_unit_keeps_its_promise_tightly() -> None:
    result = audit_learner(score_by_unit, OF_A_UNIT, 1, transcripts=4, complete=0)
    assert result.verdict == "holds", result
    assert result.lower_bound == pytest.approx(1)


def test_a_score_that_pays_by_the_row_is_caught(monkeypatch: Any) -> None:
    def by_the_row(data: PrivateDataset, cells: Any, count: int, epsilon: Any, what: str) -> Any:
        data.ledger.charge(epsilon, what).redeem()
        empty = {name: [] for name in (*SCHEMA.names, SCHEMA.label.name)}
        unbound = PrivateDataset(open_engine(empty, SCHEMA), Ledger(epsilon))
        return scoring_noisy_cells(unbound, cells, count, epsilon, what)

    monkeypatch.setattr(scoring, "noisy_cells", by_the_row)
    result = audit_learner(score_by_unit, OF_A_UNIT, 1, transcripts=4, complete=0)
    assert result.lower_bound == pytest.approx(2)


# ---- folds --------------------------------------------------------------------------------------------------------


def fold_models(cv: Any, data: PrivateDataset, epsilon: Fraction) -> list[Any]:
    """The leaves of all folds, each with a share of epsilon such that together they should cost it, as is booked."""
    data.ledger.charge(epsilon, "models of all folds")
    table = cells_of(data)
    labels = np.array(table["class"], dtype=object)
    share = epsilon / (cv.get_n_splits() - 1)
    released = []
    for train, _ in cv.split(np.zeros((labels.size, 1)), labels):
        part = {name: [column[i] for i in train] for name, column in table.items()}
        released.append(fit(Request(Mohammed2015(max_depth=0), part, share, SCHEMA, ledger=Ledger(share))).trees)
    return released


@pytest.mark.parametrize("n_splits", [2, 3])
def test_models_of_all_coin_folds_cost_one_less_than_there_are(n_splits: int) -> None:
    cv = CoinFold(n_splits)
    result = audit_learner(lambda data, epsilon: fold_models(cv, data, epsilon), PAIRS, 1, transcripts=4, complete=0)
    assert result.verdict == "holds", result
    assert result.lower_bound == pytest.approx(1)


@pytest.mark.parametrize(("cv", "table", "newcomer"), [(KFold(2), MIXED[:9], 2), (KFold(3), MIXED, 0)])
def test_folds_by_position_are_caught(cv: Any, table: Any, newcomer: int) -> None:
    pair = Pair("in pairs", SCHEMA, table, (MIXED[newcomer], *table))
    result = audit_learner(lambda data, epsilon: fold_models(cv, data, epsilon), [pair], 1, transcripts=4, complete=0)
    assert result.verdict == "violated"
    assert result.lower_bound >= 1.5


def test_the_same_table_split_by_coins_is_not() -> None:
    pair = Pair("in pairs", SCHEMA, MIXED, (MIXED[0], *MIXED))
    cv = CoinFold(3)
    result = audit_learner(lambda data, epsilon: fold_models(cv, data, epsilon), [pair], 1, transcripts=4, complete=0)
    assert result.verdict == "holds"


def test_folds_by_a_public_seed_are_caught() -> None:
    """As random as coins, but everybody knows what was tossed for which position."""

    class Seeded(CoinFold):
        def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
            thrown = np.random.default_rng(0).integers(0, self.n_splits, len(X))
            for side in range(self.n_splits):
                yield np.flatnonzero(thrown != side), np.flatnonzero(thrown == side)

    cv, pair = Seeded(2), Pair("in pairs", SCHEMA, MIXED, (MIXED[2], *MIXED))
    result = audit_learner(lambda data, epsilon: fold_models(cv, data, epsilon), [pair], 1, transcripts=4, complete=0)
    assert result.verdict == "violated"
