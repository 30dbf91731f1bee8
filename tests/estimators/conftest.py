"""A small table that everything here is fitted on, and a way to make an instance of any classifier for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from privet.estimators.references import REFERENCES
from privet.estimators.registry import CLASSIFIERS
from privet.schema import Categorical, Numeric, Schema

# What a classifier needs beside a schema: to fit at all, to fit soon, or to have enough records in a tree.
NEEDS: dict[str, dict[str, Any]] = {
    "exact": {"max_depth": 2},
    "patil-singh2014": {"n_estimators": 3},
    "rana2016": {"variant": "as-published", "n_estimators": 3},  # it refuses to be fitted by accident
    "smooth-forest": {"n_estimators": 10},
}


@pytest.fixture(scope="session")
def make() -> Callable[..., Any]:
    """``make(name, **params)``: an instance that can be fitted. Parameters that the classifier lacks are left out."""

    def instance(name: str, **params: Any) -> Any:
        kind: Any = {**CLASSIFIERS, **REFERENCES}[name]
        known = kind().get_params()
        wanted = {"random_state": 0} | NEEDS.get(name, {}) | params
        return kind(**{key: value for key, value in wanted.items() if key in known})

    return instance


@pytest.fixture(scope="session")
def clinic_schema() -> Schema:
    # Labels not in sorted order on purpose: scikit-learn's order is another.
    return Schema(
        (Numeric("age", 0, 100), Categorical("town", ("a", "b", "c")), Categorical("smokes", (False, True))),
        Categorical("ill", ("yes", "no")),
    )


@pytest.fixture(scope="session")
def table(clinic_schema: Schema) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    n = 1500
    age, town, smokes = rng.uniform(0, 100, n), rng.choice(list("abc"), n), rng.random(n) < 0.4
    risk = 0.1 + 0.5 * (age > 55) + 0.3 * smokes
    return {"age": age, "town": town, "smokes": smokes, "ill": np.where(rng.random(n) < risk, "yes", "no")}
