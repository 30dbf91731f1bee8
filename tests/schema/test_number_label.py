"""A number as the label: written, read, fingerprinted, encoded and refused where only classes are known."""

import json
from dataclasses import replace

import numpy as np
import pytest

import privet
from privet.errors import RecipeError, SchemaError
from privet.schema import Categorical, Numeric, Schema
from privet.schema.fingerprint import fingerprint
from privet.schema.yaml12 import dump, load
from privet.tables.encoding import encode
from privet.tables.frozen import freeze

SCHEMA = Schema((Numeric("age", 0, 100), Categorical("sex", ("f", "m"))), Numeric("wage", 0, 80, True, missing="?"))
TABLE = {"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "m"], "wage": [10, "?", 300, None]}


def test_a_file_holds_the_bounds_of_a_number():
    facts = json.loads(SCHEMA.to_json())
    assert (facts["class"], facts["labels"]) == ("wage", {"min": 0, "max": 80, "integer": True, "missing": "?"})
    assert Schema.from_dict(facts) == SCHEMA == Schema.from_dict(load(dump(facts)))


@pytest.mark.parametrize(
    ("labels", "words"),
    [({"min": 0}, "max"), ({"min": 0, "max": 9, "bins": 3}, "bins"), ({"min": "a", "max": 9}, "number")],
)
def test_a_label_with_other_keys_is_refused(labels, words):
    facts = SCHEMA.to_dict() | {"labels": labels}
    with pytest.raises(SchemaError, match=words):
        Schema.from_dict(facts)


def test_only_one_place_decides_what_a_label_is():
    classes = replace(SCHEMA, label=Categorical("wage", ("low", "high")))
    assert SCHEMA.predicts_number
    assert not classes.predicts_number
    assert classes.classes == ("low", "high")
    assert SCHEMA.number.high == 80
    with pytest.raises(SchemaError, match="is a number"):
        _ = SCHEMA.classes
    with pytest.raises(SchemaError, match="is a class"):
        _ = classes.number


def test_the_fingerprint_covers_bounds_but_no_cuts():
    cut = replace(SCHEMA, label=replace(SCHEMA.number, thresholds=(5.5,)))
    wider = replace(SCHEMA, label=replace(SCHEMA.number, high=90))
    assert fingerprint(cut) == fingerprint(SCHEMA)
    assert fingerprint(wider) != fingerprint(SCHEMA)


def test_records_without_a_number_are_dropped_and_others_clipped():
    cut = replace(SCHEMA, label=replace(SCHEMA.number, thresholds=(5.5, 40.5)))
    codes = encode(cut, TABLE)
    assert codes.labels.tolist() == [1, 2]
    frozen = freeze(SCHEMA, TABLE)
    assert frozen.labels.tolist() == [10, 300]
    assert frozen.codes(cut).labels.tolist() == [1, 2]
    assert frozen.codes(replace(cut, label=replace(cut.label, thresholds=(10.5,)))).labels.tolist() == [0, 1]
    assert np.array_equal(frozen.codes(cut).features, codes.features)


def test_labels_given_apart_are_read_the_same():
    assert freeze(SCHEMA, {k: TABLE[k] for k in ("age", "sex")}, TABLE["wage"]).labels.tolist() == [10, 300]


def test_recipes_for_classes_refuse_a_number_before_anything_is_charged():
    ledger = privet.Ledger(1)
    for name in ("exact", "additive", "greedy-forest"):
        model = privet.make_classifier(name, schema=SCHEMA, epsilon=1, ledger=ledger)
        with pytest.raises(RecipeError, match="predicts classes, and the label 'wage' is a number"):
            model.fit(TABLE)
    assert ledger.spent == 0


def test_what_needs_classes_refuses_a_number():
    from privet.evaluation.metrics import performance

    tree = privet.ExactTreeRegressor(SCHEMA, epsilon=1).fit(TABLE)
    with pytest.raises(SchemaError, match="needs classes, and the label 'wage' is a number"):
        performance(tree, TABLE)
