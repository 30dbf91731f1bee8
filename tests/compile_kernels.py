"""Compile the kernels that most tests use. Numba keeps them on disk, for all processes that come after.

Test processes that start together would each compile the same ones, some fifteen seconds of them. ``make test`` runs
this first; with the kernels on disk it takes two seconds.
"""

from __future__ import annotations

from privet import AdditiveClassifier, ExactTreeClassifier, PrivateForestClassifier
from privet.datasets.clinic import clinic
from privet.papers import DiffPC45Classifier


def main() -> None:
    schema, table = clinic(100, seed=0)
    for model in (
        ExactTreeClassifier(schema, max_depth=2),
        ExactTreeClassifier(schema, max_depth=2, tests="multiway"),
        DiffPC45Classifier(schema, max_depth=2),
        PrivateForestClassifier(schema),
        AdditiveClassifier(schema, 10),
    ):
        model.fit(table, table[schema.label.name]).predict_proba(table)


if __name__ == "__main__":
    main()
