"""Draws the README's picture, accuracy against epsilon, from the results of the comparison.

PRIVET_DATA=tables privet peers --quick --out out/peers.jsonl
PRIVET_DATA=tables privet reproduce comparison --quick --out out --peers out/peers.jsonl
python tools/tradeoff.py out/comparison.quick.jsonl out/peers.jsonl [--tables adult-complete magic] [--picture FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from privet_experiments.folds import standard_error
from privet_experiments.store import read_lines
from privet_experiments.sweep import Results

TABLES = ("adult-complete", "magic", "mushroom")
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "accuracy-against-epsilon.svg"
# name in the results: label, colour, line
STYLE = {
    "exact": ("privet exact", "#1b6e3c", "o-"),
    "additive": ("privet additive", "#3b7dd8", "s-"),
    "random-forest": ("privet random-forest", "#7ab55c", "^-"),
    "diffprivlib forest": ("diffprivlib forest", "#c46a1b", "v--"),
    "diffprivlib tree": ("diffprivlib tree", "#b0a090", "x--"),
    "InterpretML DP-EBM": ("InterpretML DP-EBM (delta 1e-6)", "#8a4fa3", "d--"),
    "dp-xgboost": ("dp-xgboost", "#c9a227", "*--"),
}


def draw(results: Results, tables: list[str], epsilons: list[float], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "privet", "font.size": 9})
    figure, axes = plt.subplots(1, len(tables), figsize=(3.6 * len(tables), 3.6), layout="constrained")
    for axis, table in zip(np.atleast_1d(axes), tables, strict=True):
        majority = results.mean(table, "majority")
        if majority is not None:
            axis.axhline(majority, color="#888888", linewidth=0.8, linestyle=":")
        for name, (label, colour, line) in STYLE.items():
            found = [(e, results.folds(table, name, e)) for e in epsilons]
            at = [(e, float(np.mean(folds)), standard_error(folds)) for e, folds in found if folds]
            if at:
                places, means, errors = zip(*at, strict=True)
                axis.errorbar(places, means, errors, fmt=line, color=colour, markersize=4, linewidth=1.3, label=label)
        axis.set_xscale("log")
        axis.set_xticks(epsilons, [f"{e:g}" for e in epsilons])
        axis.minorticks_off()
        axis.set_title(table)
        axis.set_xlabel("epsilon")
        axis.spines[["top", "right"]].set_visible(False)
    np.atleast_1d(axes)[0].set_ylabel("accuracy, %")
    handles, names = np.atleast_1d(axes)[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=140)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, help="files of the comparison and of the peers")
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--picture", type=Path, default=PICTURE)
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = [line["job"] | line["found"] for path in asked.results for line in read_lines(path)[1]]
    epsilons = sorted({row["epsilon"] for row in rows if row["epsilon"] is not None})
    draw(Results(rows), asked.tables, epsilons, asked.picture)
    print("wrote", asked.picture)


if __name__ == "__main__":
    main()
