"""Sums for a fit: against a slow independent computation, and the same whoever adds them up."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from privet.engines import fit_kernels
from privet.engines.memory import MemoryEngine
from privet.privacy.counting import (
    CURVATURE_BITS,
    LOW_BITS,
    RESIDUAL_BITS,
    ROOT,
    FitCurvature,
    FitSums,
    Partition,
    carried,
    refine,
)
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import OneCategory
from privet.structure.terms import UNIT
from privet.tables.encoding import Codes
from privet.testing.engines import _fit_question


def engine(classes: int, records: int, seed: int = 0) -> MemoryEngine:
    random = np.random.default_rng(seed)
    schema = Schema(
        (Numeric("age", 0, 10, bins=9), Categorical("b", ("u", "v", "w")), Categorical("c", (False, True))),
        Categorical("y", tuple(range(classes))),
    )
    features = np.stack([random.integers(0, arity, records) for arity in schema.arities]).astype(np.uint8)
    return MemoryEngine(schema, Codes(features, random.integers(0, classes, records).astype(np.uint8)))


def probabilities(question: FitSums, codes: list[int], place: int, label: int) -> list[float]:
    """By math.fsum and plain Python, record by record: the class of the record has the margin less."""
    scores = []
    for c in range(question.columns):
        scores.append(math.fsum([question.offset[c], *(t[row(term, codes, place), c] for term, t in pairs(question))]))
    scores = [0.0, *scores] if question.columns == 1 else scores
    scores[label] -= question.loss.margin
    weights = [math.exp(score - max(scores)) for score in scores]
    return [weight / math.fsum(weights) for weight in weights]


def pairs(question: FitSums) -> Any:
    return zip(question.terms, question.tables, strict=True)


def row(term: Any, codes: list[int], place: int) -> int:
    number = place if not term.attributes else 0
    for a, levels, side in zip(term.attributes, term.levels, term.sides, strict=True):
        number = number * side + int(levels[codes[a]])
    return number


def slowly(question: FitSums, mine: MemoryEngine, places: Any) -> tuple[np.ndarray, np.ndarray]:
    free = question.terms[: question.free]
    residuals = [np.zeros((term.bins, question.columns)) for term in free]
    starts = np.cumsum([0, *(term.size for term in free)])
    curvature = np.zeros((starts[-1], starts[-1]))
    for i, place in enumerate(places):
        if place < 0:
            continue
        codes, label = mine._features[:, i].tolist(), int(mine._labels[i])
        p, weight = probabilities(question, codes, int(place), label), question.class_weights[label]
        r = [p[1] - (label == 1)] if question.columns == 1 else [q - (label == c) for c, q in enumerate(p)]
        x = np.zeros(starts[-1])
        for t, term in enumerate(free):
            b = row(term, codes, int(place))
            residuals[t][b] += weight * np.array(r)
            np.add.at(x, starts[t] + term.cells[b], term.weights[b] / UNIT)
        bend = p[1] * p[0] if question.columns == 1 else sum(q * (1 - q) for q in p) / 2
        curvature += weight * bend * np.outer(x, x)
    return np.concatenate(residuals), curvature


def value(limbs: np.ndarray) -> np.ndarray:
    return (limbs[..., 0].astype(np.float64) * 2.0**LOW_BITS + limbs[..., 1]) / 2.0**RESIDUAL_BITS


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("split", [False, True])
def test_sums_are_those_of_a_slow_computation(classes: int, split: bool) -> None:
    mine = engine(classes, 400)
    cells: Partition = refine(ROOT, mine.schema, [OneCategory(1, 0)]) if split else ROOT
    places = mine.places(cells)
    wanted, bent = slowly(_fit_question(mine.schema, cells, FitSums), mine, places)
    found = mine.answer([_fit_question(mine.schema, cells, kind) for kind in (FitSums, FitCurvature)])
    assert found[0].dtype == found[1].dtype == np.int64
    assert value(found[0]) == pytest.approx(wanted, abs=1e-11)
    upper = np.triu(bent)
    assert found[1] / 2.0**CURVATURE_BITS == pytest.approx(upper, abs=400 * 2.0**-24)
    assert (np.tril(found[1], -1) == 0).all()


def test_chunks_and_threads_add_up_to_the_same_numbers() -> None:
    mine = engine(3, 20_000)
    question, curvature = (_fit_question(mine.schema, ROOT, kind) for kind in (FitSums, FitCurvature))
    whole = mine.answer([question, curvature])
    places = np.zeros(20_000, dtype=np.int32)
    for cuts in ([0, 20_000], [0, 1, 7, 4096, 4097, 19_999, 20_000]):
        sums = [np.zeros_like(whole[0]), np.zeros_like(whole[1])]
        for start, stop in pairwise(cuts):
            part = mine._features[:, start:stop], mine._labels[start:stop], places[start:stop]
            part = tuple(map(np.ascontiguousarray, part))
            sums[0] += fit_kernels.fit_sums(*part, question, 2)
            sums[1] += fit_kernels.fit_curvature(*part, curvature, 3)
        assert np.array_equal(carried(sums[0]), whole[0])
        assert np.array_equal(sums[1], whole[1])


def test_a_sum_may_have_more_than_64_bits() -> None:
    """Limbs as they are near 2**32 records of residual 1: their sums stay exact, and carrying keeps the value."""
    one = np.array([2 ** (RESIDUAL_BITS - LOW_BITS), 2**LOW_BITS - 1])
    many = carried(one * 2**31)
    exact = 2**31 * (int(one[0]) * 2**LOW_BITS + int(one[1]))
    assert int(many[0]) * 2**LOW_BITS + int(many[1]) == exact > 2**63
    assert 0 <= many[1] < 2**LOW_BITS


def test_a_class_of_weight_zero_adds_nothing() -> None:
    mine = engine(2, 300)
    question = replace(_fit_question(mine.schema, ROOT, FitSums), class_weights=np.array([0.0, 0.0]))
    assert not mine.answer([question])[0].any()


def test_an_empty_table_sums_to_nothing() -> None:
    mine = engine(2, 0)
    answers = mine.answer([_fit_question(mine.schema, ROOT, kind) for kind in (FitSums, FitCurvature)])
    assert not any(answer.any() for answer in answers)
