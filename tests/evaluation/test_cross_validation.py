"""The evaluation, against scikit-learn's own cross-validation and AUC."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.metrics import log_loss as sklearn_log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_score

import privet
from privet.datasets.clinic import clinic
from privet.errors import ParameterError, TableError
from privet.estimators.references import REFERENCES
from privet.evaluation.cross_validation import evaluate
from privet.evaluation.metrics import balanced_accuracy, log_loss, macro_auc
from privet.schema import Numeric, Schema
from privet.testing import ZeroNoise, use_noise

SCHEMA, TABLE = clinic(900, seed=4)


def test_folds_and_scores_are_those_of_scikit_learn() -> None:
    """Without noise a fit is a function of the records, so both ways must agree fold by fold."""
    classifier = privet.make_classifier("diffpc45", schema=SCHEMA, epsilon=5, max_depth=3)
    folds = StratifiedKFold(4, shuffle=True, random_state=7)
    names = [*SCHEMA.names]
    rows = np.array(list(zip(*(TABLE[name] for name in names), strict=True)), dtype=object)
    with use_noise(ZeroNoise()):
        expected = cross_val_score(classifier, rows, TABLE["class"], cv=folds)
        score = evaluate(SCHEMA, TABLE, [classifier], folds=4, seed=7, references=()).results[0]
    assert score.accuracy_mean == pytest.approx(expected.mean())
    assert score.accuracy_std == pytest.approx(expected.std())
    assert not score.private  # no noise, no promise
    assert (score.epsilon, score.delta, score.variant) == (5.0, 0.0, "sound")


def test_references_are_listed_separately() -> None:
    result = evaluate(SCHEMA, TABLE, [privet.make_classifier("sulq", epsilon=1)], folds=2, max_depth=3)
    assert [score.recipe for score in result.references] == ["majority", *REFERENCES]
    assert all(score.epsilon is None and not score.private for score in result.references)
    assert all(score.accuracy_mean > 0.7 for score in result.references[1:])
    majority = result.references[0]
    shares = np.unique(TABLE["class"], return_counts=True)[1] / 900
    assert majority.accuracy_mean == pytest.approx(shares.max(), abs=0.002)
    assert majority.balanced_accuracy_mean == pytest.approx(1 / len(shares))
    assert majority.auc_mean == 0.5
    assert majority.log_loss_mean == pytest.approx(-(shares * np.log(shares)).sum(), abs=0.01)
    assert result.results[0].private


def test_progress_counts_every_fit() -> None:
    told: list[tuple[int, int]] = []
    classifiers = [privet.make_classifier("diffpid3", epsilon=e, max_depth=1) for e in (1, 2)]
    evaluate(SCHEMA, TABLE, classifiers, folds=2, repeats=2, references=(), progress=lambda *at: told.append(at))
    assert told == [(done, 8) for done in range(1, 9)]


def test_records_of_unknown_label_are_left_out() -> None:
    labels = TABLE["class"].copy().astype(object)
    labels[::10] = "Cured"
    classifier = privet.make_classifier("diffpid3", epsilon=1, max_depth=1)
    result = evaluate(SCHEMA, TABLE | {"class": labels}, [classifier], folds=2, references=())
    assert 0 <= result.results[0].accuracy_mean <= 1


@pytest.mark.parametrize(("folds", "repeats"), [(1, 1), (2, 0), (True, 1), (2.5, 1)])
def test_folds_and_repeats_are_checked(folds: int, repeats: int) -> None:
    with pytest.raises(ParameterError, match="whole number of at least"):
        evaluate(SCHEMA, TABLE, [], folds=folds, repeats=repeats)


def test_too_few_records() -> None:
    few = {name: column[:5] for name, column in TABLE.items()}
    with pytest.raises(TableError, match="10 folds need 10 records"):
        evaluate(SCHEMA, few, [privet.make_classifier("sulq", epsilon=1)], folds=10)


def test_an_unknown_reference() -> None:
    with pytest.raises(ParameterError, match="unknown reference 'oracle'"):
        evaluate(SCHEMA, TABLE, [], references=["oracle"])


@given(st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_auc_is_that_of_scikit_learn(classes: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(classes), random.integers(classes, size=20)])
    proba = random.integers(1, 4, size=(len(truth), classes)).astype(float)  # few values: many ties
    proba /= proba.sum(axis=1, keepdims=True)
    if classes == 2:
        expected = roc_auc_score(truth, proba[:, 1])
    else:
        expected = roc_auc_score(truth, proba, multi_class="ovr", average="macro")
    assert macro_auc(truth, proba) == pytest.approx(expected)


def test_auc_of_one_class_is_undefined() -> None:
    assert macro_auc(np.zeros(3, dtype=int), np.full((3, 2), 0.5)) is None


@given(st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_log_loss_and_balanced_accuracy_are_those_of_scikit_learn(classes: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(classes), random.integers(classes, size=20)])
    proba = random.dirichlet(np.ones(classes), truth.size)
    predicted = random.integers(classes, size=truth.size)
    assert log_loss(truth, proba) == pytest.approx(sklearn_log_loss(truth, proba, labels=range(classes)))
    assert balanced_accuracy(truth, predicted) == pytest.approx(balanced_accuracy_score(truth, predicted))


def test_without_records_measures_are_undefined() -> None:
    nobody = np.zeros(0, dtype=int)
    assert log_loss(nobody, np.zeros((0, 2))) is None
    assert balanced_accuracy(nobody, nobody) is None


def test_what_was_ruled_out_and_happened_costs_a_finite_loss() -> None:
    assert log_loss(np.array([0]), np.array([[0.0, 1.0]])) == pytest.approx(6 * np.log(10))


# ---- stability ------------------------------------------------------------------------------------------------------


def test_without_noise_two_fits_are_one() -> None:
    tree = privet.make_classifier("diffpc45", epsilon=5, max_depth=3)
    with use_noise(ZeroNoise()):
        found = evaluate(SCHEMA, TABLE, [tree], folds=2, references=("majority",), stability=True)
    [score], [baseline] = found.results, found.references
    assert (score.agreement_mean, score.rules_alike_mean) == (1.0, 1.0)
    assert baseline.agreement_mean is None  # a reference is fitted once
    assert found.compared


def test_noise_makes_fits_differ() -> None:
    """At epsilon 1/1000 trees of depth 3 are drawn almost blindly: two of them alike in all 4 folds is next to
    impossible."""
    trees = [privet.make_classifier("exact", epsilon=e, max_depth=3) for e in (0.001, 100)]
    blind, clear = evaluate(SCHEMA, TABLE, trees, folds=4, references=(), stability=True).results
    assert blind.rules_alike_mean is not None
    assert clear.agreement_mean is not None
    assert blind.rules_alike_mean < 1
    assert clear.agreement_mean > 0.95


def test_additive_models_and_numbers_have_an_agreement_too() -> None:
    curves = privet.make_classifier("additive", epsilon=20)
    [score] = evaluate(SCHEMA, TABLE, [curves], folds=2, references=(), stability=True).results
    assert score.agreement_mean is not None
    facts = Schema((Numeric("x", 0, 1),), Numeric("y", 0, 1))
    x = np.linspace(0, 1, 4000)
    line = privet.make_classifier("additive-regression", epsilon=20)
    [number] = evaluate(facts, {"x": x, "y": x}, [line], folds=2, references=(), stability=True).results
    assert number.agreement_mean is not None
    assert number.agreement_mean > 0.9


def test_fits_are_compared_only_if_asked() -> None:
    found = evaluate(SCHEMA, TABLE, [privet.make_classifier("sulq", epsilon=1)], folds=2, references=())
    assert not found.compared
    assert found.results[0].rules_alike_mean is None
