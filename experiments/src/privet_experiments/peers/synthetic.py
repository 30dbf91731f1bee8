"""Private synthetic records (AIM, by dpmm), and boosting without privacy on them.

AIM releases noisy tables of a few attributes, chosen where its own records are furthest off, and draws records that
agree with them. Whatever learns from those records keeps the promise. Its default settings take hours on a table; here
it has a model of a megabyte, as many rounds as there are attributes and a tenth of the iterations, for all tables.
"""

from __future__ import annotations

from privet_experiments.peers.binned import BINNED

AIM = (
    BINNED
    + """
import pandas
from dpmm.pipelines import AIMPipeline
from sklearn.ensemble import HistGradientBoostingClassifier
SIZE, ITERATIONS = 1.0, 100  # megabytes of a model, steps of each fit of it
names = [f"x{i}" for i in range(len(sizes))]
class Boosted:
    def __init__(self, epsilon):
        self.epsilon = epsilon
    def fit(self, X, y):
        domain = dict(zip(names, sizes.tolist())) | {"y": classes}
        table = pandas.DataFrame(binned(X), columns=names).assign(y=y)
        reduced = {"n_iters": ITERATIONS, "rounds": len(sizes)}
        made = AIMPipeline(
            self.epsilon, DELTA, max_model_size=SIZE, n_jobs=1, gen_kwargs=reduced, disable_processing=True
        )
        made.fit(table, domain)
        drawn = made.generate(n_records=len(y))
        self.seen = np.unique(drawn["y"].astype(int))
        if len(self.seen) > 1:
            several = drawn["y"].value_counts().min() > 1
            self.model = HistGradientBoostingClassifier(early_stopping=several, categorical_features=np.flatnonzero(
                nominal & (sizes <= 255)))
            self.model.fit(drawn[names].to_numpy().astype(float), drawn["y"].astype(int))
        return self
    def predict_proba(self, X):
        said = np.zeros((len(X), classes))
        said[:, self.seen] = self.model.predict_proba(binned(X).astype(float)) if len(self.seen) > 1 else 1.0
        said += 1e-6
        return said / said.sum(axis=1, keepdims=True)
make = Boosted
"""
)
