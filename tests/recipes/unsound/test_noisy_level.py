"""The noisy level answers the questions of any other: exactly without noise, and off by what its paper says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from privet.engines.memory import MemoryEngine
from privet.privacy.counting import ROOT
from privet.privacy.scores import Gini, score_tests
from privet.recipes.unsound.exact_level import ExactLevel
from privet.recipes.unsound.noisy_level import NoisyLevel
from privet.schema import Categorical, Schema
from privet.structure.splits import Tests
from privet.tables.encoding import encode
from privet.testing import ReplayNoise, ZeroNoise, schemas, tables, use_noise

ONE = Fraction(1)
SCHEMA = Schema(
    (Categorical("town", ("a", "b", "c")), Categorical("sex", ("f", "m"))), Categorical("ill", ("no", "yes"))
)


@given(st.data(), schemas())
def test_without_noise_it_is_exact(data: st.DataObject, schema: Schema) -> None:
    engine = MemoryEngine(schema, encode(schema, data.draw(tables(schema, 30))))
    noisy, exact, tests = NoisyLevel(engine, ROOT, steps=1), ExactLevel(engine), Tests.binary(schema)
    with use_noise(ZeroNoise()):
        for _ in range(2):
            assert noisy.size == exact.size
            assert np.array_equal(noisy.count_all(ONE), exact.count_all(ONE))
            assert np.array_equal(noisy.class_counts_all(ONE), exact.class_counts_all(ONE))
            asked = np.ones((noisy.size, len(schema.attributes)), dtype=bool)
            asked[:, :-1] = data.draw(st.booleans())
            for by_class in (True, False):
                mine = noisy.attribute_counts_all(ONE, asked, by_class=by_class)
                assert np.array_equal(mine, exact.attribute_counts_all(ONE, asked, by_class=by_class))
            if not len(tests):
                return
            chosen = noisy.choose_all(tests, Gini(), ONE)
            scores, _ = score_tests(noisy.exact, tests, Gini(), schema)
            assert chosen.tolist() == scores.argmax(axis=1).tolist()
            split = [tests[int(i)] for i in chosen]
            noisy, exact = noisy.split(split), exact.split(split)


def test_the_scale_of_its_noise() -> None:
    engine = MemoryEngine(SCHEMA, encode(SCHEMA, {"town": ["a"], "sex": ["f"], "ill": ["no"]}))
    source = ReplayNoise([0] * 7)
    with use_noise(source):
        level = NoisyLevel(engine, ROOT, steps=2)
        level.count_all(Fraction(1, 2))
        level.attribute_counts_all(Fraction(1), np.ones((1, 2), dtype=bool), by_class=False)
        level.choose_all(Tests.multiway(SCHEMA), Gini(), Fraction(1))
    # Replacing one record is two steps; two attributes share their epsilon; a choice has its scale in the scores.
    assert [draw.scale for draw in source.draws] == [4.0] + [4.0] * 5 + [1.0]
