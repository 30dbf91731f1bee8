"""The synthetic tables of Fletcher's thesis (2017), Table 8.1: SynthA to SynthG.

scikit-learn's ``make_classification`` with 30,000 records of numbers, some informative and the rest random, two classes
and no redundant feature. The thesis does not say which instance it drew, and how hard one is depends strongly on that:
see `privet reproduce fletcher-instances`. Its domains are those of the records; so are the bounds here, which the
schema says (an observed fact, fit for invented records only).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privet.errors import ParameterError
from privet.schema import Categorical, Numeric, Schema

# (informative, random) features.
SYNTH = {"A": (5, 0), "B": (10, 0), "C": (15, 0), "D": (10, 5), "E": (5, 10), "F": (5, 5), "G": (10, 10)}
RECORDS = 30_000


def synth(name: str, seed: int = 0, records: int = RECORDS) -> tuple[Schema, dict[str, Any]]:
    """A table of the thesis by its letter, and its schema.

    >>> schema, table = synth("A", records=100)
    >>> len(schema.attributes), len(table["class"])
    (5, 100)
    """
    from sklearn.datasets import make_classification

    if name not in SYNTH:
        raise ParameterError(f"no synthetic table is called {name!r}; choose among {', '.join(SYNTH)}")
    informative, random = SYNTH[name]
    features = informative + random
    X, y = make_classification(records, features, n_informative=informative, n_redundant=0, random_state=seed)
    names = [f"x{i + 1}" for i in range(features)]
    bounds = zip(names, X.min(axis=0).tolist(), X.max(axis=0).tolist(), strict=True)
    attributes = tuple(Numeric(name, low, np.nextafter(high, np.inf), basis="observed") for name, low, high in bounds)
    schema = Schema(attributes, Categorical("class", (0, 1)), name=f"synth-{name.lower()}")
    return schema, dict(zip(names, X.T, strict=True)) | {"class": y}
