"""A clinic's table: the generator of Friedman & Schuster with the attributes of their slides' example.

The hidden tree is the one ID3 grows from the fourteen patients of the slides (:data:`SLIDE_PATIENTS`): with low blood
pressure the temperature decides, with high blood pressure the cough, with normal blood pressure nobody is sick. The
patients are invented.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privet.datasets.fs import HiddenTree, sample
from privet.errors import ParameterError
from privet.schema import Categorical, Numeric, Schema

P_NOISE = 0.1  # the paper's middle setting: enough to need a tree rather than a lookup
FEVER = 38.0  # °C; a higher reading is "High"
READING = 0.1  # °C; what a thermometer shows

BLOOD_PRESSURE = Categorical("blood_pressure", ("Low", "Normal", "High"))
WEIGHT = Categorical("weight", ("Underweight", "Normal", "Overweight"))
COUGH = Categorical("cough", (False, True))
TEMPERATURE: dict[str, Categorical | Numeric] = {
    "nominal": Categorical("temperature", ("Normal", "High")),
    # Half degrees: fine enough to read, and FEVER is one of the cuts.
    "numeric": Numeric("temperature", 35, 42, thresholds=tuple(np.arange(35.5, 42, 0.5)), basis="meaning"),
}
LABEL = Categorical("class", ("Healthy", "Sick"))
HEALTHY, SICK = 0, 1

# Blood pressure, weight, temperature, cough, class.
SLIDE_PATIENTS = (
    ("Low", "Overweight", "High", False, "Sick"),
    ("Low", "Overweight", "High", True, "Sick"),
    ("Normal", "Overweight", "High", False, "Healthy"),
    ("High", "Normal", "High", False, "Healthy"),
    ("High", "Underweight", "Normal", False, "Healthy"),
    ("High", "Underweight", "Normal", True, "Sick"),
    ("Normal", "Underweight", "Normal", True, "Healthy"),
    ("Low", "Normal", "High", False, "Sick"),
    ("Low", "Underweight", "Normal", False, "Healthy"),
    ("High", "Normal", "Normal", False, "Healthy"),
    ("Low", "Normal", "Normal", False, "Healthy"),
    ("Normal", "Normal", "High", True, "Healthy"),
    ("Normal", "Overweight", "Normal", False, "Healthy"),
    ("High", "Normal", "High", True, "Sick"),
)


def clinic_schema(temperature: Literal["numeric", "nominal"] = "numeric") -> Schema:
    """The public facts of the clinic's table."""
    if temperature not in TEMPERATURE:
        raise ParameterError(f"temperature must be 'numeric' or 'nominal', not {temperature!r}")
    return Schema((BLOOD_PRESSURE, WEIGHT, TEMPERATURE[temperature], COUGH), LABEL, name="clinic")


def clinic_tree(temperature: Literal["numeric", "nominal"] = "numeric") -> HiddenTree:
    """The tree behind the table."""
    schema = clinic_schema(temperature)
    pressure, heat, cough = (schema.index(name) for name in ("blood_pressure", "temperature", "cough"))
    # Half a step above: a temperature counts as its reading, so the class follows from what the table shows.
    point = FEVER + READING / 2 if temperature == "numeric" else np.nan
    # Nodes: the root; its children Low, Normal, High; below Low normal and high temperature; below High cough.
    return HiddenTree(
        schema,
        attribute=np.array([pressure, heat, -1, cough, -1, -1, -1, -1]),
        point=np.array([np.nan, point, *[np.nan] * 6]),
        first_child=np.array([1, 4, -1, 6, -1, -1, -1, -1]),
        label=np.array([-1, -1, HEALTHY, -1, HEALTHY, SICK, HEALTHY, SICK]),
    )


def clinic(
    n: int = 20_000,
    seed: int = 0,
    *,
    p_noise: float = P_NOISE,
    temperature: Literal["numeric", "nominal"] = "numeric",
) -> tuple[Schema, dict[str, NDArray[Any]]]:
    """The clinic's schema and ``n`` of its patients, as a mapping of columns.

    ``temperature`` is in °C, or ``"nominal"`` for the Normal and High of the slides. The seed makes the table, which
    is no secret; it has nothing to do with privacy noise.

    >>> schema, table = clinic(n=3)
    >>> print(schema)
    clinic: 1 numeric and 3 categorical attributes, label 'class' with 2 values
    >>> list(table)
    ['blood_pressure', 'weight', 'temperature', 'cough', 'class']
    """
    tree = clinic_tree(temperature)
    patients = sample(tree, n, np.random.default_rng(seed), p_noise=p_noise).table()
    if temperature == "numeric":
        patients["temperature"] = patients["temperature"].round(1)  # READING
    return tree.schema, patients
