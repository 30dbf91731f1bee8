"""Public hierarchies: every range is cut once, down to single codes, and as a taxonomy says."""

from __future__ import annotations

import numpy as np
import pytest

from privet.errors import SchemaError
from privet.growing.greedy.candidates import Domains
from privet.publishing.grids import Grid
from privet.publishing.hierarchies import Hierarchies, Specialisations
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Threshold

JOBS = ("nurse", "doctor", "cook", "clerk", "smith")
SCHEMA = Schema(
    (Categorical("job", JOBS), Numeric("age", 0, 80, bins=8, missing="?"), Categorical("one", ("only",))),
    Categorical("ill", ("no", "yes")),
)
TAXONOMY = {"job": [["nurse", "doctor"], ["cook"], ["clerk", "smith"]]}


@pytest.mark.parametrize("taxonomies", [{}, TAXONOMY])
def test_every_range_is_cut_down_to_single_codes(taxonomies: dict) -> None:
    hierarchies = Hierarchies(SCHEMA, taxonomies)
    for a, arity in enumerate(SCHEMA.arities):
        nodes = list(hierarchies.nodes(a))
        assert sorted(cut for _, _, cut in nodes) == list(range(arity - 1))  # each boundary once
        assert all(low <= cut < high for low, high, cut in nodes)


def test_a_taxonomy_says_where() -> None:
    assert list(Hierarchies(SCHEMA, TAXONOMY).nodes(0)) == [(0, 4, 2), (0, 2, 1), (3, 4, 3), (0, 1, 0)]
    assert next(Hierarchies(SCHEMA).nodes(0)) == (0, 4, 2)


def test_what_is_missing_goes_first() -> None:
    assert list(Hierarchies(SCHEMA).nodes(1))[:2] == [(0, 8, 7), (0, 7, 3)]


@pytest.mark.parametrize(
    "taxonomy", [{"job": [["doctor", "nurse"], ["cook", "clerk", "smith"]]}, {"job": ["nurse"]}, {"age": [1, 2]}]
)
def test_taxonomies_that_do_not_fit(taxonomy: dict) -> None:
    with pytest.raises(SchemaError, match=r"order|numeric"):
        Hierarchies(SCHEMA, taxonomy)


def test_a_cell_may_take_only_the_next_cut_of_its_ranges() -> None:
    candidates = Specialisations.of_hierarchies(Hierarchies(SCHEMA))
    domains = Domains.whole(SCHEMA)
    for tests in ([Threshold(1, 7)], [Threshold(0, 2), None], [None, Threshold(1, 3)]):
        allowed = candidates.allowed(domains)
        for test, row in zip(tests, allowed, strict=True):
            offered = [candidates.tests[int(i)] for i in np.flatnonzero(row)]
            assert len({t.attribute for t in offered}) == len(offered) <= 2
            assert test is None or test in offered
        domains = domains.split(tests)


def test_a_grid_is_fine_as_far_as_it_goes() -> None:
    for most in (1, 2, 7, 20, 45, 100):
        grid = Grid.of(SCHEMA, [0, 1, 2], most)
        assert np.prod(grid.shape) <= most
        routes = grid.routes()
        assert len(routes.leaves) == np.prod(grid.shape)
        every = np.array([[j, a, 0] for j in range(5) for a in range(9)], dtype=np.uint8).T
        leaf = np.searchsorted(routes.leaves, routes.apply(every)[:, 0])
        counts = np.bincount(leaf, minlength=len(routes.leaves)).astype(float)[:, None]
        arranged = grid.arrange(counts)[..., 0]
        segments = [np.searchsorted(ends, row) for ends, row in zip(grid.ends, every, strict=True)]
        expected = np.zeros(grid.shape)
        np.add.at(expected, tuple(segments), 1)
        assert arranged.tolist() == expected.tolist()
    assert Grid.of(SCHEMA, [0, 1, 2], 45).shape == (5, 9, 1)
