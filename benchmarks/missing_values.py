"""Where missing cells go that no branch was declared for: the middle, against rules that could stand in its place.

PRIVET_DATA=tables python benchmarks/missing_values.py [table ...]

Cells are made missing, at fitting and prediction alike, and each rule is a table (or a schema) handed to the one
encoder: *low* has the lower bound or the first value in the holes, *spread* a value drawn by a public hash of the
record's other cells, *middle* nothing, so that the encoder decides, and *branch* nothing under a schema that declares a
branch of its own. Accuracy in %, mean over folds; prints a table in Markdown.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import privet
from privet.datasets import real
from privet.engines.memory import MemoryEngine
from privet.recipes.diffpc45 import DiffPC45
from privet.recipes.exact import ExactTree
from privet.recipes.fitting import fit
from privet.recipes.recipe import Recipe
from privet.schema import Categorical, Numeric, Schema
from privet.schema.encoding import encode
from privet.schema.facts import MARKERS

TABLES = ("adult-complete", "bank", "nursery", "cardiotocography")
RECIPES: tuple[Recipe, ...] = (DiffPC45(), ExactTree(max_depth=3))
MISSING = {"5 %": (0.05, 0.05), "15 %": (0.15, 0.15), "30 %": (0.3, 0.3), "informative": (0.3, 0.05)}
RULES = ("low", "spread", "middle", "branch")
EPSILON, FOLDS, SMALL = 1, 3, 15_000  # smaller tables than that are dealt three times, as they vary more
WITHIN = 0.5  # points that the middle may be behind spreading, on average

Table = dict[str, np.ndarray]


def punched(schema: Schema, table: Table, shares: tuple[float, float], random: np.random.Generator) -> Table:
    """The table with holes: a share of the cells of the most frequent class, and another of all others."""
    labels = table[schema.label.name]
    values, counts = np.unique(labels, return_counts=True)
    share = np.where(labels == values[counts.argmax()], *shares)
    holes = {name: random.random(labels.size) < share for name in schema.names}
    return table | {name: np.where(holes[name], None, table[name]) for name in schema.names}


def stuffed(schema: Schema, table: Table, rule: str) -> tuple[Schema, Table]:
    """The table and the schema by which a rule reads its holes."""
    if rule == "middle":
        return schema, table
    if rule == "branch":
        return replace(schema, attributes=tuple(map(branched, schema.attributes))), table
    full = dict(table)
    rows = list(zip(*(table[name] for name in schema.names), strict=True))
    for attribute in schema.attributes:
        column = table[attribute.name].copy()
        for i in np.flatnonzero(column == None):  # noqa: E711 - cell by cell
            column[i] = chosen(attribute, 0.0 if rule == "low" else lot(rows[i], attribute.name))
        full[attribute.name] = column
    return schema, full


def branched(attribute: Numeric | Categorical) -> Numeric | Categorical:
    if isinstance(attribute, Numeric):
        return replace(attribute, missing="?") if attribute.missing is None else attribute
    listed = any(str(value).strip().lower() in MARKERS for value in attribute.values) or attribute.other is not None
    return attribute if listed else replace(attribute, values=(*attribute.values, "?"))


def lot(row: tuple[Any, ...], name: str) -> float:
    """A number from 0 to 1 that follows from the record alone."""
    return zlib.crc32(repr((name, row)).encode()) / 2**32


def chosen(attribute: Numeric | Categorical, share: float) -> Any:
    if isinstance(attribute, Numeric):
        return attribute.low + share * (attribute.high - attribute.low)
    return attribute.values[int(share * len(attribute.values))]


def accuracies(recipe: Recipe, schema: Schema, table: Table, seed: int) -> Iterator[float]:
    """The accuracy of a model of each fold's other records."""
    prepared = recipe.prepare(schema)
    codes = encode(prepared, table)
    assert codes.labels is not None
    engine = MemoryEngine(prepared, codes)
    fold = np.random.default_rng(seed).permutation(codes.labels.size) % FOLDS
    for held_out in range(FOLDS):
        known, fresh = (np.flatnonzero(where) for where in (fold != held_out, fold == held_out))
        model = fit(recipe, engine.take(known), privet.Ledger(EPSILON), EPSILON, random=np.random.default_rng(seed))
        found = model.trees.predict(np.ascontiguousarray(codes.features[:, fresh]))
        yield 100 * float((found == codes.labels[fresh]).mean())


def main(tables: tuple[str, ...]) -> int:
    if real.VARIABLE not in os.environ:
        print(f"{real.VARIABLE} is not set: point it at a directory with {', '.join(TABLES)}")
        return 0
    print(f"| table, recipe | missing | {' | '.join(RULES)} | error |\n|---|---|{'---|' * (len(RULES) + 1)}")
    ahead = []
    for name in tables:
        schema, columns = real.load(name)
        repeats = 3 if len(columns[schema.label.name]) < SMALL else 1
        for recipe in RECIPES:
            plain = [x for r in range(repeats) for x in accuracies(recipe, schema, dict(columns), r)]
            first = f"{name}, {recipe.info.name} ({np.mean(plain):.1f} with no cell missing)"
            for how, shares in MISSING.items():
                if isinstance(recipe, ExactTree) and how in ("5 %", "30 %"):
                    continue  # it takes its time
                found: dict[str, list[float]] = {rule: [] for rule in RULES}
                for seed in range(repeats):
                    holey = punched(schema, dict(columns), shares, np.random.default_rng([7, seed]))
                    for rule in RULES:
                        found[rule] += accuracies(recipe, *stuffed(schema, holey, rule), seed)
                error = max(np.std(values, ddof=1) / np.sqrt(len(values)) for values in found.values())
                means = {rule: float(np.mean(values)) for rule, values in found.items()}
                ahead.append(means["middle"] - means["spread"])
                print(f"| {first} | {how} | {' | '.join(f'{means[r]:.1f}' for r in RULES)} | {error:.1f} |", flush=True)
                first = ""
    print(f"\nthe middle is {np.mean(ahead):+.2f} points ahead of spreading, on average (target {-WITHIN:g} or more)")
    return int(np.mean(ahead) < -WITHIN)


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:]) or TABLES))
