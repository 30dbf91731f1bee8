"""Invented patients of an invented hospital: who comes back within thirty days? The sample table of the guides.

A risk adds up from smooth parts (age, earlier admissions) and from steps and pairs (diabetes with overweight, long
stays), so that trees, forests and additive models all find something, and a coin flip at the end keeps all of them
from being perfect. No patient is real: every record is drawn from a random generator.
"""

from __future__ import annotations

import csv
import io
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.schema import Categorical, Numeric, Schema

TABLE, SCHEMA, FRESH, HELD_OUT = "patients.csv", "patients.schema.json", "new-patients.csv", "held-out.csv"
SIZES = {TABLE: 5000, HELD_OUT: 1500, FRESH: 100}  # records of the files of the sample; the last come without labels
SEEDS = {TABLE: 1, HELD_OUT: 2, FRESH: 3}
MISSING_BMI = 0.05  # not everyone was weighed

WARDS = ("cardiology", "maternity", "medicine", "other", "surgery")
SMOKER = ("never", "former", "current")
ATTRIBUTES = (
    Numeric("age", 18, 110, integer=True, basis="meaning"),
    Categorical("sex", ("female", "male")),
    Numeric("bmi", 10, 70, missing="?", basis="meaning"),
    Categorical("smoker", SMOKER),
    Numeric("systolic", 60, 260, integer=True, basis="meaning"),
    Categorical("diabetes", ("no", "yes")),
    Categorical("ward", WARDS, basis="documented"),
    Numeric("days", 0, 90, integer=True, basis="documented"),
    Numeric("admissions", 0, 20, integer=True, basis="documented"),
    Categorical("emergency", ("no", "yes")),
)
LABEL = Categorical("readmitted", ("no", "yes"))


def patients_schema() -> Schema:
    """The public facts of the hospital's table."""
    return Schema(ATTRIBUTES, LABEL, name="patients", title="Invented patients: readmitted within thirty days?")


def patients(n: int = 5000, seed: int = 0) -> tuple[Schema, dict[str, NDArray[Any]]]:
    """The hospital's schema and ``n`` of its patients, as a mapping of columns.

    >>> schema, table = patients(1000)
    >>> print(schema)
    patients: 5 numeric and 5 categorical attributes, label 'readmitted' with 2 values
    >>> 330 < list(table["readmitted"]).count("yes") < 480
    True
    """
    random = np.random.default_rng(seed)

    def flags(share: NDArray[Any] | float) -> NDArray[np.bool_]:
        return random.random(n) < share

    age = np.clip(18 + 82 * random.beta(2.2, 1.9, n), 18, 100).round()
    female = flags(0.52)
    ward = random.choice(len(WARDS), n, p=(0.18, 0.12, 0.34, 0.12, 0.24))
    maternity = (ward == 1) & female & (age < 45)
    ward = np.where((ward == 1) & ~maternity, 2, ward)  # the others lie in medicine
    smoker = random.choice(3, n, p=(0.55, 0.25, 0.2))
    bmi = np.clip(random.normal(26.5, 5.0, n), 14, 58)
    diabetes = flags(0.05 + 0.2 * (bmi > 30) + 0.12 * (age > 60))
    systolic = np.clip(random.normal(112 + 0.35 * age, 17, n), 80, 230).round()
    emergency = flags(np.where(maternity, 0.3, 0.45))
    days = np.clip(random.gamma(1.6, 3.2, n) + 2 * emergency, 0, 60).round()
    admissions = np.minimum(random.poisson(0.5 + 0.02 * np.maximum(age - 40, 0) + 0.6 * diabetes), 12)

    risk = (
        -3.9
        + 2.6 / (1 + np.exp(-(age - 66) / 5))
        + 2.2 * (1 - np.exp(-admissions / 1.5))
        + 1.9 * (diabetes & (bmi > 29))
        + 1.7 * (days > 9)
        + 1.1 * emergency
        + 1.3 * (systolic > 158)
        + 0.8 * (smoker == 2)
        - 2.0 * maternity
    )
    back = flags(1 / (1 + np.exp(-1.6 * risk)))
    weighed = ~flags(MISSING_BMI)
    words = np.array(["no", "yes"])
    return patients_schema(), {
        "age": age.astype(np.int64),
        "sex": np.where(female, "female", "male"),
        "bmi": np.where(weighed, bmi.round(1), np.nan),
        "smoker": np.array(SMOKER)[smoker],
        "systolic": systolic.astype(np.int64),
        "diabetes": words[diabetes.astype(int)],
        "ward": np.array(WARDS)[ward],
        "days": days.astype(np.int64),
        "admissions": admissions,
        "emergency": words[emergency.astype(int)],
        "readmitted": words[back.astype(int)],
    }


# ---- the files of the sample --------------------------------------------------------------------------------------


def sample_files() -> dict[str, str]:
    """The files that come with privet, by name: a table, its schema, held-out records and records without a label."""
    home = files("privet.datasets").joinpath("sample")
    return {name: home.joinpath(name).read_text("utf-8") for name in (TABLE, SCHEMA, HELD_OUT, FRESH)}


def generated_files() -> dict[str, str]:
    """The same files, generated anew; ``tools/sample.py`` writes them, and a test compares."""
    tables = {}
    for name, size in SIZES.items():
        _, columns = patients(size, SEEDS[name])
        tables[name] = _csv({key: cells for key, cells in columns.items() if name != FRESH or key != LABEL.name})
    return {TABLE: tables[TABLE], SCHEMA: patients_schema().to_json(), HELD_OUT: tables[HELD_OUT], FRESH: tables[FRESH]}


def _csv(columns: dict[str, NDArray[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*(column.tolist() for column in columns.values()), strict=True):
        writer.writerow("" if cell != cell else cell for cell in row)  # a number that is none is an empty cell
    return text.getvalue()
