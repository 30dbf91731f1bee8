"""``check_engine`` passes the engine in memory and catches what engines get wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from privet.engines.memory import MemoryEngine
from privet.privacy.counting import ROOT, Coins, LossSums, Partition, Question, Tally
from privet.schema import Numeric, Schema
from privet.tables.frozen import freeze
from privet.testing import check_engine


def memory_engine(schema: Schema, table: dict[str, list[Any]], kind: type[MemoryEngine] = MemoryEngine) -> MemoryEngine:
    frozen = freeze(schema, table)
    return kind(schema, frozen.codes(schema), frozen)


def test_the_engine_in_memory_passes() -> None:
    check_engine(memory_engine)


def wrong_branch(schema: Schema, table: dict[str, list[Any]]) -> MemoryEngine:
    """A missing number is read as the lower bound."""
    lowest = {a.name: a.low for a in schema.attributes if isinstance(a, Numeric)}
    cells = {n: [lowest[n] if n in lowest and c in (None, "?") else c for c in column] for n, column in table.items()}
    return memory_engine(schema, cells)


def off_by_one(schema: Schema, table: dict[str, list[Any]]) -> MemoryEngine:
    """A value at a cut goes right."""
    cuts = {a.name: set(a.cuts.tolist()) for a in schema.attributes if isinstance(a, Numeric)}
    nudged = {
        name: [np.nextafter(c, np.inf) if isinstance(c, float) and c in cuts.get(name, ()) else c for c in column]
        for name, column in table.items()
    }
    return memory_engine(schema, nudged)


class DropsTheLastCell(MemoryEngine):
    def answer(self, questions: Any) -> list[Any]:
        answers = super().answer(questions)
        for answer in answers:
            if len(answer) > 1:
                answer[-1] = 0
        return answers


class SwapsLabels(MemoryEngine):
    def __init__(self, schema: Schema, codes: Any, *rest: Any, **more: Any) -> None:
        labels = np.where(codes.labels < 2, 1 - np.minimum(codes.labels, 1), codes.labels)
        super().__init__(schema, replace(codes, labels=labels.astype(codes.labels.dtype)), *rest, **more)


class CoinsByPosition(MemoryEngine):
    def shards(self, cells: Partition, count: int, coins: Coins) -> Partition:
        coins(count, self._labels.size)
        return super().shards(cells, count, lambda sides, size: np.arange(size) % sides)


class TossesAtEveryPass(MemoryEngine):
    def shards(self, cells: Partition, count: int, coins: Coins) -> Partition:
        self._again = coins, count
        return super().shards(cells, count, coins)

    def answer(self, questions: list[Question]) -> list[Any]:
        if hasattr(self, "_again"):
            self._places.clear()
            coins, count = self._again
            self._coins[-1] = coins(count, self._labels.size).astype(np.uint8)
        return super().answer(questions)


class CountsTogetherInAllCells(MemoryEngine):
    def joint(self, cells: Partition, tests: Any, depth: int) -> Any:
        return super().joint(ROOT, tests, depth)


class SwapsCodesOfThree(MemoryEngine):
    """Right for one and two attributes; of three, the first two are read in the wrong order."""

    def answer(self, questions: Any) -> list[Any]:
        turned = [
            replace(q, tuples=tuple((t[1], t[0], *t[2:]) if len(t) > 2 else t for t in q.tuples))
            if isinstance(q, Tally)
            else q
            for q in questions
        ]
        return super().answer(turned)


class CutsLossesOffLate(MemoryEngine):
    def answer(self, questions: Any) -> list[Any]:
        def late(question: Question) -> Question:
            if not isinstance(question, LossSums):
                return question
            return replace(question, evidence=replace(question.evidence, most=2 * question.evidence.most))

        return super().answer([late(question) for question in questions])


class IgnoresNewCuts(MemoryEngine):
    def with_schema(self, schema: Schema) -> MemoryEngine:
        return self


FAULTS = {
    "a missing value in the wrong branch": wrong_branch,
    "a cut off by one": off_by_one,
    "a cell dropped": lambda schema, table: memory_engine(schema, table, kind=DropsTheLastCell),
    "a label swapped": lambda schema, table: memory_engine(schema, table, kind=SwapsLabels),
    "coins by position": lambda schema, table: memory_engine(schema, table, kind=CoinsByPosition),
    "coins at every pass": lambda schema, table: memory_engine(schema, table, kind=TossesAtEveryPass),
    "joint counts of all cells": lambda schema, table: memory_engine(schema, table, kind=CountsTogetherInAllCells),
    "codes of three attributes": lambda schema, table: memory_engine(schema, table, kind=SwapsCodesOfThree),
    "losses cut off late": lambda schema, table: memory_engine(schema, table, kind=CutsLossesOffLate),
    "old cuts": lambda schema, table: memory_engine(schema, table, kind=IgnoresNewCuts),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught(fault: str) -> None:
    with pytest.raises(AssertionError):
        check_engine(FAULTS[fault])
