"""``check_engine``: compare any engine exactly with the one in memory, on tables with odd cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from privet.engines.joint_tables import JointTables
from privet.engines.memory import MemoryEngine
from privet.privacy.counting import (
    ROOT,
    Engine,
    FitCurvature,
    FitSums,
    Ints,
    Joint,
    LevelSum,
    LossSums,
    Partition,
    Question,
    Tally,
    class_counts,
    descend,
    look_up,
    only,
    refine,
    single_attributes,
)
from privet.schema import Categorical, Numeric, Schema
from privet.structure.comparisons import LABEL
from privet.structure.evidence import Evidence
from privet.structure.fit_losses import MarginLoss
from privet.structure.routes import Routes
from privet.structure.splits import Test, Tests
from privet.structure.terms import UNIT, Term
from privet.tables.frozen import freeze

MakeEngine = Callable[[Schema, dict[str, list[Any]]], Engine]
"""From a schema and a table (columns of cells, label included) to the engine that is to be checked."""

ODD = (None, float("nan"), float("inf"), -float("inf"), "", "?", " ", "1.0", "true", True, -(10**30), "no such value")


def check_engine(
    make_engine: MakeEngine, *, rounds: int = 20, records: int = 40, seed: int = 0, texts: bool = False
) -> None:
    """Raise ``AssertionError`` unless the engine counts exactly as the one in memory.

    Random tables with missing, unknown and out-of-range values; random partitions by tests, trees, tables of codes
    and coins; class
    counts, counts over one and several attributes, sums, log-losses, joint counts; the same records under other cuts;
    and coins that stay with their records. Every query is made twice, and all of a round together: one pass. With
    ``texts`` every cell is a text or None, for engines whose columns have one type.

    >>> from privet.engines.opening import open_engine
    >>> check_engine(lambda schema, table: open_engine(table, schema), rounds=2)
    """
    random = np.random.default_rng(seed)
    for number in range(rounds):
        schema = _schema(random)
        # The first tables are as small as possible.
        table = _table(schema, number if number < 3 else int(random.integers(1, records)), random)
        if texts:
            table = {name: [None if cell is None else str(cell) for cell in column] for name, column in table.items()}
        ours, theirs = _reference(schema, table), make_engine(schema, table)
        _check_answers(ours, theirs, random, f"table {number}")
        _check_joint(ours, theirs, random, f"table {number}")
        _check_coins(theirs, int(class_counts(ours, ROOT).sum()), f"table {number}")
        finer = _recut(schema, random)
        _check_answers(_reference(finer, table), theirs.with_schema(finer), random, f"table {number}, other cuts")


def _reference(schema: Schema, table: dict[str, list[Any]]) -> MemoryEngine:
    frozen = freeze(schema, table)
    return MemoryEngine(schema, frozen.codes(schema), frozen)


def _check_answers(ours: Engine, theirs: Engine, random: np.random.Generator, where: str) -> None:
    assert theirs.schema == ours.schema, f"{where}: the engine answers for another schema"
    schema, evidence = ours.schema, _evidence(ours.schema, random)
    questions = [one for cells in _partitions(schema, random) for one in _questions(schema, cells, evidence)]
    expected = ours.answer(questions)
    for attempt in ("", " when it is asked again"):
        for question, wanted, found in zip(questions, expected, theirs.answer(questions), strict=True):
            same = found.shape == wanted.shape and np.array_equal(found, wanted)
            assert same, f"{where}: the engine miscounts{attempt}: {_describe(question)}"


def _check_joint(ours: MemoryEngine, theirs: Engine, random: np.random.Generator, where: str) -> None:
    """Compare the engine's own joint counts, and those from its tallies, with bitsets."""
    tests = Tests.binary(ours.schema)
    if len(tests) < 2:
        return
    depth = min(3, len(tests))
    theirs.check_joint(tests, depth)
    for cells in (ROOT, only(refine(ROOT, ours.schema, [tests[0]]), 1)):
        wanted = ours.joint_by_bitsets(cells, tests)
        asked = [np.sort(random.choice(len(tests), random.integers(depth + 1), replace=False)) for _ in range(20)]
        for found in (theirs.joint(cells, tests, depth), JointTables(theirs, cells, tests, depth)):
            for some in asked:
                same = np.array_equal(_regions(wanted, some), _regions(found, some))
                assert same, f"{where}: {type(found).__name__} miscounts tests {some.tolist()} together"


