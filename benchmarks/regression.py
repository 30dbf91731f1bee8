"""Regressors beside InterpretML's DP-EBM: R^2 and time, on the same splits and with the same bounds in one run.

    PRIVET_DATA=tables python benchmarks/regression.py [--tables housing] [--epsilons 0.1 1] [--splits 5] [--wide 50]

privet promises pure epsilon; DP-EBM always promises (epsilon, delta), here with delta = 1e-6. All get the bounds and
categories of the schema; ``--wide`` makes the bounds of the label that many times too wide for privet's. DP-EBM gets an
environment of its own, made on first use. NOT PRIVATE, like every evaluation. Exits with 1 when DP-EBM is ahead of the
additive model in R^2 anywhere.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from privet_experiments.peers.environments import ask_rivals
from privet_experiments.peers.learners import DELTA

DEPTHS = "draw zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
EBM = f"""
import json, sys, time, warnings
import numpy as np
from interpret.privacy import DPExplainableBoostingRegressor
warnings.simplefilter("ignore")
X, y, train, bounds, nominal, epsilons, target = (np.load(path) for path in sys.argv[1:8])
names = [f"x{{i}}" for i in range(X.shape[1])]
types = ["nominal" if flag else "continuous" for flag in nominal]
ranges = {{name: tuple(bound) for name, bound, flag in zip(names, bounds.T.tolist(), nominal) if not flag}}
found = []
for epsilon in epsilons.tolist():
    for row in train:
        start = time.process_time()
        model = DPExplainableBoostingRegressor(
            names, types, epsilon=epsilon, delta={DELTA}, privacy_bounds=ranges,
            privacy_target_min=float(target[0]), privacy_target_max=float(target[1]), n_jobs=1,
        )
        model.fit(X[row], y[row])
        found.append([epsilon, time.process_time() - start, model.predict(X[~row]).tolist()])
