"""A private score: what it measures, what it costs, what it says about itself, and what it refuses."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import privet
from privet import BudgetExceeded, Ledger, ParameterError, PrivacyError, private_score
from privet.audit.zoo import wide_schema
from privet.datasets.clinic import clinic
from privet.estimators.references import REFERENCES
from privet.evaluation.predictions import predicted_cells
from privet.evaluation.private_result import PrivateScore
from privet.models.model import Model
from privet.schema import Categorical, Schema
from privet.structure.splits import Multiway
from privet.tables.encoding import encode
from privet.testing import ZeroNoise, use_noise

SCHEMA, TABLE = clinic(2000, seed=2)
TRUTH = np.asarray(TABLE["class"])


@pytest.fixture(scope="module")
def tree() -> Any:
    return privet.papers.DiffPID3Classifier(SCHEMA, epsilon=4, max_depth=3).fit(TABLE)


@pytest.fixture(scope="module")
def forest() -> Any:
    return privet.PrivateForestClassifier(SCHEMA, epsilon=4, random_state=0).fit(TABLE)


def exactly(model: Any, table: Any = TABLE, y: Any = None, **more: Any) -> PrivateScore:
    """Without noise: then a score must be what scikit-learn says, up to the bins."""
    with use_noise(ZeroNoise()):
        return private_score(model, table, y, 1, **more)


# ---- what it measures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["tree", "forest"])
def test_without_noise_it_is_what_scikit_learn_says(model: str, request: Any) -> None:
    fitted = request.getfixturevalue(model)
    score, predicted, labels = exactly(fitted), fitted.predict(TABLE), list(SCHEMA.label.values)
    assert (score.confusion == metrics.confusion_matrix(TRUTH, predicted, labels=labels)).all()
    assert score.accuracy.value == pytest.approx(metrics.accuracy_score(TRUTH, predicted))
    assert score.balanced_accuracy.value == pytest.approx(metrics.balanced_accuracy_score(TRUTH, predicted))
    found = metrics.precision_recall_fscore_support(TRUTH, predicted, labels=labels, zero_division=np.nan)
    for name, values in zip(("precision", "recall", "f1"), found, strict=False):
        assert [e.value for e in getattr(score, name).values()] == pytest.approx(values, nan_ok=True)
    assert score.macro_f1.value == pytest.approx(metrics.f1_score(TRUTH, predicted, average="macro"))
    assert score.macro_recall == score.balanced_accuracy
    for label, beta in ((labels[0], 0.5), (labels[1], 2)):
        wanted = metrics.fbeta_score(TRUTH, predicted, beta=beta, pos_label=label)
        assert score.f_beta(label, beta).value == pytest.approx(wanted)


def test_scores_of_a_graded_model_are_those_of_its_bins(forest: Any) -> None:
    score = exactly(forest, bins=50)
    positive = forest.predict_proba(TABLE)[:, list(forest.classes_).index(SCHEMA.label.values[1])]
    truth = SCHEMA.label.values[1] == TRUTH
    assert score.auc is not None
    assert score.log_loss is not None
    assert score.auc.value == pytest.approx(metrics.roc_auc_score(truth, positive), abs=0.01)
    assert score.log_loss.value == pytest.approx(metrics.log_loss(truth, positive), abs=0.01)
    sure = np.maximum(positive, 1 - positive)
    right = (positive >= 0.5) == truth
    for low, high, share in exactly(forest, bins=3).reliability:
        mine = (sure >= low) & (sure < high)
        assert math.isnan(share.value) or share.value == pytest.approx(right[mine].mean(), abs=0.01)


def test_a_model_without_grades_has_a_confusion_matrix_alone() -> None:
    stump = privet.ExactTreeClassifier(SCHEMA, epsilon=2, max_depth=1).fit(TABLE)
    sure = Model("sure", stump.tree_.__class__.build(stump.schema_, [None], [-1], [0]), {}, stump.model_.certificate)
    assert not sure.trees.graded
    score = exactly(sure, held_out=True)
    assert (score.bins, score.auc, score.log_loss, score.reliability) == (1, None, None, ())


def test_more_than_two_classes() -> None:
    schema = wide_schema()
    table = {a.name: [0] * 30 for a in schema.attributes} | {"class": list(schema.label.values) * 10}
    score = exactly(privet.papers.DiffPID3Classifier(schema, epsilon=1, max_depth=1).fit(table), table)
    assert score.confusion.shape == (3, 3)
    assert (score.auc, score.log_loss, len(score.reliability)) == (None, None, 5)
    assert score.accuracy.value == pytest.approx(1 / 3)


def test_a_records_cell_is_its_own(forest: Any) -> None:
    """Alone, among others or in another order: the same cell, to the last bit of its confidence."""
    codes = encode(forest.schema_, TABLE)
    cells = predicted_cells(forest.model_.trees, codes, 50)
    for i in (0, 7, 1999):
        alone = encode(forest.schema_, {name: [column[i]] for name, column in TABLE.items()})
        assert predicted_cells(forest.model_.trees, alone, 50).tolist() == [cells[i]]
    back = encode(forest.schema_, {name: column[::-1] for name, column in TABLE.items()})
    assert (predicted_cells(forest.model_.trees, back, 50) == cells[::-1]).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_tables_of_any_kind(tree: Any, frame: Any) -> None:
    features = {name: TABLE[name] for name in SCHEMA.names}
    assert (exactly(tree, frame(features), TABLE["class"]).confusion == exactly(tree).confusion).all()


def test_records_of_unknown_label_are_left_out(tree: Any) -> None:
    labels = ["?"] * 500 + list(TABLE["class"][500:])
    assert exactly(tree, TABLE, labels).confusion.sum() == 1500
    assert exactly(tree, {name: [] for name in TABLE}).confusion.sum() == 0


# ---- what it costs, and says --------------------------------------------------------------------------------------


def test_one_charge_buys_all_of_it(forest: Any) -> None:
    ledger = Ledger(1)
    score = private_score(forest, TABLE, None, Fraction(1, 4), ledger, held_out=False)
    str(score), score.to_dict(), score.auc, score.reliability, score.f1
    assert ledger.spent == score.certificate.epsilon == Fraction(1, 4)
    (charge,) = ledger.certificate().charges
    assert (charge.what, charge.mechanism, charge.scale) == ("private score", "discrete Laplace", 4)
    assert score.scale == 4
    with pytest.raises(BudgetExceeded):
        private_score(forest, TABLE, None, 1, ledger)
    assert ledger.spent == Fraction(1, 4)


def test_replace_one_costs_twice_the_noise(tree: Any) -> None:
    ledger = Ledger(1, neighbours="replace-one")
    score = private_score(tree, TABLE, None, 0.5, ledger)
    assert score.scale == ledger.certificate().charges[0].scale == 4


@pytest.mark.parametrize(("held_out", "word"), [(True, "none of"), (False, "trained the model:"), (None, "not stated")])
def test_the_certificate_says_whose_records_they_are(tree: Any, held_out: bool | None, word: str) -> None:
    ledger = Ledger(1)
    score = private_score(tree, TABLE, None, 0.5, ledger, held_out=held_out)
    assert word in str(score.certificate)
    assert word in str(score)
    assert score.certificate.private
    assert not any(word in caveat.text for caveat in ledger.certificate().caveats), "it is about the score alone"


def test_one_ledger_is_bound_to_the_data_set(tree: Any) -> None:
    """The derived table has another schema; the ledger hears of the real one only."""
    ledger = Ledger(2)
    privet.protect(TABLE, SCHEMA, ledger)
    before = ledger.certificate().caveats
    private_score(tree, TABLE, None, 0.5, ledger)
    assert ledger.certificate().caveats == before
    other = Ledger(1, dataset="somebody else's")
    with pytest.raises(ParameterError, match="somebody else's"):
        private_score(tree, TABLE, None, 0.5, other)


def test_a_model_that_is_not_private_is_scored_on_other_records_only() -> None:
    reference = REFERENCES["c45"](SCHEMA, 2).fit(TABLE)
    with pytest.raises(PrivacyError, match="held_out=True"):
        private_score(reference, TABLE, None, 1)
    score = private_score(reference, TABLE, None, 1, held_out=True)
    assert score.certificate.private
    assert "not for those that trained it" in str(score.certificate)


def test_json_is_plain(forest: Any) -> None:
    import json

    told = json.loads(json.dumps(private_score(forest, TABLE, None, 1).to_dict()))
    assert told["accuracy"].keys() == {"value", "low", "high"}
    assert {"confusion", "auc", "log_loss", "reliability", "certificate", "held_out"} <= told.keys()
    assert len(told["reliability"]) == 5


def test_a_protected_data_set_has_the_score_of_its_table(tree: Any, forest: Any, tmp_path: Any) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "table.csv", index=False)
    sources = (TABLE, tmp_path / "table.csv")  # counted in memory, and in chunks
    for model in (tree, forest):
        wanted = exactly(model)
        for source in sources:
            data = privet.protect(source, SCHEMA, Ledger(2))
            assert exactly(model, data).counts == wanted.counts == exactly(model, source).counts
            assert data.ledger.spent == 1


def test_a_part_of_a_data_set_is_scored_by_itself(tree: Any) -> None:
    data = privet.protect(TABLE, tree.schema_, Ledger(1))
    gender = next(i for i, a in enumerate(SCHEMA.attributes) if isinstance(a, Categorical))
    parts = [exactly(tree, part) for part in data.partition(Multiway(gender))]
    assert sum(part.confusion for part in parts).tolist() == exactly(tree).confusion.tolist()
    assert data.ledger.spent == 1  # a record is in one part


def test_what_contradicts_a_protected_data_set_is_refused(tree: Any) -> None:
    data = privet.protect(TABLE, SCHEMA, Ledger(1))
    with pytest.raises(ParameterError, match="leave ledger out"):
        private_score(tree, data, None, 1, Ledger(1))
    with pytest.raises(ParameterError, match="leave y out"):
        private_score(tree, data, TRUTH, 1)
    other = privet.protect(TABLE, Schema(SCHEMA.attributes[1:], SCHEMA.label), Ledger(1))
    with pytest.raises(ParameterError, match="another schema than the model's"):
        private_score(tree, other, None, 1)
    assert data.ledger.spent == other.ledger.spent == 0


# ---- what it refuses ----------------------------------------------------------------------------------------------


def test_refusals_come_before_the_charge(tree: Any, forest: Any) -> None:
    ledger = Ledger(1)

    def refused(match: str, model: Any = tree, table: Any = TABLE, error: Any = ParameterError, **more: Any) -> None:
        with pytest.raises(error, match=match):
            private_score(model, table, None, more.pop("epsilon", 1), more.pop("ledger", ledger), **more)

    refused("pipeline", make_pipeline(FunctionTransformer(), tree))
    refused("fitted", privet.papers.DiffPID3Classifier(SCHEMA))
    refused("protected", table=privet.protect(TABLE, SCHEMA, Ledger(1)))
    refused("held_out", held_out="yes")
    refused("bins", forest, bins=0)
    refused("greater than 0", epsilon=0, error=privet.EpsilonError)
    refused("ledger must be", ledger=1)
    refused("lacks", table={"age": [1]}, error=privet.TableError)
    assert ledger.spent == 0


@pytest.mark.parametrize(("classes", "bins", "match"), [(90, 9, "from 1 to 8"), (300, 1, "of 300 classes")])
def test_many_classes(classes: int, bins: int, match: str) -> None:
    schema = Schema((Categorical("x", (0, 1)),), Categorical("y", tuple(range(classes))))
    table = {"x": [0] * classes, "y": list(range(classes))}
    tree = privet.papers.DiffPID3Classifier(schema, epsilon=1, max_depth=0).fit(table)
    if bins > 1:
        assert exactly(tree, table).confusion.shape == (classes, classes)
    with pytest.raises(ParameterError, match=match):
        private_score(tree, table, None, 1, bins=bins)
