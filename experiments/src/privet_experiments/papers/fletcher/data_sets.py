"""Tables 5.5, 7.1 and 8.4: what follows from the tables' public facts and their sizes, without any fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from privet.datasets import real
from privet.recipes.papers.smooth_forest import depth_of
from privet.recipes.papers.snr_forest import number_of_trees
from privet.schema import Numeric
from privet.tables.frozen import freeze
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.judge import Measure, judge, published
from privet_experiments.outcome import Outcome, Table

DATA_SETS, TREES, DEPTHS = (published("fletcher.tables", name) for name in ("facts", "trees", "depth"))
TABLES = tuple(dict.fromkeys((*DATA_SETS, *TREES, "claves")))
# Records of the thesis's copies that ours do not have the same number of: it leaves out records with missing values.
RECORDS = {"adult-complete": 30_162, "mushroom": 5644}


@dataclass(frozen=True)
class DataSets(Experiment):
    """Records, attributes and classes of the thesis's tables; trees of chapter 7 and depths of chapter 8."""

    tables: tuple[str, ...] = axis(TABLES, "A table of PRIVET_DATA; may be repeated.")

    def jobs(self) -> list[Job]:
        return [{"table": table} for table in self.tables]

    def run(self, job: Job) -> Found:
        schema, columns = real.load(job["table"])
        frozen = freeze(schema, columns)
        numbers = sum(isinstance(attribute, Numeric) for attribute in schema.attributes)
        size = RECORDS.get(job["table"], len(frozen.labels))
        arities = schema.with_bins(5).arities
        return {
            "records": len(frozen.labels),
            "numbers": numbers,
            "discrete": len(schema.attributes) - numbers,
            "labels": schema.n_classes,
            "largest": 100 * float(np.bincount(frozen.labels).max() / len(frozen.labels)),
            "trees": [number_of_trees(size, arities, schema.n_classes, epsilon) for epsilon in (1.0, 0.1)],
            "depth": depth_of(numbers, len(schema.attributes) - numbers),
        }

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        columns = ("table", "records", "numbers", "discrete", "labels", "largest %", "trees at 1 and 0.1", "depth")
        cells = tuple(
            (
                row["table"],
                *(str(row[name]) for name in ("records", "numbers", "discrete", "labels")),
                f"{row['largest']:.0f}",
                " and ".join(map(str, row["trees"])),
                str(row["depth"]),
            )
            for row in rows
        )
        return Outcome(
            (Table("The thesis's tables", columns, cells),), statements=judge("fletcher.tables", _measures(rows))
        )


def _measures(rows: Sequence[Row]) -> Iterator[Measure]:
    for row in rows:
        facts = [*(row[name] for name in ("records", "numbers", "discrete", "labels")), round(row["largest"])]
        yield Measure("facts", at=row["table"], facts=facts)
    if {row["table"] for row in rows} >= set(DATA_SETS):  # what the text says of Table 5.5, by the table itself
        records, numbers, discrete, labels, _ = (list(column) for column in zip(*DATA_SETS.values(), strict=True))
        attributes = [sum(both) for both in zip(numbers, discrete, strict=True)]
        for name, column in (("records", records), ("attributes", attributes), ("class labels", labels)):
            yield Measure("span", at=name, least=min(column), most=max(column))
        yield Measure("binary", binary=labels.count(2))
    for row in rows:
        yield Measure("trees", at=row["table"], trees=row["trees"])
    found = {row["table"]: row for row in rows}
    for table in (table for table in DEPTHS if table in found):
        row = found[table]
        theorem = "Theorem 8.2 and one more, as the table has it" if DEPTHS[table][0] else ""
        yield Measure("depth", at=table, depth=[row["numbers"], row["discrete"], row["depth"]], theorem=theorem)
