"""A ruin is refused before any charge where no row can change it, and stopped early where the owner pays for that."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline

import privet
from privet.errors import FitStopped, ParameterError, TableError
from privet.estimators.references import REFERENCES
from privet.estimators.registry import CLASSIFIERS, load_model
from privet.schema import Schema
from privet.testing import SeededNoise, ZeroNoise, use_noise

Make = Callable[..., Any]
every = pytest.mark.parametrize("name", CLASSIFIERS)
DAY = dt.date(2024, 1, 5)


def polars(table: dict[str, Any], **columns: Any) -> pl.DataFrame:
    return pl.DataFrame(table).with_columns(**columns)


def nullable(table: dict[str, Any]) -> pd.DataFrame:
    frame = pd.DataFrame(table)
    return frame.assign(ill=pd.array(frame["ill"] == "yes", dtype="boolean"))


RUINS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no such column": (lambda t: pd.DataFrame(t).rename(columns={"age": "Age"}), "lacks 'age'"),
    "a column twice": (lambda t: pd.DataFrame(t, columns=["age", *t]), "same name"),
    "a date as a number": (lambda t: polars(t, age=pl.lit(DAY)), "'age' is declared to hold dates"),
    "an arrow date as a number": (lambda t: polars(t, age=pl.lit(DAY)).to_arrow(), "'age' is declared to hold dates"),
    "polars booleans as labels": (lambda t: polars(t, ill=pl.col("ill") == "yes"), "'ill' is declared to hold boolea"),
    "pandas booleans as labels": (nullable, "no label of the schema is written so; write the values as 'yes', 'no'"),
    "lists": (lambda t: polars(t, town=pl.col("town").implode().over(pl.lit(0))), "'town' is declared to hold lists"),
    "too narrow an array": (lambda t: np.zeros((5, 2)), "has 2 columns; expected 4"),
}


@pytest.mark.parametrize("ruin", RUINS)
def test_nothing_is_charged(ruin: str, clinic_schema: Schema, table: dict[str, Any]) -> None:
    make_table, says = RUINS[ruin]
    ledger = privet.Ledger(1)
    for fit in (
        lambda X: privet.papers.DiffPID3Classifier(clinic_schema, ledger=ledger).fit(X),
        lambda X: REFERENCES["id3"](clinic_schema).fit(X),  # type: ignore[call-arg]
        lambda X: privet.protect(X, clinic_schema, ledger),
    ):
        with pytest.raises(TableError, match=says):
            fit(make_table(table))
    assert ledger.spent == 0
    assert ledger.certificate().caveats == ()


@every
def test_every_classifier_refuses(make: Make, name: str, clinic_schema: Schema, table: dict[str, Any]) -> None:
    labels = pl.Series(table["ill"] == "yes")
    with pytest.raises(TableError, match="'ill' is declared to hold booleans"):
        make(name, schema=clinic_schema).fit(table, labels)
    fitted = make(name, schema=clinic_schema).fit(table, labels.to_numpy())  # inferred: one record could change it
    with pytest.raises(TableError, match="'age' is declared to hold dates"):
        fitted.predict(polars(table, age=pl.lit(DAY)))


@pytest.mark.parametrize("wrap", [pa.array, pa.chunked_array, pl.Series, lambda y: pd.Series(y, dtype="boolean")])
def test_labels_apart_are_judged_too(wrap: Any, clinic_schema: Schema, table: dict[str, Any]) -> None:
    booleans = (table["ill"] == "yes").tolist()
    labels = wrap([booleans]) if wrap is pa.chunked_array else wrap(booleans)
    with pytest.raises(TableError, match="write the values as 'yes', 'no'"):
        privet.papers.DiffPID3Classifier(clinic_schema).fit(table, labels)


# ---- arrays and names -----------------------------------------------------------------------------------------------


def without_label(table: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(table).drop(columns="ill")


def test_an_array_after_a_frame_warns_as_scikit_learn_does(clinic_schema: Schema, table: dict[str, Any]) -> None:
    frame = without_label(table)
    tree = privet.papers.DiffPID3Classifier(clinic_schema).fit(frame, table["ill"])
    with pytest.warns(UserWarning, match="X does not have valid feature names, but DiffPID3Classifier was fitted with"):
        predicted = tree.predict(frame.to_numpy())
    assert np.array_equal(predicted, tree.predict(frame))


def test_an_array_that_follows_a_frame_of_another_order_is_refused(
    clinic_schema: Schema, table: dict[str, Any]
) -> None:
    """It would be read in schema order, and no one would notice."""
    frame = without_label(table)[["smokes", "age", "town"]]
    tree = privet.papers.DiffPID3Classifier(clinic_schema).fit(frame, table["ill"])
    for use in (tree.predict, tree.predict_proba):
        with pytest.raises(TableError, match="read as age, town, smokes"):
            use(frame.to_numpy())
    assert tree.predict(frame).shape == (len(frame),)


def test_no_warning_where_nothing_is_wrong(clinic_schema: Schema, table: dict[str, Any], tmp_path: Any) -> None:
    frame = without_label(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_array = privet.papers.DiffPID3Classifier(clinic_schema).fit(frame.to_numpy(), table["ill"])
        by_array.predict(frame.to_numpy())
        by_array.predict(frame)  # its names are the schema's
        by_array.save(tmp_path / "model.json")
        load_model(tmp_path / "model.json").predict(frame.to_numpy())


@pytest.mark.parametrize("width", [2, 4])
def test_arrays_of_another_width(width: int, clinic_schema: Schema, table: dict[str, Any]) -> None:
    tree = privet.papers.DiffPID3Classifier(clinic_schema).fit(without_label(table).to_numpy(), table["ill"])
    wrong = np.zeros((len(table["ill"]), width))
    for use in (tree.predict, lambda X: tree.fit(X, table["ill"])):
        with pytest.raises(TableError, match=rf"has {width} columns; expected 3, in this order: age, town, smokes"):
            use(wrong)


def test_a_frame_of_other_names_at_predict(clinic_schema: Schema, table: dict[str, Any]) -> None:
    tree = privet.papers.DiffPID3Classifier(clinic_schema).fit(table)
    with pytest.raises(TableError, match="lacks 'town'"):
        tree.predict(without_label(table).rename(columns={"town": "city"}))


def transformer(**options: Any) -> ColumnTransformer:
    """Puts the numbers last."""
    steps = [("text", "passthrough", ["town", "smokes"]), ("number", "passthrough", ["age"])]
    return ColumnTransformer(steps, **options)


def test_a_column_transformer_with_names_is_read_by_them(clinic_schema: Schema, table: dict[str, Any]) -> None:
    frame = without_label(table)
    reorder = transformer(verbose_feature_names_out=False).set_output(transform="pandas")
    assert reorder.fit_transform(frame).columns.tolist() == ["town", "smokes", "age"]
    with use_noise(ZeroNoise()):
        direct = privet.papers.DiffPID3Classifier(clinic_schema).fit(frame, table["ill"])
        piped = make_pipeline(reorder, privet.papers.DiffPID3Classifier(clinic_schema)).fit(frame, table["ill"])
    assert np.array_equal(piped.predict(frame), direct.predict(frame))


def test_a_column_transformer_that_renames_is_refused(clinic_schema: Schema, table: dict[str, Any]) -> None:
    rename = transformer().set_output(transform="pandas")
    with pytest.raises(TableError, match="verbose_feature_names_out=False"):
        make_pipeline(rename, privet.papers.DiffPID3Classifier(clinic_schema)).fit(without_label(table), table["ill"])


# ---- the count of usable records ------------------------------------------------------------------------------------


@every
def test_labels_that_are_not_in_the_schema_stop_the_fit(
    make: Make, name: str, clinic_schema: Schema, table: dict[str, Any]
) -> None:
    """Booleans of NumPy, as ``y == "yes"`` gives them: all records are dropped. It cost two percent."""
    ledger = privet.Ledger(3)
    shared = {} if make(name).variant == "as-published" else {"ledger": ledger}  # which no budget may pay for
    classifier = make(name, schema=clinic_schema, epsilon=2, expected_records=1500, **shared)
    with pytest.raises(FitStopped, match="where 1500 were expected"):
        classifier.fit(table, table["ill"] == "yes")
    assert ledger.spent == (Fraction(56, 1500) if shared else 0)
    assert not hasattr(classifier, "model_")
    classifier.fit(table, table["ill"])
    assert classifier.certificate_.charges[0].what == "number of usable records"
    assert classifier.certificate_.charges[0].epsilon == Fraction(56, 1500)
    assert ledger.spent <= Fraction(56, 1500) + 2
    if classifier.variant == "sound":
        assert classifier.certificate_.epsilon <= 2


def test_without_an_expectation_nothing_changes(clinic_schema: Schema, table: dict[str, Any], tmp_path: Any) -> None:
    """Not a byte of the model: neither its charges nor its parameters mention it."""
    with use_noise(SeededNoise(3)):
        privet.papers.DiffPID3Classifier(clinic_schema, random_state=0).fit(table).save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    assert "usable" not in text
    assert "expected" not in text


def test_the_expectation_survives_a_file(clinic_schema: Schema, table: dict[str, Any], tmp_path: Any) -> None:
    tree = privet.papers.DiffPID3Classifier(clinic_schema, expected_records=1500).fit(table)
    tree.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.get_params()["expected_records"] == 1500
    assert loaded.certificate_ == tree.certificate_


@pytest.mark.parametrize("expected", [0, 1.5, "many", True, 100])
def test_expectations_that_cannot_be_are_refused(expected: Any, clinic_schema: Schema, table: dict[str, Any]) -> None:
    ledger = privet.Ledger(1)
    with pytest.raises(ParameterError, match="expected_records"):
        privet.papers.DiffPID3Classifier(clinic_schema, expected_records=expected, ledger=ledger).fit(table)
    assert ledger.spent == 0
