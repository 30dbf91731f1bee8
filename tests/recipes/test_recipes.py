"""Recipes as values: parameters, their checks, and what the table of methods says."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet
from privet.audit.exact import as_recipe
from privet.datasets.clinic import clinic
from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError, RecipeError, ScoreError
from privet.fitting import Request, fit
from privet.growing.prelude import Prelude
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.recipes.papers.diffpc45 import DiffPC45
from privet.recipes.papers.diffpid3 import DiffPID3
from privet.recipes.papers.mohammed2015 import Mohammed2015
from privet.recipes.papers.sulq import SuLQ
from privet.recipes.recipe import Recipe
from privet.recipes.registry import recipe_classes
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Kind
from privet.tables.encoding import Codes, encode
from privet.testing import ZeroNoise, use_noise

ALL: list[type[Recipe]] = [SuLQ, DiffPID3, DiffPC45]
SCHEMA = Schema((Numeric("age", 0, 120), Categorical("town", ("a", "b", "c"))), Categorical("ill", ("no", "yes")))


TWO = {"town": ["a", "b"] * 20, "ill": ["no", "yes"] * 20}
SCHEMA_OF_TWO = Schema(SCHEMA.attributes[1:], SCHEMA.label)


def test_the_registry_lists_them() -> None:
    assert [info.name for info in privet.list_recipes()][:3] == ["sulq", "diffpid3", "diffpc45"]
    for info in privet.list_recipes():
        facts = info.to_dict()
        assert all(facts[key] for key in ("name", "title", "citation", "budget", "guarantee", "chooses", "trees"))
        assert facts["variants"] == list(info.guarantee)


@pytest.mark.parametrize("kind", ALL)
def test_a_recipe_is_a_frozen_value(kind: type[Recipe]) -> None:
    assert kind() == kind()
    assert kind(max_depth=2) != kind(max_depth=3)  # type: ignore[call-arg]
    assert kind(**kind().params) == kind()
    with pytest.raises(FrozenInstanceError):
        kind().variant = "sound"  # type: ignore[misc]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"variant": "fast"}, RecipeError, "'sound' or 'as-published', not 'fast'"),
        ({"max_depth": -1}, ParameterError, "max_depth must be a whole number from 0 to 1000"),
        ({"max_depth": 2.0}, ParameterError, "max_depth"),
        ({"max_depth": True}, ParameterError, "max_depth"),
        ({"max_depth": None}, ParameterError, "max_depth"),
        ({"max_bins": 1}, ParameterError, "bins"),
    ],
)
def test_invalid_parameters(kind: type[Recipe], options: dict[str, Any], error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        kind(**options)


@pytest.mark.parametrize("kind", [DiffPID3, DiffPC45])
@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"criterion": "gainratio"}, ScoreError, "refused"),
        ({"criterion": "entropy"}, ScoreError, "choose 'max', 'gini' or 'infogain'"),
        ({"criterion": "infogain"}, ParameterError, "needs max_records"),
        ({"criterion": "infogain", "max_records": 0}, ParameterError, "max_records"),
        ({"tests": "ternary"}, ParameterError, "tests must be one of"),
        ({"mechanism": "argmax"}, ParameterError, "mechanism must be"),
    ],
)
def test_invalid_scores(kind: type[Recipe], options: dict[str, Any], error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        kind(**options)


@pytest.mark.parametrize("options", [{"numeric": "cuts"}, {"size_share": -0.1}, {"size_share": 1.1}])
def test_invalid_parameters_of_diffpc45(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        DiffPC45(**options)


def kinds_used(recipe: Recipe) -> set[tuple[bool, Kind]]:
    """(numeric, kind of test) of all nodes of a tree grown without noise from records where everything matters."""
    schema = recipe.prepare(SCHEMA)
    rng = np.random.default_rng(0)
    features = np.array([rng.integers(0, arity, 3000) for arity in schema.arities], dtype=np.uint8)
    labels = ((features[0] * 2 // schema.arities[0]) + features[1] == 1).astype(np.uint8)
    data = PrivateDataset(MemoryEngine(schema, Codes(features, labels)), Ledger(10**6))
    with use_noise(ZeroNoise()):
        tree = recipe.grow_model(Prelude(data, data.ledger.remaining), rng)
    return {
        (isinstance(schema.attributes[test.attribute], Numeric), test.kind)
        for test in (tree.test(node) for node in range(len(tree)))  # type: ignore[union-attr,arg-type]
        if test is not None
    }


THRESHOLD, CATEGORY, MULTIWAY = (True, Kind.THRESHOLD), (False, Kind.ONE_CATEGORY), (False, Kind.MULTIWAY)


@pytest.mark.parametrize(
    ("recipe", "used"),
    [
        (SuLQ(), {(True, Kind.MULTIWAY), MULTIWAY}),
        (DiffPID3(criterion="gini"), {(True, Kind.MULTIWAY), MULTIWAY}),
        (DiffPID3(criterion="gini", tests="binary"), {THRESHOLD, CATEGORY}),
        (DiffPC45(), {THRESHOLD, CATEGORY}),
        (DiffPC45(tests="mixed"), {THRESHOLD, MULTIWAY}),
        (DiffPC45("as-published"), {THRESHOLD, MULTIWAY}),
        (DiffPC45(numeric="bins"), {(True, Kind.MULTIWAY), MULTIWAY}),
        (DiffPC45(mechanism="permute-and-flip"), {THRESHOLD, CATEGORY}),
    ],
)
def test_which_tests_each_composition_makes(recipe: Recipe, used: set[tuple[bool, Kind]]) -> None:
    assert kinds_used(recipe) <= used
    assert len(kinds_used(recipe)) == 2


def test_pruning_costs_nothing_and_only_cuts() -> None:
    rng = np.random.default_rng(0)
    features = np.array([rng.integers(0, arity, 2000) for arity in SCHEMA.arities], dtype=np.uint8)
    codes = Codes(features, (features[0] > 9).astype(np.uint8))
    sizes, spent = [], []
    for prune in (False, True):
        ledger = Ledger(10**6)
        with use_noise(ZeroNoise()):
            data = PrivateDataset(MemoryEngine(SCHEMA, codes), ledger)
            tree = DiffPC45(prune=prune).grow_model(Prelude(data, ledger.remaining), rng)
        assert np.array_equal(tree.predict(features), codes.labels)
        sizes.append(len(tree))  # type: ignore[arg-type]
        spent.append(ledger.spent)
    assert spent[0] == spent[1]
    assert sizes[1] == 3 < sizes[0]


def test_an_unsound_variant_must_be_allowed_and_is_recorded() -> None:
    class Leaky(SuLQ):
        unsound = {"as-published": "it is made up for this test"}  # noqa: RUF012

    engine = MemoryEngine(SCHEMA, Codes(np.zeros((2, 0), dtype=np.uint8), np.zeros(0, dtype=np.uint8)))
    guarded = Ledger(1)
    with pytest.raises(privet.PrivacyError, match="variant='sound'"):
        Leaky("as-published").grow_model(
            Prelude(PrivateDataset(engine, guarded), guarded.remaining), np.random.default_rng()
        )
    assert guarded.spent == 0
    open_ledger = Ledger(1).allow_nonprivate()
    Leaky("as-published").grow_model(
        Prelude(PrivateDataset(engine, open_ledger), open_ledger.remaining), np.random.default_rng()
    )
    assert not open_ledger.certificate().private
    assert "made up" in str(open_ledger.certificate())


def test_an_unsound_variant_is_refused_before_anything_else_happens(tmp_path: Path) -> None:
    """A table that can be read once is not, and a journal is not tied to it."""
    schema, table = clinic(50)
    ledger = Ledger(1, journal=tmp_path / "journal")
    before = (tmp_path / "journal").read_bytes()

    class Unread:
        caveats = ()

        def header(self, columns: Any) -> Any:
            return {name: [] for name in columns}

        def batches(self, columns: Any) -> Any:
            raise AssertionError("it was read")

    named = replace(schema, name="clinic")
    model = privet.papers.SmoothForestClassifier(
        named, epsilon=1, variant="as-published", ledger=ledger, expected_records=600
    )
    for source in (Unread(), table):
        with pytest.raises(privet.PrivacyError, match="variant='sound'"):
            model.fit(source)
    with pytest.raises(privet.PrivacyError, match="variant='sound'"):
        fit(Request(model.recipe(), table, 1, named, ledger=ledger))
    assert (tmp_path / "journal").read_bytes() == before
    privet.papers.SmoothForestClassifier(schema, epsilon=1, ledger=ledger).fit(table)


@pytest.mark.parametrize("kind", [Mohammed2015, DiffPID3, SuLQ])
def test_empty_leaves_of_greedy_trees_do_not_favour_the_class_listed_first(kind: Any) -> None:
    """All records are of the last class and in one corner: every other leaf is empty, and noise may not decide it."""
    schema = Schema(
        (Categorical("a", tuple("uvwxyz")), Categorical("b", tuple("uvwxyz"))), Categorical("class", ("no", "yes"))
    )
    table = {"a": ["u"] * 500, "b": ["u"] * 500, "class": ["yes"] * 500}
    data = privet.protect(table, schema, Ledger(10))
    with use_noise(ZeroNoise()):
        tree = kind(max_depth=2).grow_model(Prelude(data, Fraction(10)), np.random.default_rng(0))
    assert tree.is_leaf.sum() >= 6
    assert (tree.label == 1).all()
    np.testing.assert_allclose(tree.proba[:, 1], 1)


def test_a_non_private_variant_warns_once() -> None:
    """rana2016 stated its reason twice, under two names."""
    for kind in recipe_classes().values():
        for variant in kind.unsound:
            ledger = Ledger(1).allow_nonprivate()
            recipe = as_recipe(kind.info.name, variant=variant)
            data = PrivateDataset(MemoryEngine(SCHEMA_OF_TWO, encode(SCHEMA_OF_TWO, TWO)), ledger)
            with use_noise(ZeroNoise()):
                recipe.grow_model(Prelude(data, Fraction(1)), np.random.default_rng(0))
            said = [
                caveat.text for caveat in ledger.certificate().caveats if "not differentially private" in caveat.text
            ]
            assert len(said) == 1, kind.info.name
