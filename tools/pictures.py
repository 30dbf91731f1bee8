"""Draw the pictures of the README, the tutorial and the recipes: `python tools/pictures.py [NAME ...]`.

Trees and curves come from real fits on the sample table, so noise differs every time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import pyplot as plt

import privet
from privet.datasets.patients import patients
from privet.estimators.classifiers import classifier_class
from privet.recipes.registry import ALL, recipe_class

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
GREEN, BLUE, GREY = "#1b6e3c", "#3b7dd8", "#888888"
RECORDS, HELD_OUT = 5000, 1500


def _exact(epsilon: float = 1, ledger: privet.Ledger | None = None) -> Any:
    schema, table = patients(RECORDS, seed=1)
    return privet.ExactTreeClassifier(schema=schema, epsilon=epsilon, max_depth=3, ledger=ledger).fit(table)


def tree() -> Any:
    """The tree of the README."""
    return privet.plot_tree(_exact())


def promise() -> Any:
    """How likely each noisy count is, from two tables that differ in one record."""
    _, axes = plt.subplots(1, 2, figsize=(7.5, 2.8), layout="constrained", sharey=False)
    counts = np.arange(75, 127)
    for ax, epsilon in zip(axes, (1, 0.1), strict=True):
        ratio = np.exp(-epsilon)  # of the discrete Laplace distribution
        for records, colour, label in ((100, BLUE, "without you"), (101, GREEN, "with you")):
            chance = (1 - ratio) / (1 + ratio) * ratio ** np.abs(counts - records)
            ax.step(counts, chance, where="mid", color=colour, label=label)
        ax.set(title=f"epsilon {epsilon}", xlabel="noisy count", ylim=(0, None))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("probability")
    axes[0].legend(frameon=False, fontsize="small")
    return axes[0]


def tutorial_epsilon() -> Any:
    """The accuracy of the tutorial's tree on patients it has not seen, at five budgets."""
    _, unseen = patients(HELD_OUT, seed=2)
    truth = np.asarray(unseen["readmitted"])
    epsilons = [0.05, 0.1, 0.5, 1, 2]
    scores = [
        [100 * np.mean(_exact(epsilon=epsilon).predict(unseen) == truth) for _ in range(20)] for epsilon in epsilons
    ]
    _, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
    spread = np.std(scores, axis=1)
    ax.errorbar(epsilons, np.mean(scores, axis=1), spread, fmt="o-", color=GREEN, capsize=3)
    _, shares = np.unique(truth, return_counts=True)
    ax.axhline(100 * shares.max() / len(truth), color=GREY, linestyle=":")
    ax.set_xscale("log")
    ax.set_xticks(epsilons, [f"{e:g}" for e in epsilons])
    ax.minorticks_off()
    ax.set(xlabel="epsilon", ylabel="accuracy, %")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def tutorial_budget() -> Any:
    """The ledger after the question and the tree of the tutorial."""
    schema, table = patients(RECORDS, seed=1)
    ledger = privet.Ledger(2)
    privet.protect(table, schema, ledger).class_counts(0.1)
    _exact(ledger=ledger)
    return privet.plot_ledger(ledger)


def recipe_picture(name: str) -> Callable[[], Any]:
    """A model of a recipe from the sample, at epsilon 1: its first tree, or its curves."""

    def draw() -> Any:
        kind = recipe_class(name)
        is_number = "regression" in name
        schema, table = patients(RECORDS, seed=1)
        if is_number:  # how many days does a patient stay?
            others = tuple(one for one in schema.attributes if one.name not in ("days", "admissions"))
            (days,) = (one for one in schema.attributes if one.name == "days")
            schema = privet.Schema(others, label=days)
        wanted = {"max_depth": 3} if "max_depth" in kind.__dataclass_fields__ else {}
        if "sound" not in kind.info.variants:
            wanted |= {"variant": "as-published"}
        model = classifier_class(name)(schema=schema, epsilon=1, **wanted).fit(table)
        if name.startswith("additive"):
            return privet.plot_shapes(model, most=4)
        return privet.plot_tree(model, max_leaves=10)

    return draw


DRAWN: dict[str, Callable[[], Any]] = {
    "tree": tree,
    "promise": promise,
    "tutorial-epsilon": tutorial_epsilon,
    "tutorial-budget": tutorial_budget,
    **{f"recipes/{name}": recipe_picture(name) for name in ALL},
}


def save(drawn: Any, path: Path) -> None:
    """Write a picture as SVG, the same file for the same picture."""
    figure = drawn if hasattr(drawn, "savefig") else drawn.figure
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print("wrote", path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all, or some of: {', '.join(DRAWN)}")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "privet", "svg.fonttype": "none", "font.size": 9})
    for name in parser.parse_args().names or DRAWN:
        save(DRAWN[name](), PICTURES / f"{name}.svg")


if __name__ == "__main__":
    main()