def _regions(joint: Joint, tests: Ints) -> Ints:
    """(child, child, ..., class) counts of at most three tests, whichever child counts as met."""
    counts = np.empty((*(2,) * tests.size, joint.class_counts.size), dtype=np.int64)
    for met in np.ndindex(*(2,) * tests.size):
        inside = tests[np.array(met, dtype=bool)]
        if inside.size < 2:
            counts[met] = joint.singles[:, inside[0]] if inside.size else joint.class_counts
        else:
            counts[met] = joint.pairs(inside[None, :-2])[0, inside[-2], :, inside[-1]]
    for axis, test in enumerate(tests):
        at_least, meet = np.moveaxis(counts, axis, 0).copy()
        children = (at_least - meet, meet) if joint.met[test] else (meet, at_least - meet)
        counts = np.moveaxis(np.stack(children), 0, axis)
    return counts


def _check_coins(engine: Engine, records: int, where: str) -> None:
    for side in range(3):
        asked: list[int] = []

        def all_alike(sides: int, size: int, side: int = side, asked: list[int] = asked) -> Any:
            asked.append(size)
            return np.full(size, side, dtype=np.int64)

        cells = engine.shards(ROOT, 3, all_alike)
        wanted = np.where(np.arange(3) == side, records, 0).tolist()
        for _ in range(2):
            found = class_counts(engine, cells).sum(axis=1).tolist()
            assert found == wanted, f"{where}: shards do not follow the records' own coins"
        assert sum(asked) == records, f"{where}: every record tosses once, before anybody asks"


# ---- what is asked --------------------------------------------------------------------------------------------------


def _partitions(schema: Schema, random: np.random.Generator) -> Iterator[Partition]:
    tests: list[Test | None] = [None, *Tests.binary(schema), *Tests.multiway(schema)]
    cells = ROOT
    yield cells
    for _ in range(2):
        cells = refine(cells, schema, [tests[int(i)] for i in random.integers(0, len(tests), cells.size)])
        if not cells.size:
            return
        yield cells
    yield only(cells, int(random.integers(cells.size)))
    yield descend(ROOT, _stump(schema, random))
    cells = ROOT
    for place in (int(random.integers(len(schema.attributes))), LABEL):
        codes = schema.n_classes if place == LABEL else schema.arities[place]
        table = random.integers(-1, 2, codes)
        table[int(random.integers(codes))] = 0  # at least one part
        cells = look_up(cells, schema, place, table.tolist())
        yield cells


def _stump(schema: Schema, random: np.random.Generator) -> Routes:
    """A tree of one test, or of none if there is no test."""
    tests = Tests.binary(schema)
    if not len(tests):
        return Routes(schema, Tests.of(schema, [None]), np.array([-1]), np.array([0]))
    test = tests[int(random.integers(len(tests)))]
    return Routes(schema, Tests.of(schema, [test, None, None]), np.array([1, -1, -1]), np.array([0]))


def _questions(schema: Schema, cells: Partition, evidence: Evidence) -> Iterator[Question]:
    yield Tally(cells)
    yield Tally(cells, single_attributes(schema))
    last = len(schema.attributes) - 1
    yield Tally(cells, ((0, last), (), (last,)))
    for a, attribute in enumerate(schema.attributes):
        if isinstance(attribute, Numeric):
            yield LevelSum(cells, a)
    yield LossSums(cells, evidence)
    for kind in (FitSums, FitCurvature):
        yield _fit_question(schema, cells, kind)


