"""Accuracy against epsilon: privet's recommended recipes and the peers', on real tables; draws the README's picture.

    PRIVET_DATA=tables python benchmarks/frontier.py [--tables adult-complete magic] [--splits 3] [--picture FILE]

Everybody has the defaults of their own library, the same table, split in the same way (four fifths to learn from, with
labels in their proportions), and the bounds and categories of the schema. diffprivlib reads categories as numbers, in
the order of the schema. InterpretML's model promises delta = 1e-5 on top of epsilon; all others are pure. The rivals
get an environment of their own (made on first use, in ``.venv-rivals``). NOT PRIVATE, like every evaluation.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _rivals import ask_rivals

TABLES = ("adult-complete", "magic", "mushroom")
EPSILONS = (0.1, 0.3, 1.0, 3.0)
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "accuracy-against-epsilon.svg"
STYLE = {
    "privet exact": ("#1b6e3c", "o-"),
    "privet additive": ("#3b7dd8", "s-"),
    "privet random-forest": ("#7ab55c", "^-"),
    "diffprivlib RandomForest": ("#c46a1b", "v--"),
    "diffprivlib DecisionTree": ("#b0a090", "x--"),
    "InterpretML DP-EBM (delta 1e-5)": ("#8a4fa3", "d--"),
}

RIVAL = """
import json, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
from diffprivlib.models import DecisionTreeClassifier, RandomForestClassifier
from interpret.privacy import DPExplainableBoostingClassifier
X, y, train, bounds, nominal = (np.load(path) for path in sys.argv[1:6])
epsilons = np.load(sys.argv[6]).tolist()
classes = list(range(int(y.max()) + 1))
names = [f"x{i}" for i in range(X.shape[1])]
types = ["nominal" if flag else "continuous" for flag in nominal]
def boosted(epsilon):
    ranges = {name: tuple(bound) for name, bound, flag in zip(names, bounds.T.tolist(), nominal) if not flag}
    return DPExplainableBoostingClassifier(names, types, epsilon=epsilon, privacy_bounds=ranges, n_jobs=1)
learners = {
    "diffprivlib RandomForest": lambda e: RandomForestClassifier(epsilon=e, bounds=tuple(bounds), classes=classes),
    "diffprivlib DecisionTree": lambda e: DecisionTreeClassifier(epsilon=e, bounds=tuple(bounds), classes=classes),
}
if len(classes) == 2:
    learners["InterpretML DP-EBM (delta 1e-5)"] = boosted
found = []
for name, make in learners.items():
    for epsilon in epsilons:
        for split, row in enumerate(train):
            model = make(epsilon).fit(X[row], y[row])
            found.append([name, epsilon, split, float(np.mean(model.predict(X[~row]) == y[~row]))])
