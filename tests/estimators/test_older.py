"""Files that the code before the redesign of the rooms has written: a tree, a forest, and the journal they spent."""

from __future__ import annotations

import hashlib
import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet
from privet.datasets.clinic import clinic
from privet.errors import BudgetExceeded

OLDER = Path(__file__).parent / "older"
PEOPLE = {"age": [30, 80], "smoker": ["no", "yes"]}
SAID = {
    "tree.json": [[0.8914785850318084, 0.10852141496819157], [0.010577915376676988, 0.989422084623323]],
    "forest.json": [[0.8847644761425651, 0.1152355238574349], [0.10840489476938715, 0.8915951052306129]],
}


@pytest.mark.parametrize("name", SAID)
def test_an_older_model_predicts_as_before(name: str, tmp_path: Path) -> None:
    loaded: Any = privet.load_model(OLDER / name)
    np.testing.assert_allclose(loaded.predict_proba(PEOPLE), SAID[name], rtol=1e-12)
    assert loaded.certificate_.private
    assert loaded.certificate_.epsilon == (1 if name == "tree.json" else Fraction(1, 2))
    loaded.save(tmp_path / name)
    again: Any = privet.load_model(tmp_path / name)
    np.testing.assert_array_equal(again.predict_proba(PEOPLE), loaded.predict_proba(PEOPLE))


def test_parameters_of_older_models_have_the_names_of_today() -> None:
    tree: Any = privet.load_model(OLDER / "tree.json")
    forest: Any = privet.load_model(OLDER / "forest.json")
    written = {path: json.loads((OLDER / path).read_text())["model"]["params"] for path in SAID}
    assert tree.max_bins == written["tree.json"]["bins"]
    assert (forest.n_estimators, forest.max_bins) == (written["forest.json"]["trees"], written["forest.json"]["bins"])


def test_class_weights_of_an_older_model_are_kept(tmp_path: Path) -> None:
    schema, table = clinic(500)
    privet.ExactTreeClassifier(schema, max_depth=1, class_weight={"Sick": 0.5}).fit(table).save(tmp_path / "tree.json")
    document = json.loads((tmp_path / "tree.json").read_text())
    params = document["model"]["params"]
    params["class_weights"] = params.pop("class_weight")  # as it was called
    canonical = json.dumps(document["model"], sort_keys=True, separators=(",", ":"))
    document["sha256"] = hashlib.sha256(canonical.encode()).hexdigest()
    (tmp_path / "tree.json").write_text(json.dumps(document))
    loaded: Any = privet.load_model(tmp_path / "tree.json")
    assert loaded.class_weight == {"Sick": 0.5}


def test_an_older_forest_keeps_the_weight_it_had() -> None:
    loaded: Any = privet.load_model(OLDER / "forest.json")
    assert (len(loaded.model_.trees), loaded.model_.trees.weight) == (2, 0.5)


def test_an_older_journal_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "spent.journal"
    shutil.copy(OLDER / "spent.journal", path)
    ledger = privet.Ledger(3, journal=path)
    assert (ledger.spent, ledger.remaining) == (Fraction(7, 4), Fraction(5, 4))
    charges = ledger.certificate().charges
    assert [charge.what for charge in charges][-2:] == ["leaf class counts of tree 2", "class counts"]
    assert sum(charge.adds for charge in charges) == Fraction(7, 4)
    ledger.charge(1, "a question of today")
    del ledger
    assert privet.Ledger(3, journal=path).remaining == Fraction(1, 4)
    with pytest.raises(BudgetExceeded):
        privet.Ledger(3, journal=path).charge(1, "one too many")
