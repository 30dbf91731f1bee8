"""Exported models predict what the model predicts, in the programs they are for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]  # importlib mode leaves them off
from runtimes import check, hostile, run_duckdb, run_onnx, run_python, run_sqlite  # noqa: E402
from tree_strategies import all_records, schemas, trees  # noqa: E402

from privet.models.additive import Additive, Part  # noqa: E402
from privet.models.forest import Forest  # noqa: E402
from privet.models.released import Released  # noqa: E402
from privet.models.voting import Voting  # noqa: E402

HURRY = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def additives(draw: Any) -> Additive:
    """A curve for each attribute, a table for a pair, and a tree whose leaves have numbers."""
    tree = draw(trees())
    schema = tree.schema
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parts = []
    places = [(a,) for a in range(len(schema.attributes))] + ([(0, 1)] if len(schema.attributes) > 1 else [])
    for attributes in places:
        levels = []
        for a in attributes:
            wanted = rng.integers(0, schema.arities[a], schema.arities[a])
            levels.append(np.unique(wanted, return_inverse=True)[1].reshape(-1))
        rows = int(np.prod([column.max() + 1 for column in levels]))
        parts.append(Part(attributes, tuple(levels), rng.normal(0, 2, (rows, schema.n_scores)), 0.1))
    parts.append(Part((), (), rng.normal(0, 1, (tree.n_leaves, schema.n_scores)), 0.1))
    return Additive(
        schema, tuple(parts), rng.normal(0, 1, schema.n_scores), tree.routes, draw(st.sampled_from([0.0, 3.0]))
    )


@st.composite
def forests(draw: Any) -> Forest:
    schema = draw(schemas())
    grown = draw(st.lists(trees(schema), min_size=1, max_size=4))
    return Forest(schema, tuple(grown), draw(st.sampled_from(get_args(Voting))), draw(st.sampled_from([0.0, 0.5, 1.0])))


released = st.one_of(trees(), forests(), additives())


@settings(HURRY, max_examples=150)
@given(released)
def test_the_formula_is_the_model(model: Released) -> None:
    features = all_records(model.schema)
    labels, shares = model.formula().predict(features)
    assert labels.tolist() == model.predict(features).tolist()
    np.testing.assert_allclose(shares, model.predict_proba(features), atol=1e-15)


@pytest.mark.parametrize("run", [run_onnx, run_duckdb, run_sqlite], ids=lambda run: run.__name__)
@HURRY
@given(model=released, seed=st.integers(0, 1000))
def test_hostile_records(run: Any, model: Released, seed: int) -> None:
    check(model, hostile(model.schema, 60, seed), run)


@settings(HURRY, max_examples=8)
@given(released)
def test_a_bare_python(model: Released) -> None:
    check(model, hostile(model.schema, 60), run_python)
