"""The private search on adult: what it finds against the best setting at a run's share of epsilon.

PRIVET_DATA=tables python benchmarks/search.py [searches]
"""

from __future__ import annotations

import os
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

import privet
from privet.tables.files import read_table

SETTINGS = [
    {"max_depth": [1, 2, 3, 4, 5, 6]},
    {"criterion": "max", "max_depth": [3, 5]},
    {"recipe": "exact", "max_depth": [1, 2, 3]},
    {"recipe": "exact", "max_depth": 2, "max_bins": 5},
]
BEST = {"epsilon": Fraction(1, 3), "max_depth": 3}  # of ExactTreeClassifier: the best of the twelve


WITHIN = 1.0  # points, on average


def main(searches: int) -> int:
    folder = os.environ.get("PRIVET_DATA")
    if folder is None:
        print("PRIVET_DATA is not set: point it at a directory with adult.csv.gz and adult.schema.json")
        return 0
    schema = privet.Schema.from_json(Path(folder) / "adult.schema.json")
    table = read_table(Path(folder) / "adult.csv.gz", schema)
    print(f"{'found':<55} {'accuracy %':>10} {'best %':>8} {'seconds':>8}")
    behind = []
    for _ in range(searches):
        known, fresh = privet.holdout(table, test=0.3)
        truth = np.asarray(fresh[schema.label.name])
        start = time.perf_counter()
        search = privet.PrivateSearch(privet.papers.DiffPC45Classifier(schema), SETTINGS, epsilon=1).fit(known)
        seconds = time.perf_counter() - start
        best = privet.ExactTreeClassifier(schema, **BEST).fit(privet.holdout(known)[0])
        found, reachable = (100 * float((model.predict(fresh) == truth).mean()) for model in (search, best))
        print(f"{search.best_params_!s:<55} {found:>10.2f} {reachable:>8.2f} {seconds:>8.1f}", flush=True)
        behind.append(reachable - found)
    print(f"{np.mean(behind):.2f} points behind the best setting on average (target {WITHIN:g})")
    return int(np.mean(behind) > WITHIN)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 4))
