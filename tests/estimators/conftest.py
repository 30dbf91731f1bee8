"""A small table that everything here is fitted on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from privet.schema import Categorical, Numeric, Schema


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
