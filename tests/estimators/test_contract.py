"""scikit-learn's own checks.

The documented testing mode: ``schema="infer"`` (the checks bring tables without a schema), a large epsilon and
``ZeroNoise`` (the checks expect accuracy and repeatable fits, so coins fall alike too). None of it is private, and the
certificate says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_classifiers_train, estimator_checks_generator

from privet.estimators.references import REFERENCES
from privet.estimators.registry import CLASSIFIERS, REGRESSORS
from privet.testing import ZeroNoise, use_noise

# The checks bring 20 to 300 records with two or more attributes and want 83 % of them right.
NEEDS: dict[str, dict[str, Any]] = {
    "exact": {"max_depth": 2},  # time
    "greedy-forest": {"min_records": 1},
    "jagannathan2012": {"max_depth": 6, "n_estimators": 20},  # half of two attributes is one test
    "patil-singh2014": {"n_estimators": 3},  # time
    "rana2016": {"variant": "as-published", "n_estimators": 5},  # it refuses to be fitted by accident
    "smooth-forest": {"n_estimators": 10, "max_depth": 6},  # a hundred trees would have three records each
}
PRIVATE: dict[str, Any] = {
    name: classifier(schema="infer", epsilon=10**6, **NEEDS.get(name, {}))  # type: ignore[call-arg]
    for name, classifier in CLASSIFIERS.items()
}
ESTIMATORS = [*PRIVATE.values(), *(reference(schema="infer") for reference in REFERENCES.values())]
# All faces share one base class. These are a tree, a sum, a forest, one for two classes only, and a reference.
CHECKED = [*(PRIVATE[name] for name in ("exact", "additive", "random-forest", "rana2016")), ESTIMATORS[-1]]
CHECKED += [kind(schema="infer", epsilon=10**6) for kind in REGRESSORS.values()]  # type: ignore[call-arg]
IMPOSSIBLE = {"check_class_weight_classifiers"}  # it wants weights above 1, by which a record would count many times
if sklearn.__version__.startswith("1.6."):  # there it subtracts a mean in place from whole numbers, which numpy refuses
    IMPOSSIBLE |= {"check_positive_only_tag_during_fit"}


def checks() -> list[tuple[Any, Callable[[Any], None]]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = [pair for estimator in CHECKED for pair in estimator_checks_generator(estimator)]
    return [(estimator, check) for estimator, check in pairs if identity(check) not in IMPOSSIBLE]


def identity(value: Any) -> str:
    return type(value).__name__ if hasattr(value, "get_params") else getattr(value, "func", value).__name__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), checks(), ids=identity)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    with use_noise(ZeroNoise(same_coins=True)):
        check(estimator)


def test_the_checks_can_fail() -> None:
    class Forgetful(CLASSIFIERS["diffpid3"]):  # type: ignore[misc,name-defined]
        def predict(self, X: Any) -> np.ndarray:
            return np.zeros(len(X))

    with use_noise(ZeroNoise()), pytest.raises(AssertionError):
        check_classifiers_train("Forgetful", Forgetful(schema="infer", epsilon=10**6))
    with use_noise(ZeroNoise()):
        check_classifiers_train("DiffPID3", clone(PRIVATE["diffpid3"]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=identity)
def test_every_classifier_learns_two_blobs(estimator: Any) -> None:
    """The smoke test of the others, with noise as it is: labels in any order, probabilities, what must be refused."""
    rng = np.random.default_rng(0)
    centres, labels = np.array([[0.0, 0.0], [4.0, 4.0]]), np.array(["two", "one"])
    y = rng.integers(0, 2, 300)
    X = centres[y] + rng.normal(0, 0.5, (300, 2))
    fitted = clone(estimator).fit(X, labels[y])
    assert fitted.n_features_in_ == 2
    assert fitted.classes_.tolist() == ["one", "two"]
    assert (fitted.predict(X) == labels[y]).mean() > 0.83  # what scikit-learn's own checks want
    shares = fitted.predict_proba(X)
    assert np.allclose(shares.sum(axis=1), 1)
    with pytest.raises(ValueError, match="features"):
        fitted.predict(X[:, :1])
    with pytest.raises(NotFittedError):
        clone(estimator).predict(X)


@pytest.mark.filterwarnings("ignore::privet.PrivacyWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=identity)
def test_the_testing_mode_is_not_private(estimator: Any) -> None:
    rng = np.random.default_rng(0)
    with use_noise(ZeroNoise()):
        fitted = clone(estimator).fit(rng.random((50, 2)), rng.integers(0, 2, 50))
    assert not fitted.certificate_.private
    assert "NOT differentially private" in str(fitted.certificate_)


@pytest.mark.filterwarnings("ignore::privet.PrivacyWarning")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_inferring_the_schema_is_not_private_even_with_real_noise(name: str) -> None:
    rng = np.random.default_rng(0)
    fitted = clone(PRIVATE[name]).set_params(epsilon=1).fit(rng.random((50, 2)), rng.integers(0, 2, 50))
    assert not fitted.certificate_.private
    assert any("read off the private table" in caveat.text for caveat in fitted.certificate_.caveats)
