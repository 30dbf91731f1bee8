"""The clinic's table."""

from __future__ import annotations

import numpy as np
import pytest

from privet.datasets.clinic import FEVER, SLIDE_PATIENTS, clinic, clinic_schema, clinic_tree
from privet.datasets.fs import Sample
from privet.errors import ParameterError
from privet.owner.inspection import check_table
from privet.tables.encoding import encode


def test_the_tree_classifies_the_fourteen_patients_of_the_slides() -> None:
    schema = clinic_schema("nominal")
    columns = dict(zip([*schema.names, "class"], zip(*SLIDE_PATIENTS, strict=True), strict=True))
    codes = encode(schema, {name: np.array(column) for name, column in columns.items()})
    assert codes.labels is not None
    assert clinic_tree("nominal").classify(Sample(schema, codes.features, codes.labels)).tolist() == list(codes.labels)


@pytest.mark.parametrize("temperature", ["numeric", "nominal"])
def test_without_noise_the_class_follows_from_what_the_table_shows(temperature: str) -> None:
    _, table = clinic(5_000, p_noise=0, temperature=temperature)  # type: ignore[arg-type]
    shown = table["temperature"]
    high = shown > FEVER if temperature == "numeric" else shown == "High"
    pressure = table["blood_pressure"]
    sick = ((pressure == "Low") & high) | ((pressure == "High") & table["cough"])
    assert ((table["class"] == "Sick") == sick).all()


@pytest.mark.parametrize("temperature", ["numeric", "nominal"])
def test_the_table_follows_its_schema(temperature: str) -> None:
    schema, table = clinic(2_000, temperature=temperature)  # type: ignore[arg-type]
    assert list(table) == ["blood_pressure", "weight", "temperature", "cough", "class"]
    assert check_table(schema, table).ok
    assert {len(column) for column in table.values()} == {2_000}
    assert table["cough"].dtype == np.bool_
    assert set(table["class"].tolist()) == {"Sick", "Healthy"}
    assert set(table["weight"].tolist()) == {"Underweight", "Normal", "Overweight"}


def test_the_fever_line_is_a_public_cut() -> None:
    assert FEVER in clinic_schema().attributes[2].thresholds  # type: ignore[union-attr, operator]


def test_the_seed_makes_the_table() -> None:
    first, again, other = (clinic(100, seed=seed)[1] for seed in (3, 3, 4))
    assert all((first[name] == again[name]).all() for name in first)
    assert any((first[name] != other[name]).any() for name in first)


def test_an_unknown_temperature_is_named() -> None:
    with pytest.raises(ParameterError, match="temperature"):
        clinic(10, temperature="kelvin")  # type: ignore[arg-type]
