"""Compile all kernels by one call, before tests or when a server starts, so that no first fit waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np

from privet.engines.chunks import ChunkEngine
from privet.engines.memory import MemoryEngine
from privet.growing.prelude import Prelude
from privet.privacy.counting import Joint, Partition
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.recipes.registry import NUMBERS, OWN, recipe_class
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Tests
from privet.tables.encoding import encode_features
from privet.tables.frozen import freeze

SCHEMA = Schema(
    (Numeric("age", 0, 100), Numeric("dose", 0, 1, missing="?"), *(Categorical(name, (0, 1)) for name in "abc")),
    Categorical("class", (0, 1)),
)
NUMBER = Schema(SCHEMA.attributes, Numeric("stay", 0, 30))  # a number to predict
RECORDS = 400  # enough, at this epsilon, for cuts, curves and several levels
EPSILON = Fraction(10)
SMALL = {"n_estimators": 2, "public_trees": 2, "max_depth": 3}  # where a recipe has such parameters


def compile_all() -> None:
    """Fit every recipe of privet to invented records, in memory and in chunks.

    Numba compiles a kernel for the types of its arguments, and a fit passes the right ones: those of attributes with up
    to 256 values. Compiled kernels are cached on disk. A test checks that no registered kernel is left out.
    """
    random = np.random.default_rng(0)
    table = _invented(random)
    _compile(OWN, SCHEMA, table, random)
    _compile(NUMBERS, NUMBER, table, random)


def _compile(names: Iterable[str], declared: Schema, table: dict[str, Any], random: np.random.Generator) -> None:
    frozen = freeze(declared, table)
    engines = MemoryEngine(declared, frozen.codes(declared), frozen), _Chunks.read(_Batches(table), declared)
    for name in names:
        kind = recipe_class(name)
        has = {field.name for field in fields(kind)}
        recipe = kind(kind.info.variants[0], **{name: value for name, value in SMALL.items() if name in has})
        schema = recipe.prepare(declared)
        for engine in engines:
            data = PrivateDataset(engine.with_schema(schema), Ledger(EPSILON).allow_nonprivate())
            planned, prelude = recipe.survey(Prelude(data, EPSILON))
            model = planned.grow_after(prelude, random)  # not kept, so no fit is recorded
            model.predict(encode_features(model.schema, table))
    PrivateDataset(engines[0], Ledger(EPSILON)).noisy_sum("age", EPSILON)


def _invented(random: np.random.Generator) -> dict[str, Any]:
    """Records whose class is a rule on two attributes, with some labels wrong."""
    bits = random.integers(0, 2, (3, RECORDS))
    age = random.uniform(0, 100, RECORDS)
    ill = ((age > 40) & (bits[0] == 1)) ^ (random.random(RECORDS) < 0.1)
    labels = {"class": ill.astype(int), "stay": 10.0 + 10 * ill}
    return {"age": age, "dose": random.random(RECORDS), **dict(zip("abc", bits, strict=True)), **labels}


class _Chunks(ChunkEngine):
    """An engine that makes joint counts by tables, even where bitsets would be faster."""

    def joint(self, cells: Partition, tests: Tests, depth: int) -> Joint:
        from privet.engines.joint_tables import JointTables

        return JointTables(self, cells, tests, depth)


class _Batches:
    """The records as a source, in two batches."""

    caveats = ()

    def __init__(self, table: dict[str, Any]) -> None:
        self._table = table

    def header(self, columns: Sequence[str]) -> Any:
        return {name: self._table[name][:0] for name in columns}

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        for some in (slice(0, RECORDS // 2), slice(RECORDS // 2, None)):
            yield {name: self._table[name][some] for name in columns}