print(json.dumps(found))
"""


def housing(folder: Path) -> tuple[Any, dict[str, Any]]:
    import polars

    from privet import Categorical, Numeric, Schema

    bounds = {
        "longitude": (-125, -114),
        "latitude": (32, 42),
        "housing_median_age": (0, 60),
        "total_rooms": (0, 50_000),
    }
    bounds |= {"total_bedrooms": (0, 10_000), "population": (0, 50_000), "households": (0, 10_000)}
    attributes = [
        *(Numeric(name, *both, missing="?" if name == "total_bedrooms" else None) for name, both in bounds.items()),
        Numeric("median_income", 0, 20),
        Categorical("ocean_proximity", ("<1H OCEAN", "INLAND", "ISLAND", "NEAR BAY", "NEAR OCEAN")),
    ]
    table = polars.read_csv(folder / "regression" / "housing.csv.gz").to_dict(as_series=False)
    return Schema(tuple(attributes), Numeric("median_house_value", 0, 600_000)), table


def friedman(_: Path) -> tuple[Any, dict[str, Any]]:
    from privet import Numeric, Schema

    random = np.random.default_rng(7)
    x = random.random((20_000, 10))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    names = [f"x{i}" for i in range(10)]
    table: dict[str, Any] = dict(zip(names, x.T, strict=True)) | {"y": y + random.normal(size=len(y))}
    return Schema(tuple(Numeric(name, 0, 1) for name in names), Numeric("y", -10, 40)), table


def real_table(name: str, label: str | None, low: float, high: float, words: str = "") -> Any:
    """A table of ``PRIVET_DATA`` with one of its numbers, or its class as a number, to predict."""

    def load(_: Path) -> tuple[Any, dict[str, Any]]:
        from privet import Numeric, Schema
        from privet.datasets import real

        schema, columns = real.load(name)
        table = {key: np.asarray(cells) for key, cells in columns.items()}
        chosen = label or schema.label.name
        others = tuple(a for a in (*schema.attributes, schema.label) if a.name != chosen)
        if words:
            places = {word: float(place - 1) for place, word in enumerate(words.split())}
            kept = table[chosen] != words.split()[0]
            table = {key: cells[kept] for key, cells in table.items()}
            table[chosen] = np.array([places[str(cell)] for cell in table[chosen]])
        table[chosen] = table[chosen].astype(float)
        return Schema(others if label else schema.attributes, Numeric(chosen, low, high, integer=True)), table

    return load


TABLES = {
    "housing": housing,
    "chess": real_table("chess-krk", None, 0, 16, DEPTHS),
    "hours": real_table("adult-complete", "hours-per-week", 1, 99),
    "wine": real_table("wine-red", None, 0, 10),
    "friedman": friedman,
}


def compare(name: str, epsilons: list[float], splits: int, wide: float) -> bool:
    """Print a line for each learner and epsilon; whether the additive model is ahead everywhere."""
    from privet import AdditiveRegressor, ExactTreeRegressor, Numeric
    from privet.tables.frozen import freeze

    schema, table = TABLES[name](Path(os.environ["PRIVET_DATA"]))
    rows = {key: np.asarray(cells, dtype=object) for key, cells in table.items() if key in schema.columns}
    frozen = freeze(schema, rows)
    y = np.asarray(frozen.labels)
    columns = [
        np.where(np.isnan(column), a.middle, column) if isinstance(a, Numeric) else column.astype(float)
        for a, column in zip(schema.attributes, frozen.columns, strict=True)
    ]
    bounds = np.array([(a.low, a.high) if isinstance(a, Numeric) else (0, a.arity - 1) for a in schema.attributes]).T
    nominal = np.array([not isinstance(a, Numeric) for a in schema.attributes])
    random = np.random.default_rng(0)
    train = np.array([random.permutation(y.size) < 0.8 * y.size for _ in range(splits)])
    label = schema.number
    theirs = ask_rivals(
        "interpret", EBM, X=np.stack(columns, axis=1), y=y, train=train, bounds=bounds.astype(float), nominal=nominal,
        epsilons=np.array(epsilons), target=np.array([label.low, label.high]),
    )  # fmt: skip
    ours = replace(schema, label=replace(label, low=label.low * wide, high=label.high * wide))
    ahead = True
    for epsilon in epsilons:
        mine = [one for one in theirs if one[0] == epsilon]
        found = {"DP-EBM": [(r2(y[~row], np.array(p)), s) for row, (_, s, p) in zip(train, mine, strict=True)]}
        for kind in (AdditiveRegressor, ExactTreeRegressor):
            found[kind.__name__] = []
            for row in train:
                start = time.process_time()
                model = kind(ours, epsilon).fit({key: cells[row] for key, cells in rows.items()})
                seconds = time.process_time() - start
                rest = {key: rows[key][~row] for key in schema.names}
                found[kind.__name__].append((r2(y[~row], model.predict(rest)), seconds))
        for learner, runs in found.items():
            means, error = np.mean(runs, axis=0), np.std([one for one, _ in runs]) / np.sqrt(splits)
            print(f"{name:9} epsilon {epsilon:<4g} {learner:19} R^2 {means[0]:.3f} ± {error:.3f}  {means[1]:.2f} CPU s",
                  flush=True)  # fmt: skip
        ahead &= bool(np.mean(found["AdditiveRegressor"], axis=0)[0] > np.mean(found["DP-EBM"], axis=0)[0])
    return ahead


def r2(y: np.ndarray, predicted: np.ndarray) -> float:
    return float(1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 0.5, 1.0, 2.0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--wide", type=float, default=1.0)
    given = parser.parse_args()
    if "PRIVET_DATA" not in os.environ:
        print("PRIVET_DATA is not set: point it at the tables")
        return 0
    found = [compare(name, given.epsilons, given.splits, given.wide) for name in given.tables]
    return int(not all(found))


if __name__ == "__main__":
    sys.exit(main())
