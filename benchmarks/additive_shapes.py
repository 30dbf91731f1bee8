"""The additive model where it could collapse: wide, unbalanced and many-class tables, beside its own parts.

    python benchmarks/additive_shapes.py [--epsilons 0.1 1] [--delta 1e-6] [--records 60000] [--draws 2]
        [--cells 40x2x6 ...]

Prints AUC, log-loss and accuracy of the model, of all curves with no tree and no choice, of a tree with nine tenths of
epsilon, and the log-loss of the class shares. A cell is attributes x classes x per cent of the rarer class (of two), or
"noise" where labels have nothing to do with the attributes; or the name of a table of PRIVET_DATA, in an order by a
seed. NOT PRIVATE, like every evaluation. Exits with 1 where records times epsilon are at least 1,000 and the model's
AUC is more than .02 below the better of its parts (not asked of noise), or its log-loss more than .02 above that of the
class shares.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from privet import AdditiveClassifier, Categorical, Numeric, Schema
from privet.datasets import real
from privet.growing.additive import fitting

CELLS = [f"{attributes}x2x{percent}" for attributes in (10, 40, 150) for percent in (1, 6, 30)]
CELLS += [f"{attributes}x{classes}x0" for attributes in (10, 40) for classes in (5, 10, 26)]
CELLS += ["10x5xnoise", "10x18xnoise"]
FORMS = ("model", "all curves", "mostly a tree")


def made(attributes: int, classes: int, percent: int | None, records: int, seed: int) -> tuple[Schema, dict[str, Any]]:
    """A fifth of the attributes tell something, half of them by their distance from 0."""
    random = np.random.default_rng(seed)
    x, strong = random.normal(size=(records, attributes)), max(4, attributes // 5)
    told = np.where(np.arange(strong) % 2, x[:, :strong], np.abs(x[:, :strong]))
    if percent is None:
        label = random.integers(0, classes, records)
    elif classes == 2:
        score = told @ random.normal(size=strong)
        score = 2 * score / score.std() + random.logistic(size=records)
        label = 1 * (score > np.quantile(score, 1 - percent / 100))
    else:
        score = 3 * told @ random.normal(size=(strong, classes)) / strong**0.5
        label = (score + random.gumbel(size=(records, classes))).argmax(axis=1)
    numbers = tuple(Numeric(f"x{i}", -4, 4) for i in range(attributes))
    schema = Schema(numbers, Categorical("y", tuple(range(classes))))
    return schema, {f"x{i}": x[:, i] for i in range(attributes)} | {"y": label}


@contextmanager
def as_form(form: str) -> Iterator[None]:
    """The model as it is, or one of its parts alone."""
    share: dict[str, Callable[..., Fraction]] = {
        "all curves": lambda *_: Fraction(0),
        "mostly a tree": lambda *_: Fraction(9, 10),
    }
    if form == "model":
        yield
        return
    with (
        patch.object(fitting, "tree_share", share[form]),
        patch.object(fitting, "curves_kept", lambda attributes, *_: attributes),
        patch.object(fitting, "tree_records", lambda *_: 2.0**40),  # so that no tree has enough
    ):
        yield


def auc(label: np.ndarray, proba: np.ndarray) -> float:
    """The mean over classes of one against the rest."""
    seen = [c for c in range(proba.shape[1]) if 0 < (label == c).sum() < len(label)]
    return float(np.mean([roc_auc_score(label == c, proba[:, c]) for c in seen]))


def drawn(cell: str, records: int, seed: int) -> tuple[Schema, dict[str, Any]]:
    """The table of a cell: invented, or a real one in another order."""
    if not cell[0].isdigit():
        schema, columns = real.load(cell)
        order = np.random.default_rng(seed).permutation(len(next(iter(columns.values()))))
        return schema, {name: np.asarray(column)[order] for name, column in columns.items()}
    attributes, classes, percent = cell.split("x")
    return made(int(attributes), int(classes), None if percent == "noise" else int(percent), records, seed)


def compare(cell: str, epsilon: float, delta: float, records: int, draws: int) -> bool:
    found: dict[str, list[tuple[float, ...]]] = {form: [] for form in FORMS}
    shares: list[float] = []
    for draw in range(draws):
        schema, columns = drawn(cell, records, draw)
        train, test = ({name: column[part] for name, column in columns.items()} for part in np.s_[0::2, 1::2])
        for form in FORMS:
            with as_form(form):
                model = AdditiveClassifier(schema=schema, epsilon=epsilon, delta=delta).fit(train)
            proba, every = model.predict_proba(test), list(model.classes_)
            number = {label: place for place, label in enumerate(every)}
            known, told = (np.array([number[v] for v in part[schema.label.name]]) for part in (train, test))
            right = float((proba.argmax(axis=1) == told).mean())
            found[form].append((auc(told, proba), log_loss(told, proba, labels=range(len(every))), right))
        rate = np.bincount(known, minlength=len(every)) / len(known)
        shares.append(log_loss(told, np.tile(rate, (len(told), 1)), labels=range(len(every))))
    means = {form: np.mean(all_, axis=0) for form, all_ in found.items()}
    cells = [f"{means[form][0]:.3f}, {means[form][1]:.3f}, {100 * means[form][2]:.1f} %" for form in FORMS]
    print(f"| {cell} | {epsilon:g} | {' | '.join(cells)} | {np.mean(shares):.3f} |", flush=True)
    worse = not cell.endswith("noise") and means["model"][0] < max(means[form][0] for form in FORMS[1:]) - 0.02
    return bool(len(known) * epsilon >= 1000 and (worse or means["model"][1] > np.mean(shares) + 0.02))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 1])
    parser.add_argument("--delta", type=float, default=0.0)
    parser.add_argument("--records", type=int, default=60_000, help="half of them to fit, half to judge")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--cells", nargs="+", default=CELLS)
    options = parser.parse_args()
    print(f"| attributes x classes x % | epsilon | {' | '.join(FORMS)} | class shares |\n|{'---|' * 6}")
    how = (options.delta, options.records, options.draws)
    bad = [(c, e) for c in options.cells for e in options.epsilons if compare(c, e, *how)]
    print("behind its own parts:", bad or "nowhere")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
