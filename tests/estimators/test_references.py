"""Non-private references as classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from privet.errors import ParameterError
from privet.estimators.references import REFERENCES, SklearnTreeReference, binary_columns
from privet.models.validation import check_tree
from privet.privacy.budget import INFINITY
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import Codes, encode

every = pytest.mark.parametrize("name", REFERENCES)


def test_names() -> None:
    assert list(REFERENCES) == ["id3", "c45", "sklearn-tree"]


@every
def test_the_certificate_says_not_private(name: str, clinic_schema: Schema, table: dict[str, Any]) -> None:
    fitted = REFERENCES[name](clinic_schema, 3).fit(table, table["ill"])  # type: ignore[call-arg]
    certificate = fitted.certificate_
    assert certificate.epsilon == INFINITY
    assert not certificate.private
    assert certificate.definition == "not differentially private"
    assert "non-private reference" in str(certificate)
    assert fitted.model_.notes
    check_tree(fitted.tree_)
    assert fitted.tree_.depth <= 3
    assert fitted.tree_.counts[0].sum() == len(table["ill"])


@every
def test_counts_are_exact_in_every_node(name: str, clinic_schema: Schema, table: dict[str, Any]) -> None:
    fitted = REFERENCES[name](clinic_schema).fit(table, table["ill"])  # type: ignore[call-arg]
    tree, codes = fitted.tree_, encode(fitted.schema_, table)
    leaves = tree.apply(codes.features)
    for leaf in np.flatnonzero(tree.is_leaf):
        expected = np.bincount(codes.labels[leaves == leaf], minlength=2)
        assert tree.counts[leaf] == pytest.approx(expected)  # what C4.5's pruning adds up is exact but for rounding


@every
def test_more_depth_fits_better(name: str, clinic_schema: Schema, table: dict[str, Any]) -> None:
    scores = [REFERENCES[name](clinic_schema, depth).fit(table, table["ill"]).score(table, table["ill"])
              for depth in (0, 2)]  # type: ignore[call-arg]  # fmt: skip
    assert scores[0] == pytest.approx(max(np.mean(table["ill"] == "yes"), np.mean(table["ill"] == "no")))
    assert scores[0] < scores[1]


@every
def test_an_empty_table_and_one_without_tests(name: str, clinic_schema: Schema) -> None:
    empty = {name: [] for name in clinic_schema.names}
    fitted = REFERENCES[name](clinic_schema).fit(empty, [])  # type: ignore[call-arg]
    assert fitted.predict_proba({"age": [3], "town": ["a"], "smokes": [True]}).tolist() == [[0.5, 0.5]]
    flat = Schema((Categorical("one", ("x",)),), clinic_schema.label)
    assert REFERENCES[name](flat).fit({"one": ["x"] * 3}, ["no"] * 3).predict({"one": ["x"]}).tolist() == ["no"]  # type: ignore[call-arg]


@every
@pytest.mark.parametrize("params", [{"max_bins": 1}, {"schema": None}])
def test_wrong_parameters(name: str, params: dict[str, Any], clinic_schema: Schema, table: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        REFERENCES[name](**{"schema": clinic_schema} | params).fit(table, table["ill"])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("labels", [2, 4])
def test_translated_scikit_learn_predicts_as_the_original(seed: int, labels: int) -> None:
    """On records never seen too, for thresholds lie between the codes that were."""
    schema = Schema(
        (Numeric("x", 0, 30, bins=30), Categorical("t", tuple("abcde")), Categorical("s", ("f", "m")),
         Numeric("z", 0, 9, bins=9, missing="?")),
        Categorical("class", tuple(range(labels))),
    )  # fmt: skip
    rng = np.random.default_rng(seed)

    def draw(n: int) -> np.ndarray:
        return np.array([rng.integers(0, arity, n) for arity in schema.arities], dtype=np.uint8)

    train, test = draw(300), draw(2000)
    y = rng.integers(1, labels, 300).astype(np.uint8)  # class 0 is never seen
    columns, names = binary_columns(schema, train)
    assert columns.shape == (300, 1 + 5 + 1 + 1) == (300, len(names))
    tree = SklearnTreeReference(random_state=seed).grow(schema, Codes(train, y))
    check_tree(tree)
    original = DecisionTreeClassifier(random_state=seed).fit(columns, y)
    for features in (train, test):
        seen = binary_columns(schema, features)[0]
        assert np.allclose(tree.predict_proba(features)[:, original.classes_], original.predict_proba(seen))
        assert np.array_equal(tree.predict(features), original.predict(seen))
