"""Pattern retention at scale: 1,000 patterns of six conditions on two tables of a million records and 14 attributes.

python benchmarks/retention.py [--records N] [--patterns N]

Against the plain way, a pass over the records for each pattern (``Rule.matches``), of which a twentieth of the patterns
are done and the time is multiplied. Times are of the processor, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from privet.models.rules import Condition, Rule
from privet.rules.retention import retention_report
from privet.rules.rulelist import RuleList
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Threshold
from privet.tables.encoding import Codes

ATTRIBUTES, BINS, CONDITIONS = 14, 20, 6
TARGET = 5.0  # seconds
SHARE = 20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--patterns", type=int, default=1_000)
    asked = parser.parse_args()
    random = np.random.default_rng(0)
    label = Categorical("class", ("c0", "c1"))
    schema = Schema(tuple(Numeric(f"x{i}", 0, 1, bins=BINS) for i in range(ATTRIBUTES)), label)
    original, anonymised = (
        Codes(
            random.integers(0, BINS, (ATTRIBUTES, asked.records), dtype=np.uint8),
            random.integers(0, 2, asked.records, dtype=np.uint8),
        )
        for _ in range(2)
    )
    patterns = tuple(
        Rule(
            tuple(Condition(Threshold(int(a), int(random.integers(BINS - 1))), int(random.integers(2))) for a in some),
            "c0",
        )
        for some in (random.choice(ATTRIBUTES, CONDITIONS, replace=False) for _ in range(asked.patterns))
    )
    few = Codes(original.features[:, :1000], original.labels[:1000])  # type: ignore[index]
    retention_report(few, few, RuleList(schema, patterns[:10]))  # loads and compiles
    start = time.process_time()
    retention_report(original, anonymised, RuleList(schema, patterns))
    ours = time.process_time() - start
    start = time.process_time()
    for pattern in patterns[::SHARE]:
        for codes in (original, anonymised):
            np.bincount(codes.labels[pattern.matches(codes.features)], minlength=2)  # type: ignore[index]
    plain = SHARE * (time.process_time() - start)
    print(f"{asked.patterns} patterns on 2 x {asked.records} records: {ours:.2f} CPU s, target {TARGET:g}")
    print(f"a pass for each pattern: {plain:.1f} CPU s; 1/{plain / ours:.1f}")
    return 0 if ours <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