def _fit_question(schema: Schema, cells: Partition, kind: type[FitSums]) -> FitSums:
    """Sums for a fit: a mixed term, one of every code, one of the cells, and one of a pair in the background."""
    last, columns = len(schema.attributes) - 1, schema.n_scores
    codes = [np.arange(arity) for arity in schema.arities]
    share = np.arange(schema.arities[0]) * 1013 % UNIT
    mixed = np.stack([codes[0], codes[0] + 1], axis=1)
    coarse = [column // 2 for column in codes]
    bins = int((coarse[0].max() + 1) * (coarse[last].max() + 1))
    terms = (
        Term.of((0,), [codes[0]], mixed, np.stack([UNIT - share, share], axis=1)),
        Term.one_hot((last,), [codes[last]], schema.arities[last]),
        Term.one_hot((), [], cells.size),
        *([Term.one_hot((0, last), [coarse[0], coarse[last]], bins)] if last else []),
    )
    tables = tuple(np.sin(np.arange(term.bins * columns) + 1.0).reshape(-1, columns) * 3 for term in terms)
    weights = np.linspace(1.0, 0.5, schema.n_classes)
    return kind(cells, terms, tables, np.linspace(-0.5, 0.5, columns), weights, 3, MarginLoss(1.25))


def _evidence(schema: Schema, random: np.random.Generator) -> Evidence:
    """A stump with random evidence, now and then unbounded."""
    stump = _stump(schema, random)
    votes = random.choice([0.0, 1.0, -2.5, 1e308], (len(stump.tests), schema.n_classes), p=[0.3, 0.3, 0.3, 0.1])
    more = int(random.integers(2)), float(random.choice([0.0, 1.25])), np.linspace(1.0, 0.5, schema.n_classes)
    return Evidence(stump, votes, random.uniform(-2, 0, schema.n_classes), np.array([0.0, 0.25, 1.0]), 3000, *more)


def _describe(question: Question) -> str:
    match question:
        case Tally():
            what = f"counts of attributes {question.tuples}"
        case LevelSum():
            what = f"sums of {question.attribute}"
        case LossSums():
            what = "sums of log-loss"
        case _:
            what = f"{type(question).__name__} of terms on {[term.attributes for term in question.terms]}"
    return f"{what} after {[type(step).__name__ for step in question.cells.steps]}"


# ---- tables ---------------------------------------------------------------------------------------------------------


def _schema(random: np.random.Generator) -> Schema:
    numbers: list[Numeric | Categorical] = [
        Numeric("age", 0, 120, integer=True, bins=int(random.integers(2, 7))),
        Numeric("dose", -1.5, 2.5, bins=int(random.integers(2, 7)), missing="?" if random.random() < 0.5 else None),
    ]
    categories: list[Numeric | Categorical] = [
        Categorical("job", ("a", "b", "c", "other")[: int(random.integers(2, 5))]),
        Categorical("flag", (False, True)),
    ]
    label = Categorical("class", ("no", "yes", "maybe")[: int(random.integers(2, 4))])
    return Schema((*numbers[: int(random.integers(1, 3))], *categories[: int(random.integers(1, 3))]), label)


def _recut(schema: Schema, random: np.random.Generator) -> Schema:
    return replace(
        schema,
        attributes=tuple(
            replace(a, bins=int(random.integers(2, 40))) if isinstance(a, Numeric) else a for a in schema.attributes
        ),
    )


def _table(schema: Schema, records: int, random: np.random.Generator) -> dict[str, list[Any]]:
    def cell(attribute: Numeric | Categorical) -> Any:
        if random.random() < 0.15:
            return ODD[int(random.integers(len(ODD)))]
        if isinstance(attribute, Categorical):
            return attribute.values[int(random.integers(attribute.arity))]
        wide = attribute.high - attribute.low
        at_cut = len(attribute.cuts) and random.random() < 0.3  # where an engine is off by one
        number = (
            random.choice(attribute.cuts) if at_cut else random.uniform(attribute.low - wide, attribute.high + wide)
        )
        return float(number)

    facts = (*schema.attributes, schema.label)
    return {fact.name: [cell(fact) for _ in range(records)] for fact in facts}
