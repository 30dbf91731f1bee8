"""A model as one SELECT for DuckDB, PostgreSQL or SQLite.

The query goes through the steps of the model, one common table expression each: ``cells`` reads the columns as the
schema says, ``found`` has the row of each summand (the leaf of a tree, the level of a curve), ``sums`` adds up the
numbers of these rows, and the link follows. ``AS MATERIALIZED`` keeps each step from being computed anew wherever it is
used: PostgreSQL would take minutes. In a large model the numbers are tables of their own and are joined.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from privet.errors import ParameterError
from privet.models.export.branches import Branch, Node, branches, ends, spelled, texts
from privet.models.export.dialects import SPACES, Dialect, dialect_of, literal, name, table_name
from privet.models.export.metadata import metadata
from privet.models.formula import Floats, Formula
from privet.schema import Categorical, Numeric
from privet.tables.cells import number_of

if TYPE_CHECKING:
    from privet.models.model import Model

LARGE = 64 * 1024  # characters of numbers in CASE; above, they are joined
STEP = 40  # summands added in one step: SQLite joins at most 64 tables, and nested sums have a limit too
STEPS = re.compile(r"cells|found|ties|tops|weights|capped|totals|sums\d*|v\d+", re.IGNORECASE)  # what steps are called
SMALLEST = -700.0  # of an exponent: PostgreSQL refuses what underflows to 0, and 1e-304 is as good


def to_sql(model: Model, dialect: str = "duckdb", table: str = "records", keep: Sequence[str] | None = None) -> str:
    """A SELECT with a row for each record of ``table``: the columns ``keep`` (by default the attributes), the label and
    ``P(class)`` for each class. Numbers must be in numeric columns; categories can be text, whole
    numbers, doubles or booleans.
    """
    formula = model.trees.formula()
    columns = formula.schema.names if keep is None else tuple(keep)
    if formula.schema.label.name in columns:
        label = formula.schema.label.name
        raise ParameterError(
            parameter="keep", problem=f"names {label!r}, as the prediction is called", fix="leave it out, or rename it"
        )
    words = dialect_of(dialect)
    facts = metadata(model) | ({"advice": words.advice} if words.advice else {})
    comments = [f"-- {key}: {facts[key]}" for key in facts]
    return "\n".join([*comments, _Query(formula, words).text(table, columns)]) + "\n"


class _Query:
    """A query as it grows: a list of common table expressions, each from the one before."""

    def __init__(self, formula: Formula, dialect: Dialect) -> None:
        self.formula, self.schema, self.dialect = formula, formula.schema, dialect
        self.steps: list[str] = []
        self.kept: list[str] = []
        self.prefix = ""
        self.texts = {a: texts(c) for a, c in enumerate(self.schema.attributes) if isinstance(c, Categorical)}

    def text(self, table: str, keep: Sequence[str]) -> str:
        formula = self.formula
        self.prefix = "step_" if STEPS.fullmatch(table) else ""  # SQLite would read the step instead of the table
        self.kept = [f"k{i}" for i in range(len(keep))]
        read = [f"{name(column)} AS {kept}" for column, kept in zip(keep, self.kept, strict=True)]
        asked = [f"{self._cell(a)} AS c{a}" for a in formula.asked]
        cells = self._step("cells", [*read, *(asked or ["0 AS c"])], table_name(table))
        rows = [j for j, summand in enumerate(formula.summands) if not summand.constant]
        found = (f"{self._row(branches(self.schema, formula.summands[j], 'SQL'))} AS r{j}" for j in rows)
        rows_of = self._step("found", [*self.kept, *(list(found) or ["0 AS r"])], cells)
        tallies = {"s": [summand.table for summand in formula.summands]}
        tallies |= {"t": list(formula.ties)} if formula.ties is not None else {}
        tallies |= {"l": [formula.labels.reshape(-1, 1).astype(float)]} if formula.labels is not None else {}
        label, shares, last = self._link(self._sums(tallies, rows_of))
        outputs = [f"{kept} AS {name(column)}" for kept, column in zip(self.kept, keep, strict=True)]
        outputs.append(f"{label} AS {name(self.schema.label.name)}")
        outputs += [f"{share} AS {name(f'P({value})')}" for share, value in zip(shares, formula.classes, strict=True)]
        return "WITH " + ",\n".join(self.steps) + f"\nSELECT {_listed(outputs)}\nFROM {last}"

    def _step(self, called: str, columns: Sequence[str], source: str) -> str:
        """Add a step; its name."""
        self.steps.append(f"{self.prefix}{called} AS MATERIALIZED (\nSELECT {_listed(columns)}\nFROM {source}\n)")
        return self.prefix + called

    def _cell(self, a: int) -> str:
        """A column without NaN, markers and unknown values: NULL if missing values have a code of their own."""
        attribute, dialect = self.schema.attributes[a], self.dialect
        if isinstance(attribute, Numeric):
            cell = dialect.cell(attribute.name)
            if not math.isnan(marker := number_of(attribute.missing)):
                cell = f"NULLIF({cell}, {dialect.number(marker)})"
            return cell if attribute.missing is not None else f"COALESCE({cell}, {dialect.number(attribute.middle)})"
        text = f"CAST({name(attribute.name)} AS TEXT)"
        whole, bare = spelled(attribute)
        fallback = literal(self.texts[a][attribute.fallback])
        stripped = self._listed_texts(a, f"{dialect.strip}({text}, {literal(SPACES)})", bare, fallback)
        return self._listed_texts(a, text, whole, stripped)

    def _listed_texts(self, a: int, cell: str, known: dict[str, int], otherwise: str) -> str:
        arms = [f"WHEN {literal(text)} THEN {literal(self.texts[a][code])}"
                for text, code in known.items() if "\0" not in text]  # fmt: skip  # no database holds one
        return f"CASE {cell} {' '.join(arms)} ELSE {otherwise} END" if arms else otherwise

    def _row(self, node: Node) -> str:
        """The tests that lead to a row, as nested CASE."""
        if not isinstance(node, Branch):
            return str(node)
        column, attribute = f"c{node.attribute}", self.schema.attributes[node.attribute]
        arms: list[tuple[str, Node]]
        if isinstance(attribute, Numeric):
            # A comparison with NULL is not true, so missing values go on to the last group, where they belong.
            arms = [(f"{column} IS NOT NULL" if cut is None else f"{column} <= {self.dialect.number(cut)}", child)
                    for cut, child in ends(attribute, node)]  # fmt: skip
        else:
            known = self.texts[node.attribute]
            arms = [(f"{column} IN ({', '.join(literal(known[code]) for code in codes)})", child)
                    for codes, child in node.groups[:-1]]  # fmt: skip
        tests = " ".join(f"WHEN {test} THEN {self._row(child)}" for test, child in arms)
        return f"CASE {tests} ELSE {self._row(node.groups[-1][1])} END"

    def _sums(self, tallies: dict[str, list[Floats]], last: str) -> str:
        """Add up the numbers of all rows, a few summands at a time, in the order of the model; the last step."""
        values = sum(table.size for tables in tallies.values() for table in tables)
        join = values * 24 > LARGE  # about 24 characters a number
        summands = self.formula.summands
        for start in range(0, len(summands), STEP):
            part = range(start, min(start + STEP, len(summands)))
            joined = [j for j in part if join and not summands[j].constant]
            for j in joined:
                self._lookup(j, tallies)
            columns = [f"{last}.{column}" for column in self.kept]
            columns += [f"{last}.r{j}" for j in range(part.stop, len(summands)) if not summands[j].constant]
            for tally, tables in tallies.items():
                for c in range(tables[0].shape[1]):
                    terms = [self._value(j, tally, tables[j], c, joined) for j in part if j < len(tables)]
                    terms = [term for term in terms if term != "0"]
                    before = [f"{last}.{tally}{c}"] if start else [self.dialect.number(0.0)]
                    how = " + ".join if tally != "s" or self.formula.combine == "sum" else self.dialect.largest
                    columns.append(f"{how([*before, *terms])} AS {tally}{c}")
            tables_of = ((j, f"{self.prefix}v{j}") for j in joined)
            source = last + "".join(f"\n{self.dialect.join} {v} ON {v}.r = {last}.r{j}" for j, v in tables_of)
            last = self._step(f"sums{start // STEP}", columns, source)
        return last

    def _lookup(self, j: int, tallies: dict[str, list[Floats]]) -> None:
        """A table of the numbers of a summand, by row."""
        tables = [(tally, tables[j]) for tally, tables in tallies.items() if j < len(tables)]
        head = ["r", *(f"{tally}{c}" for tally, table in tables for c in range(table.shape[1]))]
        rows = np.concatenate([table for _, table in tables], axis=1)
        self.steps.append(
            f"{self.prefix}v{j}({', '.join(head)}) AS MATERIALIZED ({self.dialect.numbers(rows.tolist())})"
        )

    def _value(self, j: int, tally: str, table: Floats, c: int, joined: Sequence[int]) -> str:
        """A number of the summand's row; "0" if it is 0 in every row."""
        if not table[:, c].any():
            return "0"
        if len(table) == 1:
            return self.dialect.number(table[0, c])
        if j in joined:
            return f"{self.prefix}v{j}.{tally}{c}"
        arms = " ".join(
            f"WHEN {row} THEN {self.dialect.number(value)}" for row, value in enumerate(table[:, c].tolist())
        )
        return f"CASE r{j} {arms} END"

    def _link(self, last: str) -> tuple[str, list[str], str]:
        """The label and the probabilities, after the steps that lead there, and the last of these."""
        formula, number = self.formula, self.dialect.number
        scores = [f"s{c}" for c in range(formula.columns)]
        carried = [*self.kept, *scores]
        if formula.link == "number":
            return "s0" if formula.bounds is None else self.dialect.within("s0", *formula.bounds), [], last
        if formula.labels is not None:
            return _cases((f"l0 = {c}", literal(value)) for c, value in enumerate(formula.classes)), scores, last
        deciding = scores
        if formula.ties is not None:
            tied = [f"CASE WHEN {s} = {self.dialect.largest(scores)} THEN t{c} ELSE -1 END AS d{c}"
                    for c, s in enumerate(scores)]  # fmt: skip
            deciding = [f"d{c}" for c in range(formula.columns)]
            last = self._step("ties", [*carried, *tied], last)
            carried = [*carried, *deciding]
        last = self._step("tops", [*carried, f"{self.dialect.largest(deciding)} AS top"], last)
        weights = [f"EXP({self.dialect.largest([f'{s} - top', number(SMALLEST)])})" if formula.link == "softmax"
                   else self.dialect.largest([s, number(0.0)]) for s in scores]  # fmt: skip
        named = [f"{weight} AS w{c}" for c, weight in enumerate(weights)]
        last = self._step("weights", [*self.kept, *dict.fromkeys(deciding), "top", *named], last)
        total = " + ".join(f"w{c}" for c in range(formula.columns))
        if formula.taken:
            last = self._step("sums", [f"{last}.*", f"{total} AS before"], last)
            capped = [f"w{c} * (before - {number(formula.taken)} * w{c}) AS w{c}" for c in range(formula.columns)]
            last = self._step("capped", [*self.kept, *dict.fromkeys(deciding), "top", *capped], last)
        last = self._step("totals", [f"{last}.*", f"{total} AS total"], last)
        label = _cases((f"{d} = top", literal(value)) for d, value in zip(deciding, formula.classes, strict=True))
        equal = number(1 / formula.columns)
        return label, [f"CASE WHEN total > 0 THEN w{c} / total ELSE {equal} END" for c in range(formula.columns)], last


def _cases(arms: Iterator[tuple[str, str]]) -> str:
    return f"CASE {' '.join(f'WHEN {test} THEN {value}' for test, value in arms)} END"


def _listed(columns: Sequence[str]) -> str:
    return ",\n  ".join(columns)
