"""Private learners of other libraries on tables of ours: the same bounds, the same folds, probabilities back.

All have the defaults of their own library, or where there are none the settings of its own example, the same for all
tables. They get the bounds and the categories of the schema. Those that know no categories read them as numbers in the
order of the schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.schema import Numeric
from privet.tables.frozen import Frozen
from privet_experiments.peers.binned import DELTA
from privet_experiments.peers.environments import ask_rivals
from privet_experiments.peers.gradients import CURVES, NETWORK
from privet_experiments.peers.synthetic import AIM


@dataclass(frozen=True)
class Peer:
    """A learner. ``make`` is the code of a function ``make(epsilon)``, of something that fits and predicts."""

    name: str
    environment: str
    make: str
    two_classes: bool = False
    """Whether it fits tables of two classes only."""
    delta: float = 0.0


DIFFPRIVLIB = """
from diffprivlib.models import DecisionTreeClassifier, RandomForestClassifier
def make(epsilon):
    return {learner}(epsilon=epsilon, bounds=tuple(bounds), classes=list(range(classes)))
"""
EBM = f"""
from interpret.privacy import DPExplainableBoostingClassifier
names = [f"x{{i}}" for i in range(X.shape[1])]
types = ["nominal" if flag else "continuous" for flag in nominal]
ranges = {{name: tuple(bound) for name, bound, flag in zip(names, bounds.T.tolist(), nominal) if not flag}}
def make(epsilon):
    return DPExplainableBoostingClassifier(
        names, types, epsilon=epsilon, delta={DELTA}, privacy_bounds=ranges, n_jobs=1
    )
"""
# Its example: a regression on 0 and 1 by 20 trees, each from a fifth of the records. What all cost together is
# trees * log(1 + share * (exp(epsilon of a tree) - 1)), as it documents; here that is solved for the epsilon of a tree.
BOOSTED = """
import math
import dp_xgboost
TREES, SHARE = 20, 0.2
class Boosted:
    def __init__(self, epsilon):
        self.per_tree = math.log(1 + (math.exp(epsilon / TREES) - 1) / SHARE)
    def table(self, X, y=None):
        return dp_xgboost.DMatrix(X, label=y, feature_min=bounds[0].tolist(), feature_max=bounds[1].tolist())
    def fit(self, X, y):
        settings = {
            "objective": "reg:squarederror", "tree_method": "approxDP", "dp_epsilon_per_tree": self.per_tree,
            "max_depth": 6, "learning_rate": 0.2, "lambda": 0.1, "base_score": 0.5, "subsample": SHARE,
            "min_child_weight": 500, "nthread": 1, "verbosity": 0, "seed": int.from_bytes(os.urandom(3), "big"),
        }
        self.booster = dp_xgboost.train(settings, self.table(X, y), num_boost_round=TREES)
        return self
    def predict_proba(self, X):
        second = np.clip(self.booster.predict(self.table(X)), 0, 1)
        return np.column_stack([1 - second, second])
make = Boosted
"""
PEERS = (
    Peer("diffprivlib forest", "diffprivlib", DIFFPRIVLIB.format(learner="RandomForestClassifier")),
    Peer("diffprivlib tree", "diffprivlib", DIFFPRIVLIB.format(learner="DecisionTreeClassifier")),
    Peer("InterpretML DP-EBM", "interpret", EBM, two_classes=True, delta=DELTA),
    Peer("dp-xgboost", "dp-xgboost", BOOSTED, two_classes=True),
    Peer("DP-SGD curves", "opacus", CURVES, delta=DELTA),
    Peer("DP-SGD network", "opacus", NETWORK, delta=DELTA),
    Peer("AIM and boosting", "dpmm", AIM, delta=DELTA),
)

LOOP = """
import json, os, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
X, y, train, bounds, nominal, epsilons, classes = (np.load(path) for path in sys.argv[1:8])
classes = int(classes)
{make}
found = []
for epsilon in epsilons.tolist():
    for row in train:
        start = time.process_time()
        try:
            model = make(epsilon)
            model.fit(X[row], y[row])
        except Exception as error:
            found.append([epsilon, time.process_time() - start, None, str(error)])
            continue
        seconds = time.process_time() - start
        rest = X[~row]
        proba = np.asarray(model.predict_proba(rest)).round(9).tolist() if len(rest) else []
        found.append([epsilon, seconds, proba, ""])
print(json.dumps(found))
"""

Array = npt.NDArray[Any]
Answer = list[tuple[float, float, Array | None, str]]


def ask_peer(
    peer: Peer, given: dict[str, Array], train: Array, epsilons: list[float], minutes: float | None = None
) -> Answer:
    """Epsilon, CPU seconds and probabilities, by epsilon and row of ``train``, which says who is learned from.

    The probabilities are of the others; None, and why, where the peer refused, or took more than ``minutes``.
    """
    answer = ask_rivals(
        peer.environment, LOOP.replace("{make}", peer.make), minutes=minutes, X=given["X"], y=given["y"], train=train,
        bounds=given["bounds"], nominal=given["nominal"], epsilons=np.array(epsilons), classes=given["classes"],
    )  # fmt: skip
    return [(e, seconds, None if proba is None else np.array(proba), why) for e, seconds, proba, why in answer]


def peer_columns(frozen: Frozen) -> dict[str, Array]:
    """A table as the peers read it: numbers, the middle for missing ones; categories as their places in the list."""
    columns, bounds, nominal = [], [], []
    for attribute, column in zip(frozen.schema.attributes, frozen.columns, strict=True):
        if isinstance(attribute, Numeric):
            low, high = attribute.low, attribute.high
            values = np.nan_to_num(column, nan=attribute.middle)
        else:
            low, high = 0.0, attribute.arity - 1.0
            values = column.astype(np.float64)
        columns.append(np.clip(values, low, high))
        bounds.append((low, high))
        nominal.append(not isinstance(attribute, Numeric))
    return {
        "X": np.array(columns).T, "y": frozen.labels.astype(np.int64), "bounds": np.array(bounds).T,
        "nominal": np.array(nominal), "classes": np.array(frozen.schema.n_classes),
    }  # fmt: skip
