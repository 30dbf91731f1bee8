"""Schemas as people write them: every key, YAML, drafts, mistakes, and a JSON Schema that says what the reader says."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from privet import Categorical, Numeric
from privet.errors import SchemaError
from privet.schema import Schema
from privet.schema.attributes import UNCONFIRMED
from privet.schema.keys import CATEGORY, FACTS, NUMBER, json_schema, properties
from privet.schema.written import facts_text, read_schema, schema_of, unconfirmed

DOCS = Path(__file__).parents[2] / "docs"
WHOLE: dict[str, Any] = {
    "$schema": "privet-schema.json",
    "name": "ward",
    "title": "A ward",
    "attributes": [
        {"name": "age", "type": "continuous", "min": 0, "max": 120, "integer": True, "bins": 12, "basis": "meaning"},
        {"name": "dose", "type": "continuous", "min": 0.5, "max": 9, "thresholds": [1, 2.5], "missing": "?"},
        {"name": "ward", "type": "categorical", "values": ["A", "B", "?"], "other": "?", "basis": "documented"},
        {"name": "cough", "type": "categorical", "values": [False, True]},
        {"name": "year", "type": "continuous", "min": 2000, "max": 2030, "from": "seen", "date": {"part": "year"}},
        {"name": "month", "type": "categorical", "values": [1, 2], "from": "seen", "date": {"part": "month"}},
        {
            "name": "sex",
            "type": "categorical",
            "values": ["f", "m"],
            "spellings": {"f": ["W"]},
            "fold": True,
            "prefix": 6,
            "missing": ["NA", 999],
        },
    ],
    "class": "ill",
    "labels": ["no", "yes"],
    "labels_spellings": {"yes": ["Y"]},
    "labels_fold": True,
    "labels_basis": "documented",
    "unit": {"name": "patient_id", "max_rows": 3},
    "notes": "Invented.",
    "splits": {"train": [0, 10]},
    "rows": 20,
    "inferred": False,
}  # every key at least once


def without_nothing(facts: dict[str, Any], *path: Any, put: Any) -> dict[str, Any]:
    """A copy with one place changed."""
    changed = copy.deepcopy(facts)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = put
    return changed


def test_every_key_is_used_above() -> None:
    numbers, categories = ([a for a in WHOLE["attributes"] if a["type"] == kind] for kind in (NUMBER, CATEGORY))
    assert set(WHOLE) == set(properties(FACTS))
    assert set().union(*numbers) == set(properties(NUMBER))
    assert set().union(*categories) == set(properties(CATEGORY))
    assert schema_of(WHOLE).names == ("age", "dose", "ward", "cough", "year", "month", "sex")


def test_the_page_explains_every_key() -> None:
    page = (DOCS / "reference" / "schema-keys.md").read_text("utf-8")
    rows = re.findall(r"^\| `([$\w]+)` \| (yes)? \| (.*) \|$", page, re.M)
    assert rows == [
        (key, "yes" if key in needed else "", told["description"])
        for what, needed in ((FACTS, json_schema()["required"]), *((w, _needed(w)) for w in (NUMBER, CATEGORY)))
        for key, told in properties(what).items()
    ]


def _needed(what: str) -> list[str]:
    needed: list[str] = json_schema()["$defs"][what]["required"]
    return needed


# ---- misspelt keys ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "word", "meant"),
    [
        ((), "atributes", "attributes"),
        ((), "label", "class"),
        ((), "classes", "labels"),
        ((), "Name", "name"),
        (("attributes", 0), "mni", "min"),
        (("attributes", 0), "low", "min"),
        (("attributes", 0), "maximum", "max"),
        (("attributes", 0), "treshold", "thresholds"),
        (("attributes", 2), "vales", "values"),
        (("attributes", 2), "categories", "values"),
        (("attributes", 2), "base", "basis"),
    ],
)
def test_a_misspelt_key_is_refused_with_the_nearest(path: tuple[Any, ...], word: str, meant: str) -> None:
    with pytest.raises(SchemaError, match=f"has no key '{word}'; did you mean '{meant}'"):
        schema_of(without_nothing(WHOLE, *path, word, put=1))


def test_a_key_like_no_other_is_refused_with_the_list() -> None:
    with pytest.raises(SchemaError, match=r"categorical attribute 'ward' has no key 'zzz'; there are name, type, val"):
        schema_of(without_nothing(WHOLE, "attributes", 2, "zzz", put=1))
    with pytest.raises(SchemaError, match="not 'numeric'; did you mean 'continuous'"):
        schema_of(without_nothing(WHOLE, "attributes", 0, "type", put="numeric"))


@pytest.mark.parametrize("name", ["twice.json", "twice.yaml"])
def test_a_key_that_occurs_twice_is_refused(tmp_path: Path, name: str) -> None:
    text = {"twice.json": '{"class": "a", "class": "b"}', "twice.yaml": "class: a\nclass: b\n"}[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(SchemaError, match="the key 'class' twice"):
        read_schema(tmp_path / name)


# ---- the JSON Schema ----------------------------------------------------------------------------------------------

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is among the test requirements: install .[test]")
JUDGE = jsonschema.Draft202012Validator(json_schema())

SIMPLE = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 30), st.floats(-2, 200), st.text(max_size=3), st.just([]),
    st.sampled_from(["continuous", "categorical", UNCONFIRMED, "?", " "]), st.just({}),
    st.lists(st.one_of(st.integers(0, 3), st.text(max_size=1), st.none(), st.floats(0, 9)), max_size=3),
)  # fmt: skip
PLACES: list[tuple[Any, ...]] = [
    *((key,) for key in (*WHOLE, "colour")),
    *(("attributes", i, key) for i, one in enumerate(WHOLE["attributes"]) for key in (*one, "colour", "other", "bins")),
]


@settings(max_examples=400)
@given(st.lists(st.tuples(st.sampled_from(PLACES), SIMPLE), min_size=1, max_size=2))
def test_what_an_editor_refuses_the_reader_refuses(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    facts = WHOLE
    for path, value in changes:
        if path[0] == "attributes" and len(path) > 1 and facts["attributes"] != WHOLE["attributes"]:
            continue
        facts = without_nothing(facts, *path, put=value)
    try:
        schema_of(facts)
    except SchemaError:
        return
    assert JUDGE.is_valid(facts), next(JUDGE.iter_errors(facts)).message


SINGLE_FAULTS: dict[str, tuple[Any, ...]] = {
    "unknown key": ("colour", "green"),
    "unknown key of a number": ("attributes", 0, "values", ["a"]),
    "unknown key of a category": ("attributes", 2, "min", 0),
    "no class": ("class", None),
    "no labels": ("labels", []),
    "labels that are no list": ("labels", "no, yes"),
    "a name that is a number": ("name", 7),
    "no attributes": ("attributes", []),
    "no bound": ("attributes", 0, "min", None),
    "a bound in words": ("attributes", 0, "max", "many"),
    "a flag in words": ("attributes", 0, "integer", "yes"),
    "one bin": ("attributes", 0, "bins", 1),
    "half a bin": ("attributes", 0, "bins", 2.5),
    "a threshold in words": ("attributes", 1, "thresholds", ["low"]),
    "no threshold": ("attributes", 1, "thresholds", []),
    "a marker that is none": ("attributes", 1, "missing", ["?", True]),
    "an unknown type": ("attributes", 0, "type", "numeric"),
    "a missing value among values": ("attributes", 2, "values", ["A", None]),
    "an empty basis": ("attributes", 0, "basis", " "),
    "an unconfirmed basis": ("attributes", 0, "basis", UNCONFIRMED),
    "unconfirmed labels": ("labels_basis", UNCONFIRMED),
    "splits that are a list": ("splits", [0, 1]),
}


@pytest.mark.parametrize("fault", SINGLE_FAULTS)
def test_editor_and_reader_refuse_the_same(fault: str) -> None:
    *path, value = SINGLE_FAULTS[fault]
    facts = without_nothing(WHOLE, *path, put=value)
    assert JUDGE.is_valid(WHOLE)
    assert not JUDGE.is_valid(facts)
    with pytest.raises(SchemaError):
        schema_of(facts)


@pytest.mark.needs_data
def test_every_real_schema_is_valid_for_an_editor(data_dir: Path) -> None:
    for file in sorted(data_dir.glob("*.schema.json")):
        assert JUDGE.is_valid(json.loads(file.read_text("utf-8"))), file.name


# ---- drafts -------------------------------------------------------------------------------------------------------


def test_a_draft_is_refused_and_names_who_waits() -> None:
    facts = without_nothing(WHOLE, "attributes", 2, "basis", put=UNCONFIRMED) | {"labels_basis": UNCONFIRMED}
    assert unconfirmed(facts) == ["ward", "ill"]
    with pytest.raises(SchemaError, match=r"is a draft: the facts about ward, ill are not confirmed\..*schema edit"):
        schema_of(facts)


def test_no_fact_is_built_unconfirmed() -> None:
    for build in (lambda: Numeric("x", 0, 1, basis=UNCONFIRMED), lambda: Categorical("x", ("a",), basis=UNCONFIRMED)):
        with pytest.raises(SchemaError, match="not confirmed"):
            build()


# ---- YAML ---------------------------------------------------------------------------------------------------------

TRAPS = ["no", "yes", "on", "off", "y", "1:30", "2020-01-02", "0x10", "010", "1e3", "1_000", ".5", "~", "null", "true",
         "", " a", "a: b", "#", "- a", "=", "<<", "1", "1.0", "é", "'", '"', "!x", "&x", "*x", ".inf"]  # fmt: skip


def test_yaml_and_json_are_equivalent(tmp_path: Path) -> None:
    for name in ("s.yaml", "s.yml", "s.json"):
        (tmp_path / name).write_text(facts_text(WHOLE, name), encoding="utf-8")
    schemas = [read_schema(tmp_path / name) for name in ("s.yaml", "s.yml", "s.json")]
    assert schemas[0] == schemas[1] == schemas[2]
    assert schemas[0].to_json(tmp_path / "again.yaml").startswith("name: ward")
    assert Schema.from_json(tmp_path / "again.yaml") == schemas[2]


def test_no_value_becomes_another_in_yaml(tmp_path: Path) -> None:
    values = [*TRAPS, True, 1.5, -3, 10**20]
    schema = Schema((Categorical("c", tuple(values)),), Categorical("class", ("no", "yes")))
    schema.to_json(tmp_path / "s.yaml")
    again = Schema.from_json(tmp_path / "s.yaml").attributes[0]
    assert isinstance(again, Categorical)
    assert list(again.values) == values
    assert list(map(type, again.values)) == list(map(type, values))


@given(st.text(max_size=6).filter(str.isprintable))
def test_any_text_survives_yaml(text: str) -> None:
    from privet.schema.yaml12 import dump, load

    assert load(dump({"values": [text]})) == {"values": [text]}


def test_words_stay_words_in_yaml(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "class: ill\nlabels: [no, yes]\n"
        "attributes:\n  - {name: day, type: categorical, values: [on, 2020-01-02, 1:30]}\n"
    )
    schema = read_schema(tmp_path / "s.yaml")
    assert schema.label.values == ("no", "yes")
    assert schema.attributes[0].values == ("on", "2020-01-02", "1:30")  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["a: [", "a: b: c", "!!python/object:os.system {}", "\t- a", "- a\n- b", "just words"])
def test_bad_yaml_is_a_message(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(SchemaError, match=r"not valid YAML|must be an object|YAML tag"):
        read_schema(tmp_path / "bad.yaml")
