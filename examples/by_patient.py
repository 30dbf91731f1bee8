"""Visits to a hospital, several of each patient: a tree that protects the patient, for several numbers of rows.

    python examples/by_patient.py [--patients 20000] [--epsilon 1]

The table is invented: patients with diabetes, readmitted or not, the sicker ones more often. It is written as Parquet
and read from there. What epsilon protects is a patient with all visits; more rows of each teach more about the frequent
visitors and leave less epsilon to every row. The last line shows what a row-level epsilon would have promised them.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from privet import Categorical, ExactTreeClassifier, Numeric, Schema, Unit

SCHEMA = Schema(
    (
        Numeric("age", 0, 100, integer=True, basis="meaning"),
        Numeric("days_in_hospital", 1, 14, integer=True, basis="documented"),
        Numeric("medications", 0, 80, integer=True, basis="meaning"),
        Categorical("a1c", ("normal", ">7", ">8", "not measured"), basis="documented"),
        Categorical("insulin", ("no", "steady", "up", "down"), basis="documented"),
    ),
    Categorical("readmitted", ("no", "yes"), basis="documented"),
    name="visits",
)


def graded(name: str, ill: np.ndarray) -> np.ndarray:
    """One of the attribute's values, by how ill somebody is."""
    attribute = SCHEMA.attributes[SCHEMA.index(name)]
    assert isinstance(attribute, Categorical)
    return np.array(attribute.values)[np.digitize(ill, [0.6, 1.2, 2.0])]


def visits(patients: int, seed: int) -> dict[str, Any]:
    """A row for each visit. How ill a patient is decides how often they come, and what is seen when they do."""
    random = np.random.default_rng(seed)
    illness = random.gamma(2.0, 0.5, patients)
    times = 1 + np.minimum(random.poisson(2 * illness), 40)
    who = np.repeat(np.arange(patients), times)
    ill = illness[who] + random.normal(0, 0.3, who.size)
    age = np.clip(random.normal(62, 14, patients), 18, 99)[who]
    chance = 1 / (1 + np.exp(2.2 - 1.6 * ill - 0.01 * (age - 60)))
    return {
        "patient_id": who,
        "age": np.rint(age).astype(np.int64),
        "days_in_hospital": np.clip(np.rint(2 + 2.5 * ill + random.normal(0, 1.5, who.size)), 1, 14).astype(np.int64),
        "medications": np.clip(np.rint(8 + 7 * ill + random.normal(0, 5, who.size)), 0, 80).astype(np.int64),
        "a1c": graded("a1c", ill + random.normal(0, 0.5, who.size)),
        "insulin": graded("insulin", ill + random.normal(0, 0.7, who.size)),
        "readmitted": np.where(random.random(who.size) < chance, "yes", "no"),
    }


def main(patients: int, epsilon: float) -> None:
    table, unseen = visits(patients, seed=1), visits(patients, seed=2)
    most = int(np.bincount(table["patient_id"]).max())
    print(f"{patients:,} patients, {len(table['patient_id']):,} visits; the most frequent has {most}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        parquet.write_table(pa.table(table), path)
        for rows in (1, 2, 4, 8):
            schema = replace(SCHEMA, unit=Unit("patient_id", max_rows=rows))
            right = []
            for _ in range(5):
                model = ExactTreeClassifier(schema, epsilon=epsilon, max_depth=3).fit(path)
                right.append(float(np.mean(model.predict(unseen) == unseen["readmitted"])))
            print(f"at most {rows} rows a patient: accuracy {np.mean(right):.3f}")
        print(model.certificate_)
    print(f"An epsilon of {epsilon:g} for a row would be {most * epsilon:g} for the patient with {most} visits.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patients", type=int, default=20_000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    given = parser.parse_args()
    main(given.patients, given.epsilon)
