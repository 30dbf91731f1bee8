"""Model files: what is written is read back, and nothing else is believed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import all_records, same, schemas, trees

from privet.errors import ModelFileError
from privet.models import codec
from privet.models.forest import Forest
from privet.models.model import Model
from privet.models.tree import Tree
from privet.models.voting import Voting
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, Threshold

SCHEMA = Schema(
    (Numeric("age", 0, 100, thresholds=(30.0, 60.0)), Categorical("job", ("clerk", "cook", "smith"))),
    Categorical("rich", ("no", "yes")),
)


@pytest.fixture
def tree() -> Tree:
    counts = np.full((6, 2), np.nan)
    counts[2:4] = [[3, -1], [0.5, 9]]
    tests = [Threshold(0, 0), Multiway(1), None, None, None, None]
    draws = np.array([0, 0, 1, 2, 0, 0])
    return Tree.build(SCHEMA, tests, [1, 3, -1, -1, -1, -1], [0, 0, 1, 0, 1, 0], counts=counts, draws=draws)


@pytest.fixture
def model(tree: Tree) -> Model:
    certificate = {"epsilon": "1/10", "charges": [{"what": "leaves"}]}
    made = {"date": "2026-11-17T09:30Z", "privet": "1.0"}
    return Model("diffpid3", tree, {"epsilon": 0.1, "max_depth": 2}, certificate, ("grown for a test",), made)


@pytest.fixture
def path(model: Model, tmp_path: Path) -> Path:
    model.save(tmp_path / "model.json")
    return tmp_path / "model.json"


@st.composite
def models(draw: Any) -> Model:
    plain = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
    mappings = st.dictionaries(st.text(), plain, max_size=4)
    schema = draw(schemas())
    grown: Tree | Forest = draw(trees(schema))
    if draw(st.booleans()):
        members = draw(st.lists(trees(schema), min_size=1, max_size=3))
        weight = draw(st.floats(0, 1) | st.just(1))
        grown = Forest(schema, tuple(members), draw(st.sampled_from(get_args(Voting))), weight)
    notes = draw(st.lists(st.text(), max_size=2))
    made = draw(st.dictionaries(st.text(), st.text(), max_size=2))
    return Model(draw(st.text()), grown, draw(mappings), draw(mappings), tuple(notes), made)


@given(models())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, model: Model) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.json"
    model.save(path)
    again = Model.read(path)
    assert (again.recipe, again.params, again.certificate) == (model.recipe, model.params, model.certificate)
    assert (again.notes, again.made) == (model.notes, model.made)
    assert again.schema == model.schema
    assert type(again.trees) is type(model.trees)
    if isinstance(model.trees, Forest) and isinstance(again.trees, Forest):
        assert (again.trees.voting, again.trees.weight) == (model.trees.voting, model.trees.weight)
        assert all(same(a, b) for a, b in zip(again.trees, model.trees, strict=True))
    elif isinstance(model.trees, Tree) and isinstance(again.trees, Tree):
        assert same(again.trees, model.trees)
    features = all_records(model.schema)
    assert np.array_equal(again.trees.predict_proba(features), model.trees.predict_proba(features))


def test_a_file_of_an_older_version_has_fewer_facts(path: Path) -> None:
    document = json.loads(path.read_text())
    del document["model"]["made"]
    del document["model"]["trees"][0]["draws"]
    document["sha256"] = codec._checksum(document["model"])
    path.write_text(json.dumps(document))
    old = Model.read(path)
    assert old.made == {}
    assert isinstance(old.trees, Tree)
    assert old.trees.draws.tolist() == [0] * 6


def test_the_file_is_plain_json(path: Path) -> None:
    document = json.loads(path.read_text("ascii"))
    assert (document["format"], document["version"]) == ("privet-model", 1)
    assert document["model"]["trees"][0]["counts"] == [None, None, [3.0, -1.0], [0.5, 9.0], None, None]
    assert document["model"]["certificate"]["epsilon"] == "1/10"
    assert "NaN" not in path.read_text("ascii")


def test_numbers_of_other_libraries_become_plain(tree: Tree, tmp_path: Path) -> None:
    params = {"epsilon": Fraction(1, 3), "depth": np.int64(4), "rates": np.ones(2), "shape": (1, 2), 3: "three", 10: 0}
    Model("sulq", tree, MappingProxyType(params)).save(tmp_path / "m")
    assert Model.read(tmp_path / "m").params == {
        "epsilon": "1/3", "depth": 4, "rates": [1.0, 1.0], "shape": [1, 2], "3": "three", "10": 0,
    }  # fmt: skip


# What a careless hand or a bad disk does to a file.


def test_every_truncation_is_noticed(path: Path) -> None:
    content = path.read_bytes().rstrip()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=r"model\.json' is (empty|truncated|not a privet model)"):
            Model.read(path)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelFileError, match="truncated or damaged"):
        Model.read(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"label": [0, 0, 1', b'"label": [1, 0, 1'),
        (b'"epsilon": "1/10"', b'"epsilon": "1/99"'),
        (b'"clerk"', b'"Clerk"'),
        (b'"recipe": "diffpid3"', b'"recipe": "sulq"'),
        (b'"sha256": "', b'"sha256": "0'),
        (b'"sha256"', b'"sha255"'),
        (b'"model"', b'"modal"'),
        (b'"max_depth": 2', b'"max_depth": 1e999'),
    ],
)
def test_an_edit_is_noticed(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert content.count(old) == 1
    path.write_bytes(content.replace(old, new))
    with pytest.raises(ModelFileError, match=r"model\.json' is damaged or edited: its checksum"):
        Model.read(path)


def test_white_space_and_the_order_of_keys_do_not_matter(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2, sort_keys=True))
    assert Model.read(path).recipe == "diffpid3"


def test_a_file_from_the_future(path: Path) -> None:
    document = json.loads(path.read_text()) | {"version": 3, "sha256": "of another kind"}
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=r"written by a newer privet \(its version is 3.*upgrade"):
        Model.read(path)


@pytest.mark.parametrize("version", [0, -1, "1", 1.0, True, None])
def test_a_version_that_is_none(path: Path, version: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": version}))
    with pytest.raises(ModelFileError, match="its version"):
        Model.read(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        b"age,rich\n1,no\n",
        b"[]",
        b"3",
        b"{}",
        b'{"format": "other"}',
        b"\x80\x04\x95pickle",
        b"[" * 100_000,
    ],
)
def test_a_file_of_another_kind(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"x' is (empty|not a privet model)"):
        Model.read(tmp_path / "x")


# What a forger, who can compute a checksum, does to it.


def _set(*keys: Any) -> Callable[[dict[str, Any]], None]:
    *way, last, value = keys

    def change(payload: Any) -> None:
        for key in way:
            payload = payload[key]
        payload[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_set("trees", 0, "attribute", 0, 7), "attribute 7"),
        (_set("trees", 0, "attribute", 0, -3), "attribute -3"),
        (_set("trees", 0, "attribute", 0, 0.5), "not a whole number"),
        (_set("trees", 0, "attribute", 0, True), "not a whole number"),
        (_set("trees", 0, "attribute", 0, 2**31), "not a whole number"),
        (_set("trees", 0, "kind", 0, 9), "unknown kind"),
        (_set("trees", 0, "kind", 0, 256), "unknown kind"),  # would be 0 in eight bits
        (_set("trees", 0, "cut", 0, 2), "threshold"),
        (_set("trees", 0, "first_child", 1, 0), "out of place"),
        (_set("trees", 0, "first_child", 1, 4), "out of place"),
        (_set("trees", 0, "first_child", 1, 2), "exactly once"),
        (_set("trees", 0, "label", 0, 2), "class 2"),
        (_set("trees", 0, "label", [0]), "differ in length"),
        (_set("trees", 0, "proba", 0, [1.5, -0.5]), "probability"),
        (_set("trees", 0, "proba", 0, [1]), "2 classes"),
        (_set("trees", 0, "proba", 0, None), "probability"),
        (_set("trees", 0, "proba", 0, ["1", 0]), "not a number"),
        (_set("trees", 0, "counts", 0, [10**400, 0]), "too large"),
        (_set("trees", 0, "counts", []), "differ in length"),
        (_set("trees", 0, {key: [] for key in (*codec.TESTS, "label", "proba", "counts")}), "no nodes"),
        (_set("trees", 0, 3), "'attribute' is missing"),
        (_set("trees", []), "0 trees"),
        (_set("trees", None), "'trees' is missing"),
        (_set("voting", "loudest"), "voting"),
        (_set("voting", ["majority"]), "voting"),
        (_set("schema", "labels", ["no"]), "at least two values"),
        (_set("schema", "attributes", 0, "type", "complex"), "'complex'"),
        (_set("schema", "attributes", [{"name": "age", "type": "continuous", "min": 0, "max": 9, "bins": {}}]), "bins"),
        (_set("schema", "splits", 5), "splits must be an object"),
        (_set("schema", 5), "'schema' is missing"),
        (_set("recipe", 5), "'recipe' is missing"),
        (_set("params", []), "'params' is missing"),
        (_set("certificate", "trust me"), "'certificate' is missing"),
        (_set("notes", [1]), "not text"),
        (_set("made", {"date": 3}), "not text"),
        (_set("made", None), "'made' is missing"),
        (_set("trees", 0, "draws", [0]), "differ in length"),
        (_set("trees", 0, "draws", 2, -1), "of at least 0"),
        (_set("trees", 0, "draws", 2, "1"), "not a whole number"),
    ],
)  # fmt: skip
def test_a_forged_file_still_gives_no_unsound_tree(path: Path, change: Callable[..., None], words: str) -> None:
    document = json.loads(path.read_text())
    change(document["model"])
    document["sha256"] = codec._checksum(document["model"])
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=r"model\.json' is damaged: ") as caught:
        Model.read(path)
    assert words in str(caught.value)


@given(st.data())
def test_every_forgery_is_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Any value in any place: a model, or a ModelFileError, never another exception."""
    path = tmp_path_factory.getbasetemp() / "forged.json"
    data.draw(models()).save(path)
    document = json.loads(path.read_text())
    place: Any = document["model"]
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.integers(0, 3)) == 0:
            break
        place = place[key]
    odd = [None, True, -1, 0, 1, 3, 0.5, 1e300, 10**400, "", "x", [], [[]], [1, 2], {}, {"a": 1}]
    place[key] = data.draw(st.sampled_from(odd))
    document["sha256"] = codec._checksum(document["model"])
    path.write_text(json.dumps(document))
    try:
        forged = Model.read(path)
    except ModelFileError as error:
        assert "forged.json" in str(error)  # noqa: PT017 -- both outcomes are right
    else:
        forged.trees.predict(all_records(forged.schema))


