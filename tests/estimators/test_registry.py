"""By name, to a file and back."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet
from privet.errors import ModelFileError, RecipeError
from privet.estimators.classifiers import classifier_class
from privet.estimators.references import REFERENCES
from privet.estimators.registry import CLASSIFIERS, load_model, make_classifier
from privet.schema import Schema

Make = Callable[..., Any]
ALL = [*CLASSIFIERS, *REFERENCES]
FORGOTTEN = {"schema", "ledger", "random_state", "n_jobs"}  # by a file: the schema comes back as it was cut into bins
COMMON = {
    "schema": None,
    "epsilon": 1.0,
    "neighbours": "add-remove",
    "expected_records": None,
    "ledger": None,
    "random_state": None,
    "n_jobs": None,
    "verbose": 0,
}


def test_the_registry_and_the_classifiers_agree() -> None:
    assert list(CLASSIFIERS) == [info.name for info in privet.list_recipes()]
    assert not CLASSIFIERS.keys() & REFERENCES.keys()
    for name, classifier in CLASSIFIERS.items():
        assert classifier.recipe_class.info.name == name
        home = privet.papers if classifier.__name__ in privet.papers.__all__ else privet
        assert getattr(home, classifier.__name__) is classifier


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_parameters_and_defaults_are_those_of_the_recipe(name: str) -> None:
    recipe = {field.name: field.default for field in fields(CLASSIFIERS[name].recipe_class)}
    params = CLASSIFIERS[name]().get_params()
    assert params == recipe | COMMON
    assert {key: type(value) for key, value in params.items()} == {
        key: type(value) for key, value in (recipe | COMMON).items()
    }
    assert params["variant"] == "sound", "an unsound model is never made by accident"


def test_make_classifier() -> None:
    tree = make_classifier("diffpc45", epsilon=0.5, prune=False)
    assert isinstance(tree, CLASSIFIERS["diffpc45"])
    assert tree.get_params()["epsilon"] == 0.5
    with pytest.raises(RecipeError, match="unknown recipe 'cart'; choose one of sulq"):
        classifier_class("cart")
    with pytest.raises(RecipeError, match="SuLQTreeClassifier has no parameter 'max_bin'; did you mean 'max_bins'"):
        make_classifier("sulq", max_bin=3)


@pytest.mark.parametrize("name", ALL)
def test_a_model_survives_its_file(
    make: Make, name: str, clinic_schema: Schema, table: dict[str, Any], tmp_path: Path
) -> None:
    options: dict[str, Any] = {"max_depth": 3, "max_bins": 7, "epsilon": Fraction(2, 3), "neighbours": "replace-one"}
    fitted = make(name, schema=clinic_schema, **options).fit(table, table["ill"])
    fitted.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert type(loaded) is type(fitted)
    assert np.array_equal(loaded.predict(table), fitted.predict(table))
    assert np.array_equal(loaded.predict_proba(table), fitted.predict_proba(table))
    assert loaded.certificate_ == fitted.certificate_
    assert loaded.classes_.tolist() == fitted.classes_.tolist()
    if name != "additive":
        assert [str(rule) for rule in loaded.rules_] == [str(rule) for rule in fitted.rules_]
    assert loaded.n_features_in_ == 3
    # A model from a file can be fitted again, and would then spend what the first fit did.
    before, after = fitted.get_params(), loaded.get_params()
    assert {key: after[key] for key in before.keys() - FORGOTTEN} == {
        key: before[key] for key in before.keys() - FORGOTTEN
    }
    assert set(options) & before.keys() >= {"epsilon" if name == "additive" else "max_bins"}
    assert loaded.fit(table, table["ill"]).n_features_in_ == 3


def test_labels_keep_their_type_through_a_file(table: dict[str, Any], tmp_path: Path) -> None:
    for labels in ((True, False), (9, 7), ("b", "a"), (0.5, 2)):
        schema = Schema((privet.Categorical("smokes", (False, True)),), privet.Categorical("class", labels))
        y = [labels[int(code)] for code in table["smokes"]]
        fitted = CLASSIFIERS["diffpid3"](schema, 1000).fit(table, y)  # type: ignore[call-arg]
        fitted.save(tmp_path / "model.json")
        predicted = load_model(tmp_path / "model.json").predict({"smokes": [False, True]}).tolist()
        assert predicted == list(labels)
        assert [type(value) for value in predicted] == [type(value) for value in labels]


@pytest.mark.filterwarnings("ignore::privet.PrivacyWarning")
def test_a_model_of_an_inferred_schema_survives(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 2)), rng.integers(0, 2, 60)
    fitted = CLASSIFIERS["diffpc45"]("infer", 100).fit(X, y)  # type: ignore[call-arg]
    fitted.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert np.array_equal(loaded.predict(X), fitted.predict(X))
    assert not loaded.certificate_.private


def forge(path: Path, **changes: Any) -> None:
    """Change a model and give the file the checksum that fits."""
    document = json.loads(path.read_text())
    document["model"] |= changes
    canonical = json.dumps(document["model"], sort_keys=True, separators=(",", ":"))
    document["sha256"] = hashlib.sha256(canonical.encode()).hexdigest()
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    "changes",
    [
        {"recipe": "from the future"},
        {"certificate": {}},
        {"certificate": {"epsilon": "1/0"}},
        {"params": {"epsilon": "much"}},
        {"params": {"epsilon": None}},
        {"params": {"schema": {}}},
    ],
)
def test_a_forged_file_gives_a_clear_error(
    changes: dict[str, Any], clinic_schema: Schema, table: dict[str, Any], tmp_path: Path
) -> None:
    CLASSIFIERS["sulq"](clinic_schema).fit(table, table["ill"]).save(tmp_path / "m.json")  # type: ignore[call-arg]
    load_model(tmp_path / "m.json")
    forge(tmp_path / "m.json", **changes)
    with pytest.raises(ModelFileError, match=r"m\.json"):
        load_model(tmp_path / "m.json")


@pytest.mark.parametrize("name", ALL)
def test_fitted_models_pickle(make: Make, name: str, clinic_schema: Schema, table: dict[str, Any]) -> None:
    """Within one's own processes; files for others are JSON."""
    fitted = make(name, schema=clinic_schema).fit(table, table["ill"])
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(table), fitted.predict(table))
