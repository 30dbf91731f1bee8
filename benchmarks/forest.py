"""A private random forest of 100 trees, depth 10, on 1M x 14 codes, against diffprivlib's of the same size, in one run.

    python benchmarks/forest.py [--records 1000000] [--no-rival]

Both forms: all records in every tree, and disjoint parts. Prediction is of the same million records. diffprivlib, which
cuts its records into disjoint parts, gets an environment of its own (made on first use, in ``.venv-rivals``). Exits
with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from _rivals import ask_diffprivlib, schema, table

TREES, DEPTH = 100, 10
GROWN, PREDICTED, FASTER = 10.0, 5.0, 3.0  # seconds, seconds, times

RIVAL = f"""
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from diffprivlib.models import RandomForestClassifier
X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
bounds = (np.zeros(X.shape[1]), np.full(X.shape[1], X.max()))
times = []
for _ in range(2):
    forest = RandomForestClassifier(n_estimators={TREES}, max_depth={DEPTH}, epsilon=1.0, bounds=bounds, classes=[0, 1])
    start = time.perf_counter()
    forest.fit(X, y)
    grown = time.perf_counter()
    forest.predict(X)
    times.append((grown - start, time.perf_counter() - grown))
print(json.dumps([min(t[0] for t in times), min(t[1] for t in times)]))
"""


def measure(X: np.ndarray, y: np.ndarray, sharing: str, repeats: int = 3) -> tuple[float, float]:
    """Seconds to fit and to predict, table in and labels out."""
    from privet import make_classifier

    grown, predicted = np.inf, np.inf
    for _ in range(repeats):
        forest = make_classifier(
            "random-forest",
            schema=schema(),
            epsilon=1.0,
            n_estimators=TREES,
            max_depth=DEPTH,
            min_signal=0,
            tests="binary",
            max_leaves=2**DEPTH,
            sharing=sharing,
        )
        start = time.perf_counter()
        forest.fit(X, y)
        middle = time.perf_counter()
        forest.predict(X)
        grown, predicted = min(grown, middle - start), min(predicted, time.perf_counter() - middle)
    return grown, predicted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--no-rival", action="store_true", help="leave diffprivlib out")
    options = parser.parse_args()
    X, y = table(options.records)
    measure(X[:1000], y[:1000], "all", 1)
    missed, ours = 0, {}
    for sharing in ("all", "disjoint"):
        ours[sharing] = grown, predicted = measure(X, y, sharing)
        print(f"privet, {TREES} trees of depth {DEPTH}, {sharing}: grown in {grown:.2f} s (target {GROWN:g})", end="")
        print(f", predicted in {predicted:.2f} s (target {PREDICTED:g})")
        missed += grown > GROWN or predicted > PREDICTED
    if not options.no_rival:
        grown, predicted = ask_diffprivlib(RIVAL, X, y)
        print(f"diffprivlib: grown in {grown:.2f} s, predicted in {predicted:.2f} s")
        for sharing, times in ours.items():
            ratio = (grown + predicted) / sum(times)
            print(f"  {sharing}: 1/{ratio:.1f} of its time (target 1/{FASTER:g})")
            missed += ratio < FASTER
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
