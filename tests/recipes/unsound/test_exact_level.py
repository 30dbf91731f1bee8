"""The exact level answers what a private one would without noise, and says that it is not private."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.growing.greedy.candidates import Domains
from privet.growing.greedy.questions import NO_TEST
from privet.privacy.counting import ROOT, bin_counts
from privet.privacy.ledger import Ledger
from privet.privacy.level import Level
from privet.privacy.scores import Gini, InfoGain, Max
from privet.recipes.unsound import exact_level as exact_level
from privet.recipes.unsound.exact_level import ExactLevel
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, Tests
from privet.tables.encoding import encode
from privet.testing import ZeroNoise, schemas, tables, use_noise

SCORES = [Gini(), InfoGain(1000), Max()]
SCHEMA = Schema((Numeric("age", 0, 4, bins=4), Categorical("town", ("a", "b", "c"))), Categorical("ill", ("no", "yes")))


def engine_of(rows: list[tuple[float, str, str]], schema: Schema = SCHEMA) -> MemoryEngine:
    columns = (*schema.names, schema.label.name)
    return MemoryEngine(schema, encode(schema, {name: [row[i] for row in rows] for i, name in enumerate(columns)}))


@given(st.data(), schemas())
def test_it_agrees_with_a_private_level_under_zero_noise(data: st.DataObject, schema: Schema) -> None:
    engine = MemoryEngine(schema, encode(schema, data.draw(tables(schema, 30))))
    ours, theirs = ExactLevel(engine), Level(engine, ROOT, Ledger(1000))
    domains, tests = Domains.whole(schema), Tests.binary(schema)
    with use_noise(ZeroNoise()):
        for _ in range(3):
            assert ours.size == theirs.size
            assert np.array_equal(ours.count_all(), theirs.count_all(1))
            assert np.array_equal(ours.class_counts_all(), theirs.class_counts_all(1))
            asked = np.ones((ours.size, len(schema.attributes)), dtype=bool)
            asked[:, :-1] = data.draw(st.booleans())
            for by_class in (True, False):
                mine = ours.attribute_counts_all(1, asked, by_class=by_class)
                assert np.array_equal(mine, theirs.attribute_counts_all(1, asked, by_class=by_class))
            allowed = domains.allowed(tests)
            if not len(tests) or not allowed.any(axis=1).all():
                return
            score = data.draw(st.sampled_from(SCORES))
            chosen = theirs.choose_all(tests, score, 1, allowed=allowed)
            best = ours.choose_all(tests, score, allowed=allowed)
            # Where some test separates records ours has the best score; the private choice may be a dummy that ties.
            scores, _ = exact_level.score_tests(engine_counts(theirs), tests, score, schema)
            for cell in np.flatnonzero(best != NO_TEST):
                assert scores[cell, best[cell]] == pytest.approx(scores[cell, chosen[cell]], abs=1e-9)
            split = [tests[int(i)] for i in chosen]
            ours, theirs, domains = ours.split(split), theirs.split(split), domains.split(split)


def engine_counts(level: Level) -> np.ndarray:
    return bin_counts(level._engine, level._cells)


def test_it_says_that_it_is_not_private() -> None:
    assert "NOT private" in repr(ExactLevel(engine_of([])))
    assert "NOT PRIVATE" in (ExactLevel.__doc__ or "")
    assert "comparison with private trees ONLY" in (exact_level.__doc__ or "")


def test_no_test_where_none_separates() -> None:
    alike = ExactLevel(engine_of([(1.0, "a", "no"), (1.0, "a", "yes")]))
    for tests in (Tests.binary(SCHEMA), Tests.multiway(SCHEMA), Tests.mixed(SCHEMA)):
        assert alike.choose_all(tests, Gini()).tolist() == [NO_TEST]


def test_small_branches_do_not_count() -> None:
    rows = [(0.5, "a", "no")] * 3 + [(2.5, "b", "yes")] * 2 + [(3.5, "b", "yes")]
    for least, expected in ((1, True), (2, True), (3, True), (4, False)):
        level = ExactLevel(engine_of(rows), min_branch=least)
        for tests in (Tests.binary(SCHEMA), Tests.multiway(SCHEMA)):
            assert (level.choose_all(tests, Gini())[0] != NO_TEST) == expected


def test_only_asked_cells_answer_and_in_the_order_asked() -> None:
    rows = [(0.5, "a", "no"), (0.5, "b", "yes"), (2.5, "b", "no"), (3.5, "c", "no")]
    cells = ExactLevel(engine_of(rows)).split([Multiway(1)])
    assert cells.count_all(cells=np.array([2, 0])).tolist() == [1, 1]
    assert cells.class_counts_all(cells=np.array([1])).tolist() == [[1, 1]]
    tests = Tests.binary(SCHEMA)
    assert cells.choose_all(tests, Gini(), cells=np.array([1, 0])).tolist()[1] == NO_TEST
    with pytest.raises(ParameterError, match="cells is empty"):
        cells.choose_all(tests, Gini(), cells=np.array([], dtype=int))
    with pytest.raises(ParameterError, match="one entry for each of the 3 cells"):
        cells.split([None])


@pytest.mark.parametrize("block", [1, 3, 7])
def test_blocks_do_not_show(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are counted a block at a time to save memory; the answers are those of a single block."""
    rng = np.random.default_rng(0)
    rows = [(float(rng.uniform(0, 4)), str(rng.choice(list("abc"))), str(rng.choice(["no", "yes"]))) for _ in range(90)]
    tests = Tests.binary(SCHEMA)

    def grow() -> list[list[int]]:
        level, answers = ExactLevel(engine_of(rows)), []
        for _ in range(3):
            chosen = level.choose_all(tests, Gini())
            answers += [chosen.tolist(), level.class_counts_all().ravel().tolist()]
            level = level.split([None if i == NO_TEST else tests[int(i)] for i in chosen])
        return answers

    whole = grow()
    monkeypatch.setattr(exact_level, "_BLOCK", block)
    assert grow() == whole
