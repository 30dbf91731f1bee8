"""One way to fit: the same model whoever asks, from a table or from a protected table."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet
from privet.datasets.clinic import clinic
from privet.engines.opening import open_engine
from privet.errors import BudgetExceeded, ParameterError
from privet.fitting import Request, fit
from privet.recipes.papers.mohammed2015 import Mohammed2015
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway
from privet.testing import SeededNoise, use_noise

CLINIC, TABLE = clinic(600, seed=3)
# Without declared thresholds, so that every recipe cuts the numbers as it likes.
SCHEMA = replace(
    CLINIC,
    attributes=tuple(
        replace(a, thresholds=None, bins=9) if isinstance(a, privet.Numeric) else a for a in CLINIC.attributes
    ),
)
SRC = Path(privet.__file__).parent


def test_a_data_set_and_its_table_give_the_same_model() -> None:
    """Numbers are cut anew for the recipe: 20 bins where the schema has other ones."""
    with use_noise(SeededNoise(1)):
        from_table = privet.papers.DiffPC45Classifier(SCHEMA, random_state=0).fit(TABLE)
    data = privet.protect(TABLE, SCHEMA, privet.Ledger(3))
    with use_noise(SeededNoise(1)):
        from_data = privet.papers.DiffPC45Classifier(random_state=0).fit(data)
    assert from_data.tree_.attribute.tolist() == from_table.tree_.attribute.tolist()
    assert from_data.tree_.counts.tobytes() == from_table.tree_.counts.tobytes()
    assert from_data.schema_ == from_table.schema_
    assert 0 < data.ledger.spent <= 1


def test_questions_and_models_share_one_ledger() -> None:
    ledger = privet.Ledger(1)
    data = privet.protect(TABLE, SCHEMA, ledger)
    data.noisy_count(Fraction(1, 4))
    tree = privet.papers.DiffPC45Classifier(epsilon=0.5).fit(data)
    assert ledger.spent <= Fraction(3, 4)
    assert tree.certificate_.epsilon <= Fraction(1, 2)
    with pytest.raises(BudgetExceeded):
        privet.papers.DiffPC45Classifier(epsilon=1).fit(data)
    assert ledger.spent <= Fraction(3, 4)


def test_a_model_of_a_data_set_says_that_its_schema_changed() -> None:
    ledger, fewer = privet.Ledger(2), replace(SCHEMA, attributes=SCHEMA.attributes[1:])
    privet.protect(TABLE, SCHEMA, ledger)
    changed = privet.protect(TABLE, fewer, ledger)
    tree = privet.papers.DiffPC45Classifier(epsilon=0.5).fit(changed)
    assert f"the schema changed while this budget was in use: {SCHEMA.names[0]} dropped" in str(tree.certificate_)


def test_what_contradicts_a_protected_data_set_is_refused() -> None:
    data = privet.protect(TABLE, SCHEMA, privet.Ledger(1))
    for wrong, kwargs in (
        ("leave y out", {"y": TABLE["class"]}),
        ("leave ledger out", {"ledger": privet.Ledger(1)}),
        ("leave schema out", {"schema": privet.Schema((SCHEMA.attributes[0],), SCHEMA.label)}),
        ("set neighbours", {"neighbours": "replace-one"}),
    ):
        y = kwargs.pop("y", None)
        with pytest.raises(ParameterError, match=wrong):
            privet.papers.Mohammed2015Classifier(**kwargs).fit(data, y)
    assert data.ledger.spent == 0


@pytest.mark.parametrize("wrong", [{"progress": 3}, {"random": 7}])
def test_what_cannot_be_used_later_is_refused_before_a_charge(wrong: dict[str, Any]) -> None:
    ledger = privet.Ledger(1)
    with pytest.raises(ParameterError, match=f"{next(iter(wrong))} must be"):
        fit(Request(Mohammed2015(), TABLE, 1, SCHEMA, ledger=ledger, **wrong))
    assert ledger.spent == 0


def test_a_part_keeps_its_cuts() -> None:
    data = privet.protect(TABLE, SCHEMA, privet.Ledger(1))
    categorical = next(i for i, a in enumerate(SCHEMA.attributes) if isinstance(a, privet.Categorical))
    part = data.partition(Multiway(categorical))[0]
    with pytest.raises(ParameterError, match="give the whole table"):
        privet.papers.DiffPC45Classifier(max_bins=7).fit(part)
    assert data.ledger.spent == 0


def test_the_function_and_the_estimator_agree() -> None:
    ledger = privet.Ledger(2)
    with use_noise(SeededNoise(5)):
        engine = open_engine(TABLE, SCHEMA)
        model = fit(Request(Mohammed2015(), engine, 1, ledger=ledger, random=np.random.default_rng(0)))
    with use_noise(SeededNoise(5)):
        face = privet.papers.Mohammed2015Classifier(SCHEMA, epsilon=1).fit(TABLE)
    assert model.params == face.model_.params
    assert model.certificate == face.model_.certificate
    assert model.trees.counts.tobytes() == face.tree_.counts.tobytes()  # type: ignore[union-attr]


def test_there_is_one_assembly_of_a_fit() -> None:
    """`grow_model` is called in one place; whoever wants a model goes through it."""
    callers = [
        file.relative_to(SRC).as_posix()
        for file in sorted(SRC.rglob("*.py"))
        if re.search(r"\.grow_model\(", file.read_text("utf-8"))
    ]
    assert callers == ["fitting.py"]


def test_a_request_shows_neither_records_nor_an_address() -> None:
    sources = ({"age": ["40.7"]}, "x://me:hunter2@h/db")
    shown = "".join(repr(Request(Mohammed2015(), source, 1, CLINIC)) for source in sources)
    assert shown.count("mohammed2015") == 2
    assert "40.7" not in shown
    assert "hunter2" not in shown


def test_an_identifier_without_a_unit_warns_before_it_spends() -> None:
    """By the declared name alone: the table is never looked at for it."""
    facts = Schema((Numeric("patient_id", 0, 9), Numeric("age", 0, 9)), Categorical("ill", ("no", "yes")))
    table = {"patient_id": [1, 2], "age": [3, 4], "ill": ["no", "yes"]}
    spent = privet.Ledger(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        with pytest.raises(UserWarning, match=r"'patient_id' and declares no unit.*privet.Unit\('patient_id'"):
            fit(Request(Mohammed2015(max_depth=1), table, 1, facts, ledger=spent))
        with pytest.raises(UserWarning, match="declares no unit"):
            privet.papers.DiffPID3Classifier(facts, epsilon=1, ledger=spent).fit(table)
        assert spent.spent == 0
        unit = Schema(facts.attributes[1:], facts.label, unit=privet.Unit("patient_id", 2))
        fit(Request(Mohammed2015(max_depth=1), table, 1, unit, ledger=spent))
    assert spent.spent == 1
