"""How exact ranks where classes are unequal, with more for its leaves, with weights of classes, or as several trees.

    PRIVET_DATA=tables python benchmarks/exact_unbalanced.py [--tables bank 10x2x6 ...] [--epsilons 0.1 1] [--seed 0]

Prints accuracy, AUC and log-loss on three tenths of the records, learned from the others. A table is one of
PRIVET_DATA, or an invented one as ``additive_shapes.py`` names them. The forms: a twentieth of epsilon for leaves (the
default where there are records enough), a fifth, and half of it; weights of classes by the root of how rare they are
(known for nothing here), with a fifth for leaves; and the mean of four trees, each of the records that a coin gave it.
NOT PRIVATE, like every evaluation.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from additive_shapes import auc, made

from privet import ExactTreeClassifier, Schema
from privet.datasets import real
from privet.tables.encoding import encode

TABLES = ("10x2x1", "10x2x6", "10x2x15", "bank", "page-blocks", "wilt")
FORMS = ("leaves 0.05", "leaves 0.2", "leaves 0.5", "weights", "four trees")
RECORDS, TREES, LEAST = 30_000, 4, 1 / 16


def load(name: str, seed: int) -> tuple[Schema, dict[str, Any]]:
    if not name[0].isdigit():
        return real.load(name)
    attributes, classes, percent = map(int, name.split("x"))
    return made(attributes, classes, percent, RECORDS, seed)


def rarity(schema: Schema, labels: np.ndarray) -> dict[Any, float]:
    shares = np.maximum(np.bincount(labels, minlength=schema.n_classes) / len(labels), 1e-6)
    weights = np.maximum(np.sqrt(shares.min() / shares), LEAST)
    return dict(zip(schema.label.values, weights.tolist(), strict=True))


def fit(form: str, schema: Schema, epsilon: float, train: dict[str, Any], labels: np.ndarray) -> list[Any]:
    """The trees of a form."""
    chosen: dict[str, dict[str, Any]] = {
        "leaves 0.05": {"leaf_share": 0.05},
        "leaves 0.2": {"leaf_share": 0.2},
        "leaves 0.5": {"leaf_share": 0.5},
        "weights": {"class_weight": rarity(schema, labels), "leaf_share": 0.2},
    }
    parts = [np.ones(len(labels), dtype=bool)]
    if form == "four trees":
        coins = np.random.default_rng().integers(0, TREES, len(labels))
        parts = [coins == side for side in range(TREES)]
    learner = ExactTreeClassifier(schema=schema, epsilon=epsilon, **chosen.get(form, {}))
    return [type(learner)(**learner.get_params()).fit({key: c[part] for key, c in train.items()}) for part in parts]


def proba(schema: Schema, trees: list[Any], test: dict[str, Any]) -> np.ndarray:
    order = [[tree.classes_.tolist().index(value) for value in schema.label.values] for tree in trees]
    return np.mean([tree.predict_proba(test)[:, at] for tree, at in zip(trees, order, strict=True)], axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 1])
    parser.add_argument("--forms", nargs="+", default=FORMS, choices=FORMS)
    parser.add_argument("--seed", type=int, default=0, help="deals the records")
    options = parser.parse_args()
    print(f"| table | epsilon | {' | '.join(options.forms)} |\n|{'---|' * (2 + len(options.forms))}")
    for table in options.tables:
        schema, columns = load(table, options.seed)
        labels = np.asarray(encode(schema, columns).labels).astype(np.int64)
        rows = {name: np.asarray(column) for name, column in columns.items()}
        mine = np.random.default_rng(options.seed).permutation(len(labels)) < 0.7 * len(labels)
        train, test = {k: c[mine] for k, c in rows.items()}, {k: rows[k][~mine] for k in schema.names}
        for epsilon in options.epsilons:
            cells = []
            for form in options.forms:
                said, true = proba(schema, fit(form, schema, epsilon, train, labels[mine]), test), labels[~mine]
                loss = -np.log(np.maximum(said[np.arange(len(true)), true], 1e-13)).mean()
                right = 100 * (said.argmax(axis=1) == true).mean()
                cells.append(f"{right:.1f}, {auc(true, said):.3f}, {loss:.3f}")
            print(f"| {table} | {epsilon:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