# The file system.


def test_reading_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"cannot read the model file '.*gone\.json': No such file"):
        Model.read(tmp_path / "gone.json")
    with pytest.raises(ModelFileError, match="directory"):
        Model.read(tmp_path)
    with pytest.raises(ModelFileError, match="null"):
        Model.read("a\0b")


def test_an_unwritable_output(model: Model, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for bad in (
        tmp_path / "no" / "such" / "m.json",
        tmp_path / "full",
        tmp_path / "full" / "file" / "m.json",
        "a\0b",
        "/",
    ):
        with pytest.raises(ModelFileError, match="cannot write the model file"):
            model.save(bad)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["file", "full"]


def test_a_failed_write_leaves_the_old_file(model: Model, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def broken(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(ModelFileError, match=r"model\.json': No space left"):
        model.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["model.json"]


def test_a_link_stays_a_link(model: Model, path: Path) -> None:
    link = path.with_name("latest.json")
    link.symlink_to(path.name)
    Model("sulq", model.trees).save(link)
    assert link.is_symlink()
    assert Model.read(path).recipe == "sulq"


def test_what_json_cannot_hold_is_not_written(tree: Tree, tmp_path: Path) -> None:
    for params in ({"f": object()}, {"f": float("nan")}, {"f": float("inf")}, {(1, 2): 3}):
        with pytest.raises(ModelFileError, match=r"m\.json': params"):
            Model("sulq", tree, params).save(tmp_path / "m.json")
    assert not any(tmp_path.iterdir())


def test_an_unsound_tree_is_not_written(tree: Tree, tmp_path: Path) -> None:
    looped = Tree.build(SCHEMA, [Threshold(0, 0), None, None], [0, -1, -1], [0, 0, 1])
    with pytest.raises(ModelFileError, match="out of place"):
        Model("sulq", Forest(SCHEMA, (tree, looped))).save(tmp_path / "m.json")
