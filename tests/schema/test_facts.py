"""Public facts: cut points, the JSON form, and one clear refusal for every contradiction."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import SchemaError
from privet.schema import Categorical, Numeric, Schema
from privet.tables.inferring import infer_schema

LABEL = Categorical("class", ("no", "yes"))
AGE = Numeric("age", 0, 120, integer=True, basis="meaning")
SEX = Categorical("sex", ("Female", "Male"))
FACTS: dict[str, Any] = {
    "name": "people",
    "attributes": [
        {"name": "age", "type": "continuous", "min": 0, "max": 120, "integer": True},
        {"name": "sex", "type": "categorical", "values": ["Female", "Male"]},
    ],
    "class": "class",
    "labels": ["no", "yes"],
}


class TestCuts:
    def test_equal_width(self) -> None:
        np.testing.assert_allclose(Numeric("x", 0, 1, bins=4).cuts, [0.25, 0.5, 0.75])
        assert len(Numeric("x", -3, 7.5).cuts) == 19

    def test_whole_numbers_are_cut_half_way(self) -> None:
        assert Numeric("x", 0, 100, integer=True, bins=4).cuts.tolist() == [25.5, 50.5, 75.5]
        assert Numeric("x", 0, 10, integer=True, bins=4).cuts.tolist() == [2.5, 5.5, 7.5]

    def test_few_whole_numbers_are_all_separated(self) -> None:
        assert Numeric("x", 1, 4, integer=True).cuts.tolist() == [1.5, 2.5, 3.5]
        assert Numeric("x", 0.2, 2.9, integer=True).cuts.tolist() == [1.5]
        assert Numeric("x", 1, 20, integer=True, bins=20).arity == 20
        assert Numeric("x", 1, 21, integer=True, bins=20).arity <= 20

    def test_a_single_whole_number_has_one_code(self) -> None:
        assert Numeric("x", 0.5, 1.5, integer=True).arity == 1

    def test_thresholds_are_used_as_they_are(self) -> None:
        assert Numeric("x", 0, 10, thresholds=(1, 2.5), bins=7).cuts.tolist() == [1.0, 2.5]

    def test_missing_has_a_code_of_its_own(self) -> None:
        assert Numeric("x", 0, 1, bins=4).arity == 4
        assert Numeric("x", 0, 1, bins=4, missing="?").arity == 5

    def test_read_only(self) -> None:
        with pytest.raises(ValueError, match="read-only"):
            AGE.cuts[0] = 3

    @given(
        low=st.floats(-1e12, 1e12),
        width=st.floats(1e-6, 1e12),
        integer=st.booleans(),
        bins=st.integers(2, 300),
    )
    def test_cuts_ascend_within_the_bounds(self, low: float, width: float, integer: bool, bins: int) -> None:
        try:
            numeric = Numeric("x", low, low + width, integer=integer, bins=bins)
        except SchemaError:
            assert integer or not low < low + width
            return
        cuts = numeric.cuts
        assert numeric.arity <= bins
        assert (np.diff(cuts) > 0).all()
        assert ((low <= cuts) & (cuts < low + width)).all()

    def test_bounds_next_to_each_other(self) -> None:
        assert Numeric("x", 1.0, float(np.nextafter(1.0, 2.0))).cuts.tolist() == [1.0]


class TestFallback:
    @pytest.mark.parametrize(
        ("values", "other", "expected"),
        [
            (("a", "b"), None, 1),
            (("a", "b", "c"), None, 1),
            (("a",), None, 0),
            (("a", "b"), "b", 1),
            (("a", "Other", "?"), None, 2),
            (("a", "Other"), None, 1),
            (("a", " MISSING "), None, 1),
            (("a", "other", "Missing"), None, 2),
            ((1, 2), 2, 1),
            ((True, False), False, 1),
        ],
    )
    def test_rule(self, values: tuple[Any, ...], other: Any, expected: int) -> None:
        assert Categorical("c", values, other).fallback == expected

    @pytest.mark.parametrize(
        ("numeric", "middle", "code"),
        [
            (Numeric("x", 0, 120, thresholds=(18, 65)), 60, 1),
            (Numeric("x", 0, 120, thresholds=(18, 65), missing="?"), 60, 3),
            (Numeric("x", 0, 1, integer=True), 1, 1),
            (Numeric("x", 0, 1, bins=4), 0.5, 1),
            (Numeric("x", -3, 3, integer=True), 0, 3),
            (Numeric("x", 0.6, 1.4, integer=True), 1, 0),
            (Numeric("x", 1e308, 1.7e308, bins=2), 1.35e308, 0),
        ],
    )
    def test_middle(self, numeric: Numeric, middle: float, code: int) -> None:
        assert numeric.middle == pytest.approx(middle)
        assert numeric.low <= numeric.middle <= numeric.high
        assert numeric.fallback == code


class TestSchema:
    schema = Schema((AGE, SEX, Numeric("w", 0, 1, bins=4, missing="?")), LABEL)

    def test_layout(self) -> None:
        assert self.schema.arities == (20, 2, 5)
        assert self.schema.offsets.tolist() == [0, 20, 22, 27]
        assert self.schema.offsets.dtype == np.int64
        assert not self.schema.offsets.flags.writeable
        assert self.schema.total_bins == 27
        assert self.schema.n_classes == 2
        assert self.schema.names == ("age", "sex", "w")
        assert self.schema.index("w") == 2

    def test_index_of_nothing(self) -> None:
        with pytest.raises(SchemaError, match="'weight'; the attributes are age, sex, w"):
            self.schema.index("weight")

    def test_value_semantics(self) -> None:
        _ = self.schema.offsets, AGE.cuts  # cached arrays take no part in comparison
        same = Schema([AGE, SEX, Numeric("w", 0.0, 1.0, bins=4, missing="?")], LABEL, title="about the file")  # type: ignore[arg-type]
        assert same == self.schema
        assert hash(same) == hash(self.schema)
        assert self.schema != Schema((AGE, SEX), LABEL)
        assert pickle.loads(pickle.dumps(self.schema)) == copy.deepcopy(self.schema) == self.schema

    def test_with_bins(self) -> None:
        fixed = Numeric("x", 0, 10, thresholds=(5,))
        schema = Schema((fixed, Numeric("y", 0, 10), SEX), LABEL, name="n", notes="kept").with_bins(5)
        assert schema.arities == (2, 5, 2)
        assert schema.notes == "kept"

    def test_text_is_short(self) -> None:
        assert str(self.schema) == "schema: 2 numeric and 1 categorical attributes, label 'class' with 2 values"

    def test_caveats(self) -> None:
        assert self.schema.caveats() == ()
        attributes = (
            AGE,
            Numeric("gain", 0, 10, basis="round"),
            Numeric("loss", 0, 10, basis="round"),
            Categorical("job", ("a", "b"), basis="observed"),
        )
        rounded, observed = Schema(attributes, LABEL).caveats()
        assert "gain, loss" in rounded
        assert "assumption" in rounded
        assert "age" not in rounded
        assert "job" in observed

    @pytest.mark.parametrize("basis", ["observed in the data", "Observed", "seen", "documented?", "guess"])
    def test_every_other_basis_is_quoted(self, basis: str) -> None:
        """Only two words need no caveat; "observed in the data" made none, since it was not spelled "observed"."""
        schema = Schema((AGE, Categorical("job", ("a", "b"), basis=basis)), replace(LABEL, basis=basis))
        [said] = schema.caveats()
        assert "job, class" in said
        assert repr(basis) in said
        assert Schema.from_json(schema.to_json()).caveats() == schema.caveats()

    @pytest.mark.parametrize("basis", [None, "documented", "meaning"])
    def test_a_public_basis_needs_no_caveat(self, basis: str | None) -> None:
        assert Schema((replace(AGE, basis=basis), replace(SEX, basis=basis)), LABEL).caveats() == ()

    @pytest.mark.parametrize("basis", [5, "", " ", ("round",)])
    def test_a_basis_is_words(self, basis: Any) -> None:
        for build in (lambda: Numeric("x", 0, 1, basis=basis), lambda: Categorical("c", ("a",), basis=basis)):
            with pytest.raises(SchemaError, match="basis must say in words"):
                build()


class TestInferred:
    """The mark is in the facts: no way of building another schema from them loses it."""

    seen = infer_schema({"age": [31, 64], "sex": ["f", "m"], "class": ["no", "yes"]}, "class")

    def test_every_way_to_build_one_again(self) -> None:
        seen, label = self.seen, Categorical("class", ("no", "yes"))
        assert seen.inferred
        again = [
            Schema(seen.attributes, seen.label),
            Schema(seen.attributes, label),
            Schema((seen.attributes[1], Numeric("weight", 0, 200)), label),
            Schema((Numeric("weight", 0, 200),), seen.label),
            Schema((seen.attributes[0],), label, inferred=False),
            replace(seen, inferred=False),
            replace(seen, name="ours"),
            seen.with_bins(5),
            replace(seen, attributes=tuple(replace(a, name=a.name + "2") for a in seen.attributes)),
            Schema.from_json(seen.to_json()),
            Schema.from_dict({k: v for k, v in seen.to_dict().items() if k != "inferred"}),
            pickle.loads(pickle.dumps(seen)),
            Schema(replace(seen, attributes=(AGE,), label=LABEL).attributes, LABEL, inferred=True),
        ]
        assert [schema.inferred for schema in again] == [True] * len(again)

    def test_the_mark_of_a_schema_is_written_into_its_facts(self) -> None:
        """Also of one that was marked by hand, or read from a file of older days."""
        marked = Schema((AGE, SEX), LABEL, inferred=True)
        assert Schema(marked.attributes, LABEL).inferred
        assert Schema((AGE,), marked.label).inferred
        assert replace(marked) == marked

    def test_the_basis_of_a_fact_is_stated(self) -> None:
        stated = tuple(replace(a, basis="documented") for a in self.seen.attributes)
        assert not Schema(stated, LABEL).inferred
        assert Schema(stated, LABEL).caveats() == ()


class TestJson:
    def test_known_answer(self) -> None:
        assert Schema.from_dict(FACTS) == Schema((Numeric("age", 0, 120, True), SEX), LABEL, "people")
        assert Schema.from_dict(FACTS).to_dict() == FACTS

    def test_what_is_for_others_is_ignored(self) -> None:
        facts = FACTS | {"rows": 5, "$schema": "privet-schema.json", "notes": None}
        assert Schema.from_dict(facts).to_dict() == FACTS

    def test_file_and_text(self, tmp_path: Path) -> None:
        schema = Schema.from_dict(FACTS)
        path = tmp_path / "s.json"
        text = schema.to_json(path)
        assert Schema.from_json(path) == Schema.from_json(str(path)) == Schema.from_json(text) == schema
        assert '"max": 120,' in text  # whole bounds stay whole

    def test_our_own_keys_survive(self) -> None:
        schema = Schema(
            (
                Numeric("x", -1.5, 2, thresholds=(0.1, 0.30000000000000004), missing="?", basis="round"),
                Numeric("y", 0, 1, bins=7, missing=-999),
                Categorical("c", (1, "1", 2.5, "z"), other="z", basis="observed"),
            ),
            Categorical("label", (7, 9), basis="observed"),
            name="n",
            inferred=True,
            title="t",
            notes="ü",
            splits={"train": [0, 3]},
        )
        again = Schema.from_json(schema.to_json())
        assert again == schema
        assert again.to_dict() == schema.to_dict()
        assert again.inferred  # or saving a schema would wash it clean

    @pytest.mark.parametrize("labels", [("a", "b"), (True, False), (7, 9), (0.5, 1.5), ("1", 1)])
    def test_labels_of_any_type(self, labels: tuple[Any, ...]) -> None:
        again = Schema.from_json(Schema((AGE,), Categorical("y", labels)).to_json()).label.values
        assert again == labels
        assert list(map(type, again)) == list(map(type, labels))

    @pytest.mark.needs_data
    def test_every_real_schema(self, data_dir: Path) -> None:
        files = sorted(data_dir.glob("*.schema.json"))
        assert files
        for file in files:
            facts = json.loads(file.read_text("utf-8"))
            del facts["rows"]
            schema = Schema.from_json(file)
            assert schema.to_dict() == facts, file.name
            assert list(schema.to_dict()) == list(facts), file.name
            assert Schema.from_json(schema.to_json()) == schema, file.name


def changed(**changes: Any) -> dict[str, Any]:
    return {key: value for key, value in (FACTS | changes).items() if value is not ...}


def attribute(**changes: Any) -> dict[str, Any]:
    facts = {"name": "x", "type": "continuous", "min": 0, "max": 1} | changes
    return changed(attributes=[{key: value for key, value in facts.items() if value is not ...}])


class TestBadInput:
    @pytest.mark.parametrize(
        ("build", "message"),
        [
            (lambda: Categorical("job", ()), "'job': the list of values is empty; list every value"),
            (lambda: Categorical("job", "abc"), "'job': values must be a list"),  # type: ignore[arg-type]
            (lambda: Categorical("job", ("a", "a")), "'job': a value is listed twice"),
            (lambda: Categorical("job", (True, 1)), "'job': a value is listed twice"),
            (lambda: Categorical("job", ("a", None)), "'job': values must be strings, .* missing value as '\\?'"),
            (lambda: Categorical("job", (1.0, float("nan"))), "'job': values must be"),
            (lambda: Categorical("job", (1.0, float("inf"))), "'job': values must be"),
            (lambda: Categorical("job", ([1], [2])), "'job': values must be"),
            (lambda: Categorical("job", tuple(range(70_000))), "'job': at most 65000 values"),
            (lambda: Categorical("job", ("a", "b"), other="c"), "'job': other='c' is not among its values"),
            (lambda: Categorical("", ("a", "b")), "non-empty string"),
            (lambda: Numeric("x", 1, 1), "'x': low 1 must be below high 1.*widen"),
            (lambda: Numeric("x", 2, 1), "'x': low 2 must be below high 1"),
            (lambda: Numeric("x", -1.7e308, 1.7e308), "'x': .* finite width"),
            (lambda: Numeric("x", 0, float("inf")), "'x': high .* finite number, not inf"),
            (lambda: Numeric("x", float("nan"), 1), "'x': low .* finite number, not nan"),
            (lambda: Numeric("x", 0, 10**400), "'x': high .* finite number"),
            (lambda: Numeric("x", "0", 1), "'x': low .* finite number, not '0'"),  # type: ignore[arg-type]
            (lambda: Numeric("x", False, True), "'x': low .* finite number, not False"),
            (lambda: Numeric("x", 0.2, 0.8, integer=True), "'x': no whole number lies between"),
            (lambda: Numeric("x", 0, 1, bins=1), "'x': bins must be a whole number from 2 to 65000, not 1"),
            (lambda: Numeric("x", 0, 1, bins=65_001), "'x': bins must be"),
            (lambda: Numeric("x", 0, 1, bins=2.5), "'x': bins must be"),  # type: ignore[arg-type]
            (lambda: Numeric("x", 0, 1, missing=True), "'x': missing must be the marker"),
            (lambda: Numeric("x", 0, 1, thresholds=()), "'x': give 1 to 65000 thresholds"),
            (lambda: Numeric("x", 0, 1, thresholds=(0.0, 0.5)), r"'x': thresholds must ascend strictly inside \(0, 1"),
            (lambda: Numeric("x", 0, 1, thresholds=(0.5, 1.0)), "'x': thresholds must ascend strictly"),
            (lambda: Numeric("x", 0, 1, thresholds=(0.6, 0.5)), "'x': thresholds must ascend strictly"),
            (lambda: Numeric("x", 0, 1, thresholds=("a",)), "'x': each threshold must be a finite"),  # type: ignore[arg-type]
            (lambda: Numeric("x", 0, 1, thresholds=0.5), "'x': thresholds must be a list"),  # type: ignore[arg-type]
            (lambda: Schema((), LABEL), "at least one Numeric or Categorical"),
            (lambda: Schema(("age",), LABEL), "at least one Numeric or Categorical"),  # type: ignore[arg-type]
            (lambda: Schema((AGE,), None), "the label is missing; give label=Categorical"),  # type: ignore[arg-type]
            (lambda: Schema((AGE, SEX, AGE), LABEL), "attribute name 'age' is used twice; rename one"),
            (lambda: Schema((AGE, SEX), SEX), "the label 'sex' is also an attribute"),
            (lambda: Schema((AGE,), Categorical("y", ("a",))), "the label 'y' needs at least two values"),
            (lambda: Schema((AGE,), Categorical("y", ("a", "b"), "b")), "the label 'y' cannot have other"),
            (lambda: Schema((AGE,), LABEL).with_bins(1), "'age': bins must be"),
            (lambda: Schema.from_dict(changed(labels=...)), "the schema lacks the key 'labels'; add it"),
            (lambda: Schema.from_dict(changed(**{"class": ...})), "the schema lacks the key 'class'"),
            (lambda: Schema.from_dict(changed(attributes=...)), "the schema lacks the key 'attributes'"),
            (lambda: Schema.from_dict(changed(attributes={})), "attributes must be a list"),
            (lambda: Schema.from_dict(changed(splits=5)), "splits must be an object"),
            (lambda: Schema.from_json('{"a":' * 100_000), "not valid JSON"),
            (lambda: Schema.from_dict(changed(attributes=[3])), "attribute number 0 must be an object"),
            (lambda: Schema.from_dict([]), "the schema must be an object"),  # type: ignore[arg-type]
            (lambda: Schema.from_dict(attribute(name=...)), "attribute number 0 lacks the key 'name'"),
            (lambda: Schema.from_dict(attribute(type=...)), "attribute 'x' lacks the key 'type'"),
            (lambda: Schema.from_dict(attribute(type="ordinal")), "'x': type must be 'continuous' or .* not 'ordinal'"),
            (lambda: Schema.from_dict(attribute(max=...)), "attribute 'x' lacks the key 'max'"),
            (
                lambda: Schema.from_dict(attribute(type="categorical", min=..., max=...)),
                "attribute 'x' lacks the key 'values'",
            ),
            (lambda: Schema.from_json('{"name": '), "not valid JSON"),
            (
                lambda: Schema.from_json("/no/such/file.json"),
                "cannot read the schema file '/no/such/file.json': No such",
            ),
        ],
    )
    def test_refused(self, build: Any, message: str) -> None:
        with pytest.raises(SchemaError, match=message):
            build()

    def test_file_that_is_not_text(self, tmp_path: Path) -> None:
        (tmp_path / "s.json").write_bytes(b"\xff\xfe\x00")
        with pytest.raises(SchemaError, match="is not UTF-8 text"):
            Schema.from_json(tmp_path / "s.json")

    def test_one_label_is_enough_when_inferred(self) -> None:
        assert Schema((AGE,), Categorical("y", ("a",)), inferred=True).n_classes == 1


def test_importing_is_light() -> None:
    heavy = "{'numba', 'narwhals', 'sklearn', 'pandas'}"
    code = f"import sys, privet.schema, privet.structure.splits; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
