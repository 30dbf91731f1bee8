"""Shared budgets: searches spend them, refuse past them, and every certificate speaks for its own fit."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from privet.errors import BudgetExceeded, PrivacyError
from privet.estimators.classifiers import SuLQTreeClassifier
from privet.estimators.registry import CLASSIFIERS
from privet.privacy.ledger import Ledger
from privet.recipes.papers.sulq import SuLQ
from privet.schema import Schema

Make = Callable[..., Any]
SOUND = [name for name, classifier in CLASSIFIERS.items() if "sound" in classifier.recipe_class.info.variants]
every = pytest.mark.parametrize("name", SOUND)
some = pytest.mark.parametrize("name", ["sulq", "exact", "random-forest"])  # the search is scikit-learn's own


@every
def test_without_a_ledger_each_fit_has_its_own(
    make: Make, name: str, clinic_schema: Schema, table: dict[str, Any]
) -> None:
    tree = make(name, schema=clinic_schema, epsilon=0.3, max_depth=2)
    for _ in range(2):
        certificate = tree.fit(table, table["ill"]).certificate_
        assert certificate.private
        assert isinstance(certificate.epsilon, Fraction)
        assert certificate.epsilon <= Fraction(3, 10)
        assert certificate.epsilon == sum(charge.adds for charge in certificate.charges)


@every
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_certificate_covers_its_own_fit_only(
    make: Make, name: str, neighbours: str, clinic_schema: Schema, table: dict[str, Any]
) -> None:
    ledger = Ledger(2, neighbours=neighbours)
    ledger.charge(Fraction(1, 2), "somebody else's count")
    params = {"schema": clinic_schema, "ledger": ledger, "neighbours": neighbours, "max_depth": 1}
    one = make(name, epsilon=0.25, **params).fit(table, table["ill"]).certificate_
    two = make(name, epsilon=0.5, **params).fit(table, table["ill"]).certificate_
    for certificate in (one, two):
        assert certificate.private
        assert certificate.neighbours.value == neighbours
        assert not any("somebody" in charge.what for charge in certificate.charges)
    assert one.epsilon <= Fraction(1, 4)
    assert two.epsilon <= Fraction(1, 2)
    assert ledger.spent == Fraction(1, 2) + one.epsilon + two.epsilon
    assert ledger.certificate().epsilon == ledger.spent


@every
def test_past_the_budget_nothing_is_fitted_or_charged(
    make: Make, name: str, clinic_schema: Schema, table: dict[str, Any]
) -> None:
    ledger = Ledger(1)
    tree = make(name, schema=clinic_schema, epsilon=1.5, ledger=ledger)
    with pytest.raises(BudgetExceeded) as refusal:
        tree.fit(table, table["ill"])
    assert refusal.value.requested == Fraction(3, 2)
    assert ledger.spent == 0
    assert not hasattr(tree, "model_")


@every
def test_clone_shares_the_ledger(make: Make, name: str) -> None:
    ledger = Ledger(1)
    assert clone(make(name, ledger=ledger)).ledger is ledger


@some
def test_a_cross_validation_spends_every_fold(
    make: Make, name: str, clinic_schema: Schema, table: dict[str, Any]
) -> None:
    ledger = Ledger(10)
    tree = make(name, schema=clinic_schema, epsilon=Fraction(1, 3), ledger=ledger, max_depth=1)
    scores = cross_val_score(tree, pd.DataFrame(table), table["ill"], cv=5, error_score="raise")
    assert len(scores) == 5
    assert 0 < ledger.spent <= Fraction(5, 3)
    assert sum(charge.adds for charge in ledger.certificate().charges) == ledger.spent


def _grid(name: str, size: int) -> dict[str, list[Any]]:
    return (
        {"class_weight": [None, {"yes": 0.5}, {"no": 0.5}][:size]}
        if name == "additive"
        else {"max_bins": [2, 3, 4][:size]}
    )


@some
def test_a_search_refuses_when_the_budget_is_spent(
    make: Make, name: str, clinic_schema: Schema, table: dict[str, Any]
) -> None:
    ledger = Ledger(1)
    tree = make(name, schema=clinic_schema, epsilon=0.3, ledger=ledger)
    search = GridSearchCV(tree, _grid(name, 3), cv=3, error_score="raise")
    with pytest.raises(BudgetExceeded):
        search.fit(pd.DataFrame(table), table["ill"])
    assert 0 < ledger.spent <= 1
    # Without "raise" scikit-learn takes a refusal for a score of NaN and goes on; the budget holds all the same.
    spent = ledger.spent
    with pytest.raises(ValueError, match="All the 9 fits failed"):
        GridSearchCV(tree, _grid(name, 3), cv=3).fit(pd.DataFrame(table), table["ill"])
    assert ledger.spent == spent


@some
def test_a_search_within_its_budget(make: Make, name: str, clinic_schema: Schema, table: dict[str, Any]) -> None:
    ledger = Ledger(3)
    tree = make(name, schema=clinic_schema, epsilon=0.4, ledger=ledger)
    search = GridSearchCV(tree, _grid(name, 2), cv=3, error_score="raise").fit(pd.DataFrame(table), table["ill"])
    assert ledger.spent <= 7 * Fraction(2, 5)  # six folds and the last fit on everything
    assert search.best_estimator_.certificate_.epsilon <= Fraction(2, 5)


def test_a_search_in_processes_needs_a_journal(
    make: Make, clinic_schema: Schema, table: dict[str, Any], tmp_path: Any
) -> None:
    frame = pd.DataFrame(table)
    tree = make("diffpid3", schema=clinic_schema, epsilon=0.25, max_depth=1, ledger=Ledger(5))
    with pytest.raises(Exception) as error:
        cross_val_score(tree, frame, table["ill"], cv=2, n_jobs=2, error_score="raise")
    assert "give it journal=path" in "".join(traceback.format_exception(error.value))
    ledger = Ledger(5, journal=tmp_path / "budget")
    tree.set_params(ledger=ledger)
    cross_val_score(tree, frame, table["ill"], cv=2, n_jobs=2, error_score="raise")
    assert ledger.spent == Fraction(1, 2)


def test_an_unsound_variant_is_refused_on_a_shared_ledger(clinic_schema: Schema, table: dict[str, Any]) -> None:
    class Leaky(SuLQ):
        unsound = {"as-published": "it is made up for this test"}  # noqa: RUF012

    class LeakyClassifier(SuLQTreeClassifier):
        recipe_class = Leaky

        def __init__(self, schema=None, epsilon=1.0, max_depth=5, *, max_bins=10, variant="sound",
                     neighbours="add-remove", ledger=None, random_state=None):  # type: ignore[no-untyped-def]  # fmt: skip
            super().__init__(schema, epsilon, max_depth, max_bins=max_bins, variant=variant, neighbours=neighbours,
                             ledger=ledger, random_state=random_state)  # fmt: skip

    shared = Ledger(5)
    with pytest.raises(PrivacyError, match="sound"):
        LeakyClassifier(clinic_schema, variant="as-published", ledger=shared).fit(table, table["ill"])
    assert shared.spent == 0
    assert shared.certificate().private
    alone = LeakyClassifier(clinic_schema, variant="as-published").fit(table, table["ill"])
    assert not alone.certificate_.private
    assert LeakyClassifier(clinic_schema, ledger=shared).fit(table, table["ill"]).certificate_.private