print(json.dumps(found))
"""


def measure(table: str, epsilons: Sequence[float], splits: int) -> list[list[Any]]:
    """[learner, epsilon, split, accuracy], for us and the rivals; epsilon 0 is the most frequent label."""
    from sklearn.model_selection import StratifiedShuffleSplit

    from privet import make_classifier
    from privet.datasets import real
    from privet.recipes.registry import recipe_classes
    from privet.schema.encoding import encode

    schema, columns = real.load(table)
    codes = encode(schema, columns)
    known = np.isin(np.asarray(columns[schema.label.name], str), list(map(str, schema.label.values)))
    rows = {name: np.asarray(column)[known] for name, column in columns.items()}
    y = codes.labels.astype(np.int64)
    dealer = StratifiedShuffleSplit(splits, test_size=0.2, random_state=0)
    train = np.zeros((splits, y.size), bool)
    for split, (part, _) in enumerate(dealer.split(y, y)):
        train[split, part] = True
    found = [["most frequent label", 0, split, float(np.mean(y[~row] == np.bincount(y[row]).argmax()))]
             for split, row in enumerate(train)]  # fmt: skip
    for name, recipe in recipe_classes().items():
        if not recipe.info.recommended:
            continue
        for epsilon in epsilons:
            for split, row in enumerate(train):
                model = make_classifier(name, schema=schema, epsilon=epsilon)
                model.fit({key: cells[row] for key, cells in rows.items()})
                test = {key: cells[~row] for key, cells in rows.items()}
                right = model.predict({key: test[key] for key in schema.names}) == np.array(
                    [schema.label.values[code] for code in y[~row]]
                )
                found.append([f"privet {name}", epsilon, split, float(np.mean(right))])
    return found + _ask_rivals(schema, rows, y, train, epsilons)


def _ask_rivals(schema: Any, rows: dict[str, Any], y: Any, train: Any, epsilons: Sequence[float]) -> list[list[Any]]:
    from privet import Numeric
    from privet.schema.encoding import values_of

    features, bounds, nominal = [], [], []
    coded = schema.encode_features(rows)
    for a, attribute in enumerate(schema.attributes):
        numeric = isinstance(attribute, Numeric)
        if numeric:
            values = values_of(attribute, rows[attribute.name])
            features.append(np.nan_to_num(values, nan=attribute.middle))
            bounds.append((attribute.low, attribute.high))
        else:
            features.append(coded[a].astype(np.float64))
            bounds.append((0.0, attribute.arity - 1.0))
        nominal.append(not numeric)
    answer: list[list[Any]] = ask_rivals(
        RIVAL, X=np.array(features).T, y=y, train=train, bounds=np.array(bounds).T, nominal=np.array(nominal),
        epsilons=np.array(epsilons),
    )  # fmt: skip
    return answer


def summary(found: list[list[Any]]) -> dict[str, dict[float, tuple[float, float]]]:
    """Mean and standard error by learner and epsilon, in per cent."""
    told: dict[str, dict[float, tuple[float, float]]] = {}
    for learner, epsilon in dict.fromkeys((row[0], row[1]) for row in found):
        shares = [100 * row[3] for row in found if (row[0], row[1]) == (learner, epsilon)]
        error = float(np.std(shares, ddof=1)) / math.sqrt(len(shares)) if len(shares) > 1 else 0.0
        told.setdefault(learner, {})[epsilon] = (float(np.mean(shares)), error)
    return told


def draw(results: dict[str, list[list[Any]]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "privet", "font.size": 9})
    figure, axes = plt.subplots(1, len(results), figsize=(3.6 * len(results), 3.4), layout="constrained")
    for axis, (table, found) in zip(np.atleast_1d(axes), results.items(), strict=True):
        told = summary(found)
        majority = told.pop("most frequent label")[0][0]
        axis.axhline(majority, color="#888888", linewidth=0.8, linestyle=":")
        for learner, (colour, line) in STYLE.items():
            if learner in told:
                means, errors = zip(*told[learner].values(), strict=True)
                axis.errorbar(list(told[learner]), means, errors, fmt=line, color=colour, markersize=4, linewidth=1.3,
                              label=learner)  # fmt: skip
        axis.set_xscale("log")
        axis.set_xticks(EPSILONS, [f"{e:g}" for e in EPSILONS])
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
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    parser.add_argument("--numbers", type=Path, help="keep every accuracy in this JSON file, and add to it")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    results = json.loads(asked.numbers.read_text()) if asked.numbers and asked.numbers.exists() else {}
    for table in asked.tables:
        if table not in results:
            results[table] = measure(table, asked.epsilons, asked.splits)
            if asked.numbers:
                asked.numbers.write_text(json.dumps(results))
        print(f"\n{table}: accuracy in per cent, standard error")
        for learner, by_epsilon in summary(results[table]).items():
            cells = ", ".join(f"{e:g}: {mean:.1f} ± {error:.1f}" for e, (mean, error) in by_epsilon.items())
            print(f"  {learner:32} {cells}")
    draw({table: results[table] for table in asked.tables}, asked.picture)
    print("wrote", asked.picture)


if __name__ == "__main__":
    main()
