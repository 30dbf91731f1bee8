"""Draw the README's picture of a tree, from the sample table: `python tools/pictures.py`. Noise differs every time."""

from __future__ import annotations

from pathlib import Path

import matplotlib

import privet
from privet.datasets.patients import patients

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"

if __name__ == "__main__":
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "privet"  # the same tree is the same file
    schema, table = patients(5000, seed=1)
    tree = privet.ExactTreeClassifier(schema=schema, epsilon=1, max_depth=3).fit(table)
    PICTURES.mkdir(exist_ok=True)
    privet.plot_tree(tree).figure.savefig(PICTURES / "tree.svg", metadata={"Date": None})
    print("wrote", PICTURES / "tree.svg")
