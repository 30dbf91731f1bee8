"""Recipes under zCDP beside the same recipes in pure epsilon: accuracy on held-out records, on the same splits.

    PRIVET_DATA=tables python benchmarks/zcdp.py --json docs/experiments/zcdp.json
    python benchmarks/zcdp.py --read docs/experiments/zcdp.json --plot docs/experiments/zcdp.svg

Both forms have the same epsilon; delta is 1e-6 under zCDP and 0 otherwise. NOT PRIVATE, like every evaluation. A run
that was cut short goes on where it stopped. Exits with 1 unless zCDP is ahead, on average over tables and epsilons, in
the recipes that ask more than thirty questions on a path.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from pathlib import Path

import numpy as np

TABLES = ["adult-complete", "bank", "car", "chess-krkp", "magic", "mushroom", "nursery", "page-blocks", "pendigits"]
TABLES += ["spambase"]  # large and small, numbers and categories, two classes and ten; chosen before any was run
RECIPES = ["patil-singh2014", "greedy-forest", "snr-forest", "diffpid3", "diffpc45", "embedded", "exact"]
MANY = ("patil-singh2014", "greedy-forest")  # 180 and 36 questions on a path
EPSILONS = [0.1, 0.5, 1.0, 2.0]
DELTA = 1e-6

Figures = dict[str, list[float]]


def key_of(table: str, recipe: str, epsilon: float, delta: float) -> str:
    return f"{table} {recipe} {epsilon:g} {delta:g}"


def measure(table: str, recipes: list[str], epsilons: list[float], splits: int, found: Figures, path: Path) -> None:
    """Accuracies of all forms on some splits of a table, into ``found`` and the file."""
    from privet import make_classifier
    from privet.datasets import real

    schema, columns = real.load(table)
    rows = {key: np.asarray(cells, dtype=object) for key, cells in columns.items() if key in schema.columns}
    label = rows[schema.label.name]
    random = np.random.default_rng(0)
    train = [random.permutation(label.size) < 0.8 * label.size for _ in range(splits)]
    for recipe in recipes:
        for epsilon in epsilons:
            for delta in (0.0, DELTA):
                key = key_of(table, recipe, epsilon, delta)
                for row in train[len(found.get(key, [])) :]:
                    how = {"schema": schema, "epsilon": epsilon, "delta": delta, "random_state": 0, "n_jobs": 1}
                    model = make_classifier(recipe, **how)
                    model.fit({name: cells[row] for name, cells in rows.items()})
                    rest = {name: cells[~row] for name, cells in rows.items() if name != schema.label.name}
                    right = float(np.mean(model.predict(rest).astype(str) == label[~row].astype(str)))
                    found.setdefault(key, []).append(round(right, 5))
                path.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")


def averages(found: Figures, recipe: str, delta: float) -> list[float]:
    """The mean accuracy over tables at each epsilon, in per cent; each table counts the same."""
    keys = ([key_of(table, recipe, epsilon, delta) for table in TABLES] for epsilon in EPSILONS)
    return [100 * float(np.mean([np.mean(found[key]) for key in some if key in found])) for some in keys]


def wins(found: Figures, recipe: str, epsilon: float) -> int:
    """On how many tables zCDP has the higher mean."""
    pairs = ((key_of(table, recipe, epsilon, DELTA), key_of(table, recipe, epsilon, 0.0)) for table in TABLES)
    return sum(np.mean(found[ours]) > np.mean(found[theirs]) for ours, theirs in pairs if ours in found)


def show(found: Figures) -> bool:
    """Print a table of averages; whether zCDP is ahead where much is asked."""
    print(f"| recipe | accounting | {' | '.join(f'{epsilon:g}' for epsilon in EPSILONS)} |")
    print(f"|---|---|{'---|' * len(EPSILONS)}")
    for recipe in RECIPES:
        pure, ours = averages(found, recipe, 0.0), averages(found, recipe, DELTA)
        print(f"| {recipe} | pure epsilon | {' | '.join(f'{value:.1f}' for value in pure)} |")
        cells = [f"{value:.1f} ({wins(found, recipe, e)})" for value, e in zip(ours, EPSILONS, strict=True)]
        print(f"| | zCDP | {' | '.join(cells)} |")
    return all(np.mean(averages(found, r, DELTA)) > np.mean(averages(found, r, 0.0)) for r in MANY)


def draw_figure(path: str, found: Figures) -> None:
    """A panel for each recipe: accuracy against epsilon in both forms, and exact in pure epsilon for comparison."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "zcdp"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 4, figsize=(11, 5.5), sharey=True, sharex=True)
    for axis, recipe in zip(axes.ravel(), RECIPES, strict=False):
        axis.plot(EPSILONS, averages(found, "exact", 0.0), ":", color="grey", label="exact, pure epsilon")
        axis.plot(EPSILONS, averages(found, recipe, 0.0), "--o", color="tab:orange", label="pure epsilon")
        axis.plot(EPSILONS, averages(found, recipe, DELTA), "-o", color="tab:blue", label=f"zCDP, delta {DELTA:g}")
        axis.set(title=recipe, xscale="log")
        axis.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
        axis.minorticks_off()
    for axis in axes[:, 0]:
        axis.set_ylabel("accuracy, %")
    axes[-1, -1].axis("off")
    axes[-1, -1].legend(*axes[0, 0].get_legend_handles_labels(), loc="center", frameon=False)
    figure.supxlabel("epsilon")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, default=RECIPES)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--json", type=Path, default=Path("zcdp.json"), help="where results go, and where they go on")
    parser.add_argument("--read", type=Path, help="show these results, and measure nothing")
    parser.add_argument("--plot")
    given = parser.parse_args()
    place = given.read or given.json
    found: Figures = json.loads(place.read_text()) if place.exists() else {}
    if given.read is None:
        if "PRIVET_DATA" not in os.environ:
            print("PRIVET_DATA is not set: point it at the tables")
            return 0
        warnings.simplefilter("ignore")
        for table in given.tables:
            measure(table, given.recipes, EPSILONS, given.splits, found, place)
            print(table, flush=True)
    ahead = show(found)
    if given.plot:
        draw_figure(given.plot, found)
    return int(not ahead)


if __name__ == "__main__":
    raise SystemExit(main())
