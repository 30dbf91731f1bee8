"""Names of scikit-learn that privet does not have are answered with what it has, wherever they are typed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import has_fit_parameter

import privet
from privet.errors import ParameterError
from privet.estimators.references import REFERENCES
from privet.estimators.registry import CLASSIFIERS
from privet.recipes.unoffered import ATTRIBUTES, FIT_ARGUMENTS, PARAMETERS, UnknownArgument
from privet.schema import Schema
from privet.tables.encoding import encode_features

EXACT, FOREST = privet.ExactTreeClassifier, privet.PrivateForestClassifier
every = pytest.mark.parametrize("kind", [*CLASSIFIERS.values(), *REFERENCES.values()])


@pytest.mark.parametrize(
    ("make", "answer"),
    [
        (lambda: FOREST(trees=100), "'trees'; use n_estimators"),
        (lambda: EXACT(n_estimators=100), "'random-forest' takes n_estimators"),
        (lambda: EXACT(class_weights={}), "use class_weight"),
        (lambda: FOREST(class_weight="balanced"), "exact and additive take class_weight"),
        (lambda: EXACT(criterion="gini"), "its score is part of the recipe"),
        (lambda: FOREST(max_leaf_nodes=8), "use max_leaves"),
        (lambda: EXACT(min_samples_leaf=8), "limit max_depth"),
        (
            lambda: EXACT().set_params(max_dept=3),
            r"did you mean 'max_depth'\? It takes\n  attribute_prior, class_weight",
        ),
        (lambda: EXACT(nosuch=3), "has no parameter 'nosuch'; it takes\n  attribute_prior"),
        (lambda: privet.make_classifier("sulq", seed=1), "use random_state"),
        (lambda: privet.PrivateSearch(EXACT(), settings={}), "use param_grid"),
        (lambda: REFERENCES["id3"](n_jobs=2), "count in one thread"),
    ],
)
def test_parameters(make: Callable[[], Any], answer: str) -> None:
    for kind in (TypeError, ParameterError):  # Python's own word for it, and privet's
        with pytest.raises(kind, match=answer):
            make()


@every
def test_every_classifier_answers(kind: Any, clinic_schema: Schema, table: dict[str, Any]) -> None:
    classifier = kind(schema=clinic_schema)
    with pytest.raises(UnknownArgument, match="has no parameter 'n_trees'"):
        kind(n_trees=3)
    with pytest.raises(ParameterError, match="fit takes no sample_weight; every record counts once"):
        classifier.fit(table, sample_weight=np.ones(3))
    assert not has_fit_parameter(classifier, "sample_weight")  # for scikit-learn's wrappers, which would hand them on
    with pytest.raises(AttributeError, match=r"predict_log_proba: take numpy.log"):
        classifier.predict_log_proba  # noqa: B018
    assert not hasattr(classifier, "decision_path")
    assert type(clone(classifier)) is type(pickle.loads(pickle.dumps(classifier))) is kind


def test_nothing_is_charged_for_an_argument_that_is_not_there(clinic_schema: Schema, table: dict[str, Any]) -> None:
    ledger = privet.Ledger(1)
    for fit in (EXACT(clinic_schema, ledger=ledger).fit, privet.PrivateSearch(EXACT(clinic_schema), {}).fit):
        with pytest.raises(TypeError, match="fit takes no groups; whose rows are whose is a public fact"):
            fit(table, groups=table["age"])
        with pytest.raises(TypeError, match="fit takes no colour; it takes X and y"):
            fit(table, colour=None)
    assert ledger.spent == 0
    EXACT(clinic_schema, ledger=ledger).fit(table, sample_weight=None)  # what wrappers hand on for nothing
    assert ledger.spent == 1


def test_what_a_property_raises_comes_through(clinic_schema: Schema, table: dict[str, Any]) -> None:
    """A class with ``__getattr__`` could lose it: Python asks there after a property failed."""
    tree = privet.papers.DiffPID3Classifier(clinic_schema)
    with pytest.raises(NotFittedError):
        tree.tree_  # noqa: B018
    with pytest.raises(AttributeError, match="'DiffPID3Classifier' object has no attribute 'nosuch'"):
        tree.nosuch  # noqa: B018
    model = privet.AdditiveClassifier(clinic_schema).fit(table)
    with pytest.raises(AttributeError, match="this model is a sum and has no tree"):
        model.tree_  # noqa: B018
    assert model.decision_function(table).shape == (len(table["age"]),)  # in the table of answers for trees only


def test_the_answers_are_true() -> None:
    """What they name exists, and nobody is sent away from what a classifier has."""
    classifiers = {name: set(kind()._get_param_names()) for name, kind in CLASSIFIERS.items()}
    search = set(privet.PrivateSearch._get_param_names())
    offered = search.union(*classifiers.values())
    for name, answer in PARAMETERS.items():
        assert set(answer.same) <= offered, name
        assert answer.same or answer.otherwise, name
    assert {"class_weight"} <= classifiers["exact"] & classifiers["additive"]
    assert all("criterion" in classifiers[name] for name in ("diffpid3", "diffpc45", "mohammed2015"))
    assert all("prune" in classifiers[name] for name in ("diffpc45", "greedy-forest", "random-forest"))
    assert "n_estimators" in classifiers["random-forest"]
    assert not any(hasattr(EXACT, name) for name in ATTRIBUTES)
    assert not {"X", "y", "progress"} & set(FIT_ARGUMENTS)


def test_leaves_by_the_way_that_is_offered(clinic_schema: Schema, table: dict[str, Any]) -> None:
    tree = privet.papers.DiffPID3Classifier(clinic_schema, epsilon=10).fit(table)
    leaves = tree.tree_.apply(encode_features(tree.schema_, table))  # as the answer to `apply` says
    assert tree.tree_.is_leaf[leaves].all()


def test_the_error_pickles() -> None:
    error = UnknownArgument("ExactTreeClassifier", "n_trees", ["n_estimators"], {"n_estimators": "--set n_estimators"})
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.parameter, again.fix) == (str(error), "n_trees", "use --set n_estimators")
