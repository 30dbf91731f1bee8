"""Private synthetic records (AIM, by dpmm), and boosting without privacy on them.

AIM releases noisy tables of a few attributes, chosen where its own records are furthest off, and draws records that
agree with them. Whatever learns from those records keeps the promise. What it is asked to get right is the label beside
every pair of attributes. Its default settings take hours on a table; here it has a model of a megabyte and a tenth of
the iterations, for all tables.

How many rounds it may take is left to the library. As many rounds as there are attributes, a first attempt, cost all of
the budget (and a little more than all) for each attribute alone: then the label depends on nothing. The library's
compression is off: it makes one of all values with fewer records than three standard deviations of the noise.
"""

from __future__ import annotations

from privet_experiments.peers.binned import BINNED

AIM = (
    BINNED
    + """
from itertools import combinations
import pandas
from dpmm.models.base.mbi import FactoredInference
from dpmm.pipelines import AIMPipeline
from sklearn.ensemble import HistGradientBoostingClassifier
SIZE, ITERATIONS, LAST = 1.0, 100, 500  # megabytes of a model, steps of each fit of it, and of the one that draws
CELLS, RECORDS = 10_000, 50_000  # of a released table at most, and of the records drawn, however many there are
names = [f"x{i}" for i in range(len(sizes))]
domain = dict(zip(names, sizes.tolist())) | {"y": classes}
def workload():
    asked = [(*few, "y") for several in (1, 2) for few in combinations(names, several)]
    return [(few, 1.0) for few in asked if np.prod([domain[name] for name in few]) <= CELLS]
class Boosted:
    def __init__(self, epsilon):
        self.epsilon = epsilon
    def fit(self, X, y):
        table = pandas.DataFrame(binned(X), columns=names).assign(y=y)
        made = AIMPipeline(
            self.epsilon, DELTA, max_model_size=SIZE, compress=False, n_jobs=1,
            gen_kwargs={"n_iters": ITERATIONS}, disable_processing=True,
        )
        made.gen.set_domain(domain)
        made.gen.check_fit(table)
        found = made.gen.generator
        found.fit(table, W=workload())
        self.measured = [(few, float(sigma)) for _, _, sigma, few in found.measures]
        found.model = FactoredInference(found.model.domain, iters=LAST).estimate(found.measures)
        drawn = made.generate(n_records=RECORDS).astype(int)
        self.seen = np.unique(drawn["y"])
        if len(self.seen) > 1:
            several = drawn["y"].value_counts().min() > 1
            self.model = HistGradientBoostingClassifier(early_stopping=several, categorical_features=np.flatnonzero(
                nominal & (sizes <= 255)))
            self.model.fit(drawn[names].to_numpy().astype(float), drawn["y"])
        return self
    def predict_proba(self, X):
        said = np.zeros((len(X), classes))
        said[:, self.seen] = self.model.predict_proba(binned(X).astype(float)) if len(self.seen) > 1 else 1.0
        said += 1e-6
        return said / said.sum(axis=1, keepdims=True)
make = Boosted
"""
)
