"""Regressors on shapes of labels: lines, steps, heavy tails, skew, spikes, and bounds that are far too wide.

    python benchmarks/regression_shapes.py [--epsilons 0.1 1] [--records 2000 20000 100000] [--shapes linear ...]
        [--draws 2] [--plot shapes.svg]

Prints R^2 on records that were not fitted, of both regressors at each epsilon and of scikit-learn's boosting without
privacy. ``--plot`` draws them (needs matplotlib). NOT PRIVATE, like every evaluation. Exits with 1 where records times
epsilon are at least 200 and a regressor has less than -0.1.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from privet import AdditiveRegressor, ExactTreeRegressor, Numeric, Schema

LEARNERS = {"additive": AdditiveRegressor, "tree": ExactTreeRegressor}
SHAPES = ("linear", "steps", "heavy tails", "skewed", "spikes", "bounds x 50", "bounds x 1e6")
ATTRIBUTES = 6
LEAST = -0.1


def made(shape: str, records: int, seed: int) -> tuple[Schema, dict[str, Any], np.ndarray]:
    """Four of six attributes tell something; the bounds are declared with room, whatever the labels are."""
    random = np.random.default_rng(seed)
    x, noise = random.uniform(0, 10, (records, ATTRIBUTES)), random.normal(size=records)
    line = x[:, 0] + 0.5 * x[:, 1] - 0.7 * x[:, 2] + 0.3 * x[:, 3]
    low, high, y = -30.0, 30.0, line + noise
    if shape == "steps":
        y = 4 * (x[:, 0] > 3) + 3 * (x[:, 1] > 7) * (x[:, 2] < 5) + 0.5 * noise
    elif shape == "heavy tails":
        y, low, high = line + random.standard_t(2, size=records), -1000.0, 1000.0
    elif shape == "skewed":
        y, low, high = np.exp(line / 4 + noise / 4), 0.0, 1000.0
    elif shape == "spikes":
        y = np.where(random.random(records) < 0.4, 0.0, line + noise)
    elif shape.startswith("bounds"):
        low, high = (bound * float(shape.split()[-1]) for bound in (low, high))
    y = np.clip(y, low, high)
    schema = Schema(tuple(Numeric(f"x{i}", 0, 10) for i in range(ATTRIBUTES)), Numeric("y", low, high))
    return schema, {f"x{i}": x[:, i] for i in range(ATTRIBUTES)}, y


def r2(y: np.ndarray, predicted: np.ndarray) -> float:
    return float(1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def measure(shape: str, records: int, epsilons: list[float], draws: int) -> dict[str, list[float]]:
    """R^2 of each learner at each epsilon, and of boosting, in means over draws."""
    found: dict[str, list[list[float]]] = {name: [] for name in (*LEARNERS, "boosting")}
    for draw in range(draws):
        schema, columns, y = made(shape, records + 5000, draw)
        train, test = ({name: column[part] for name, column in columns.items()} for part in np.s_[:records, records:])
        for name, learner in LEARNERS.items():
            fits = (learner(schema=schema, epsilon=epsilon).fit(train, y[:records]) for epsilon in epsilons)
            found[name].append([r2(y[records:], model.predict(test)) for model in fits])
        X = np.column_stack(list(columns.values()))
        boosting = HistGradientBoostingRegressor(random_state=0).fit(X[:records], y[:records])
        found["boosting"].append([r2(y[records:], boosting.predict(X[records:]))])
    return {name: np.mean(rows, axis=0).tolist() for name, rows in found.items()}


def draw_figure(path: str, cells: dict[tuple[str, int], dict[str, list[float]]], epsilons: list[float]) -> None:
    """A panel for each shape: R^2 against records, a line for each learner and epsilon."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    shapes = list(dict.fromkeys(shape for shape, _ in cells))
    figure, axes = pyplot.subplots(2, len(shapes) // 2 + 1, figsize=(11, 5.5), sharey=True, squeeze=False)
    for axis, shape in zip(axes.ravel(), shapes, strict=False):
        sizes = [records for name, records in cells if name == shape]
        for name, colour in zip(LEARNERS, ("tab:blue", "tab:orange"), strict=True):
            for i, (epsilon, style) in enumerate(zip(epsilons, ("--", "-", ":"), strict=False)):
                values = [cells[shape, records][name][i] for records in sizes]
                axis.plot(sizes, values, style, color=colour, marker="o", label=f"{name}, epsilon {epsilon:g}")
        axis.plot(sizes, [cells[shape, records]["boosting"][0] for records in sizes], color="grey", label="no privacy")
        axis.set(title=shape, xscale="log", ylim=(-0.15, 1.02), xticks=sizes, xlabel="records")
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axis.minorticks_off()
    for axis in axes[:, 0]:
        axis.set_ylabel("R²")
    for axis in axes.ravel()[len(shapes) :]:  # at least the last is free
        axis.axis("off")
    axes[-1, -1].legend(*axes[0, 0].get_legend_handles_labels(), loc="center", frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 1])
    parser.add_argument("--records", nargs="+", type=int, default=[2000, 20_000, 100_000])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES))
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--plot")
    options = parser.parse_args()
    print(f"| shape | records | {' | '.join(LEARNERS)} | boosting, no privacy |\n|---|---|---|---|---|")
    cells, bad = {}, []
    for shape in options.shapes:
        for records in options.records:
            found = cells[shape, records] = measure(shape, records, options.epsilons, options.draws)
            row = [", ".join(f"{value:.3f}" for value in values) for values in found.values()]
            print(f"| {shape} | {records:,} | {' | '.join(row)} |", flush=True)
            for name in LEARNERS:
                values = zip(options.epsilons, found[name], strict=True)
                bad += [(shape, records, name, e) for e, value in values if records * e >= 200 and value < LEAST]
    if options.plot:
        draw_figure(options.plot, cells, options.epsilons)
    print(f"below {LEAST}:", bad or "nowhere")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
