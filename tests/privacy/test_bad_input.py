"""Bad input gives one clear error of privet's own tree: nothing is charged and nothing is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet
from privet import Categorical, Ledger, Numeric, PrivateDataset, Schema
from privet.errors import (
    BudgetExceeded,
    EpsilonError,
    ParameterError,
    PrivetError,
    SchemaError,
    ScoreError,
    TableError,
)
from privet.privacy.level import Level
from privet.privacy.mechanisms import Selection
from privet.privacy.scores import Gini, Hits, InfoGain, Max, parse_score
from privet.structure.routes import Routes
from privet.structure.splits import Multiway, OneCategory, Tests, Threshold
from privet.testing import ZeroNoise, use_noise

SCHEMA = Schema((Numeric("x", 0, 10, bins=5), Categorical("c", ("u", "v"))), Categorical("y", ("a", "b")))
TABLE = {"x": [1.0, 2.0, 7.0], "c": ["u", "v", "v"], "y": ["a", "a", "b"]}
LABEL = Categorical("y", ("a", "b"))
ROUTES = Routes(SCHEMA, Tests.of(SCHEMA, [Threshold(0, 1), None, None]), np.array([1, -1, -1]), np.array([0]))
OTHER_SCHEMA = Schema(SCHEMA.attributes, Categorical("y", ("a", "b", "c")))
ELSEWHERE = Routes(OTHER_SCHEMA, ROUTES.tests, ROUTES.first_child, ROUTES.roots)


class Untouched(ZeroNoise):
    """A source of noise that nobody may ask."""

    def laplace(self, values: Any, scale: float) -> Any:
        raise AssertionError("noise was drawn")

    def exponential(self, scores: Any, scale: float) -> int:
        raise AssertionError("noise was drawn")

    permute_and_flip = exponential

    def coins(self, sides: int, size: int) -> Any:
        raise AssertionError("a coin was thrown")


BAD_EPSILONS = {
    "zero": (0, "greater than 0"),
    "zero float": (0.0, "greater than 0"),
    "negative": (-0.5, "greater than 0"),
    "nan": (math.nan, "finite"),
    "numpy nan": (np.float64("nan"), "finite"),
    "infinity": (math.inf, "finite"),
    "minus infinity": (-math.inf, "finite"),
    "string": ("1", "positive number"),
    "empty string": ("", "positive number"),
    "true": (True, "positive number"),
    "false": (False, "positive number"),
    "none": (None, "positive number"),
    "list": ([1], "positive number"),
    "array": (np.array([0.5]), "positive number"),
    "complex": (1j, "positive number"),
    "huge": (10**400, "between"),
    "tiny": (1e-320, "between"),
}
QUERIES: dict[str, Callable[[PrivateDataset, Any], object]] = {
    "charge": lambda data, epsilon: data.ledger.charge(epsilon, "query"),
    "account": lambda data, epsilon: data.ledger.reserve(epsilon, "fit"),
    "analyst": lambda data, epsilon: data.ledger.analyst("ann", "none" if epsilon is None else epsilon),
    "noisy_count": lambda data, epsilon: data.noisy_count(epsilon),
    "class_counts": lambda data, epsilon: data.class_counts(epsilon),
    "noisy_sum": lambda data, epsilon: data.noisy_sum("x", epsilon),
    "noisy_average": lambda data, epsilon: data.noisy_average("x", epsilon),
    "ask": lambda data, epsilon: data.ask("count where x > 1", epsilon),
    "histogram": lambda data, epsilon: data.histogram("x", epsilon),
    "quantiles": lambda data, epsilon: data.quantiles("x", [0.5], epsilon),
    "most_frequent": lambda data, epsilon: data.most_frequent("c", epsilon),
    "choose": lambda data, epsilon: data.choose(Tests.binary(SCHEMA), Max(), epsilon),
    "part": lambda data, epsilon: data.partition(Threshold(0, 1))[0].noisy_count(epsilon),
    "count_all": lambda data, epsilon: data.level().count_all(epsilon),
    "class_counts_all": lambda data, epsilon: data.level().class_counts_all(epsilon),
    "attribute_counts_all": lambda data, epsilon: data.level().attribute_counts_all(epsilon, np.ones((1, 2), bool)),
    "choose_all": lambda data, epsilon: data.level().choose_all(Tests.binary(SCHEMA), Max(), epsilon),
    "choose_labels_all": lambda data, epsilon: data.level().choose_labels_all(epsilon),
    "leaves": lambda data, epsilon: data.level().descend(ROUTES).class_counts_all(epsilon),
}


def refused(kind: type[PrivetError], says: str, act: Callable[[], object]) -> None:
    """``act`` raises exactly one error, of exactly this kind, which says this, and draws nothing."""
    with use_noise(Untouched()), pytest.raises(PrivetError, match=says) as caught:
        act()
    assert type(caught.value) is kind
    assert caught.value.__context__ is None or caught.value.__suppress_context__, "two errors for one fault"
    assert len(str(caught.value)) < 400


@pytest.fixture(params=["memory", "journal"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    return Ledger(1, journal=tmp_path / "journal" if request.param == "journal" else None)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize(("epsilon", "says"), BAD_EPSILONS.values(), ids=BAD_EPSILONS)
def test_a_bad_epsilon(ledger: Ledger, query: Callable[..., object], epsilon: Any, says: str) -> None:
    ledger.charge(0.25, "before")
    data, before = privet.protect(TABLE, SCHEMA, ledger), ledger.certificate()
    refused(EpsilonError, rf"^epsilon must .*{says}", lambda: query(data, epsilon))
    assert ledger.certificate() == before
    assert "ann" not in ledger._analysts


@pytest.mark.parametrize(("epsilon", "says"), BAD_EPSILONS.values(), ids=BAD_EPSILONS)
def test_a_bad_budget(tmp_path: Path, epsilon: Any, says: str) -> None:
    refused(EpsilonError, rf"^epsilon must .*{says}", lambda: Ledger(epsilon))
    if epsilon is not None:  # with a journal None means: what the journal says
        refused(EpsilonError, says, lambda: Ledger(epsilon, journal=tmp_path / "journal"))
    assert list(tmp_path.iterdir()) == []


SPENDING = {name: query for name, query in QUERIES.items() if name != "analyst"}


@pytest.mark.parametrize("query", SPENDING.values(), ids=SPENDING)
@pytest.mark.parametrize(
    ("spent", "asked", "says"),
    [(1, 0.25, "ask the data owner for a new budget"), (0.75, 0.5, r"0\.25 short.*ask with epsilon 0\.25 or less")],
    ids=["a spent budget", "a budget too small"],
)
def test_a_budget_that_does_not_reach(
    ledger: Ledger, query: Callable[..., object], spent: float, asked: float, says: str
) -> None:
    ledger.charge(spent, "before")
    data, before = privet.protect(TABLE, SCHEMA, ledger), ledger.certificate()
    refused(BudgetExceeded, rf"nothing was charged or released.*{says}|{says}", lambda: query(data, asked))
    assert ledger.certificate() == before
    if spent < 1:
        with use_noise(ZeroNoise()):
            query(data, 0.25)  # the fix that the message offers


def test_an_analysts_budget_that_does_not_reach(ledger: Ledger) -> None:
    ann = ledger.analyst("ann", 0.25)
    data, before = privet.protect(TABLE, SCHEMA, ann), ledger.certificate()
    refused(BudgetExceeded, "ann has 0.25 left", lambda: data.noisy_count(0.5))
    assert ledger.certificate() == before == ann.certificate()


SCHEMA_FAULTS: dict[str, tuple[str, Callable[[], object]]] = {
    "no categories": ("'c'.*empty; list every value", lambda: Categorical("c", ())),
    "a category twice": ("'c'.*twice", lambda: Categorical("c", ("u", "u"))),
    "low above high": ("'x'.*low 2 must be below high 1", lambda: Numeric("x", 2, 1)),
    "low equals high": ("'x'.*low 1 must be below high 1", lambda: Numeric("x", 1, 1)),
    "nan bound": ("'x'.*low", lambda: Numeric("x", math.nan, 1)),
    "infinite bound": ("'x'.*high", lambda: Numeric("x", 0, math.inf)),
    "string bound": ("'x'.*low", lambda: Numeric("x", "0", 1)),  # type: ignore[arg-type]
    "bad thresholds": ("'x'.*thresholds must ascend", lambda: Numeric("x", 0, 1, thresholds=(0.7, 0.3))),
    "duplicate names": ("'x' is used twice; rename", lambda: Schema((Numeric("x", 0, 1), Numeric("x", 0, 1)), LABEL)),
    "label among the attributes": ("label 'y' is also an attribute", lambda: Schema((Numeric("y", 0, 1),), LABEL)),
    "no attributes": ("at least one Numeric", lambda: Schema((), LABEL)),
    "no label": ("label is missing; give label=", lambda: Schema((Numeric("x", 0, 1),), None)),  # type: ignore[arg-type]
    "one label": ("'y' needs at least two", lambda: Schema((Numeric("x", 0, 1),), Categorical("y", ("a",)))),
    "no label in JSON": ("class", lambda: Schema.from_dict({"attributes": [], "labels": ["a"]})),
    "no labels in JSON": ("labels", lambda: Schema.from_dict({"attributes": [], "class": "y"})),
    "broken JSON": ("not valid JSON", lambda: Schema.from_json("{")),
    "no such file": ("cannot read the schema file", lambda: Schema.from_json("no/such/file")),
}


@pytest.mark.parametrize(("says", "build"), SCHEMA_FAULTS.values(), ids=SCHEMA_FAULTS)
def test_a_schema_that_contradicts_itself(says: str, build: Callable[[], object]) -> None:
    with use_noise(Untouched()), pytest.raises(SchemaError, match=says):
        build()


def without(*names: str) -> dict[str, Any]:
    return {name: column for name, column in TABLE.items() if name not in names}


TABLE_FAULTS: dict[str, tuple[str, Any]] = {
    "lacks a column": ("lacks 'x'; expected the columns x, c, y", without("x")),
    "lacks two": ("lacks 'x', 'c'", without("x", "c")),
    "lacks the label": ("lacks 'y'", without("y")),
    "columns of different length": ("'c' differs in length", TABLE | {"c": ["u"]}),
    "too few columns": ("the array has 2 columns; expected 3", np.zeros((3, 2))),
    "too many columns": ("4 columns", np.zeros((3, 4))),
    "one dimension": ("2 dimensions", np.zeros(3)),
    "not a table": ("type int", 5),
    "none": ("type NoneType", None),
}


@pytest.mark.parametrize(("says", "table"), TABLE_FAULTS.values(), ids=TABLE_FAULTS)
def test_a_table_of_the_wrong_shape(ledger: Ledger, says: str, table: Any) -> None:
    before = ledger.certificate()
    with use_noise(Untouched()), pytest.raises(TableError, match=says) as caught:
        privet.protect(table, SCHEMA, ledger)
    assert ledger.certificate() == before
    for value in ("1.0", "7.0", "'u'", "'a'"):
        assert value not in str(caught.value), "an error shows a private value"


def test_a_bad_row_is_not_bad_input(ledger: Ledger) -> None:
    # An error that depends on a row would be a release.
    rows = {"x": ["much", None, math.nan], "c": [object(), None, 5], "y": ["?", "a", None]}
    with use_noise(ZeroNoise()):
        assert privet.protect(rows, SCHEMA, ledger).noisy_count(1) == 1


OTHER_FAULTS: dict[str, tuple[type[PrivetError], str, Callable[[PrivateDataset], object]]] = {
    "no ledger": (ParameterError, "ledger must be a privet.Ledger", lambda _: privet.protect(TABLE, SCHEMA, 1.0)),  # type: ignore[arg-type]
    "unknown neighbours": (ParameterError, "neighbours must be", lambda _: Ledger(1, neighbours="twins")),
    "no tests": (ParameterError, "tests is empty", lambda data: data.choose(Tests.of(SCHEMA, []), Max(), 0.5)),
    "shards": (ParameterError, "count must be", lambda data: data.shards(0)),
    "a level of no shards": (ParameterError, "count must be", lambda data: data.level(0)),
    "a level of part of a shard": (ParameterError, "count must be", lambda data: data.level(1.5)),  # type: ignore[arg-type]
    "a sample of nobody": (ParameterError, "rate must be", lambda data: data.sample(Fraction(0))),
    "a sample of more than all": (ParameterError, "rate must be", lambda data: data.sample(Fraction(3, 2))),
    "a rate in floating point": (ParameterError, "rate must be", lambda data: data.sample(0.5)),  # type: ignore[arg-type]
    "routes of another schema": (ParameterError, "routes must", lambda data: data.level().descend(ELSEWHERE)),
    "routes for other cells": (
        ParameterError,
        "routes must have one tree .* for each of the 2 cells",
        lambda data: data.level().split([Threshold(0, 1)]).descend(ROUTES),
    ),
    "unknown attribute": (SchemaError, "no attribute is called 'z'", lambda data: data.noisy_sum("z", 0.5)),
    "categorical sum": (ParameterError, "'c' is categorical", lambda data: data.noisy_sum("c", 0.5)),
    "a cell twice": (ParameterError, "cell twice", lambda data: data.level().count_all(0.5, np.array([0, 0]))),
    "mechanism": (ParameterError, "mechanism must be", lambda _: Selection("argmax")),  # type: ignore[arg-type]
    "constant": (ParameterError, "constant must be", lambda _: Selection(constant="none")),  # type: ignore[arg-type]
    "gain ratio": (ScoreError, "gainratio.*refused.*use 'max'", lambda _: parse_score("gainratio")),
    "unknown score": (ScoreError, "unknown .*'best'", lambda _: parse_score("best")),
    "max_records": (ParameterError, "max_records must lie", lambda _: InfoGain(0)),
    "tests of another size": (ParameterError, "one entry for each", lambda data: data.level().split([])),
}


@pytest.mark.parametrize(("kind", "says", "act"), OTHER_FAULTS.values(), ids=OTHER_FAULTS)
def test_other_arguments(ledger: Ledger, kind: type[PrivetError], says: str, act: Callable[..., object]) -> None:
    data, before = privet.protect(TABLE, SCHEMA, ledger), ledger.certificate()
    refused(kind, says, lambda: act(data))
    assert ledger.certificate() == before


class Sharper(Gini):
    """A subclass that says of itself that nobody can move it."""

    sensitivity = Fraction(1, 1000)


@dataclass(frozen=True)
class LookAlike:
    """Not in the closed set, though it has all that a score has."""

    direction = 1
    sensitivity = Fraction(1, 1000)

    def node(self, counts: Any) -> Any:
        return counts.max(axis=-1) * 1.0

    def rounding(self, terms: int) -> Fraction:
        return Fraction(0)


class OneChild(Threshold):
    def arity(self, schema: Schema) -> int:
        return 1


class Halved(Selection):
    factor = Fraction(1, 100)


@dataclass(frozen=True)
class Anything:
    attribute: int = 99
    kind: int = 0
    cut: int = 0

    def arity(self, schema: Schema) -> int:
        return 2


BAD_TESTS: dict[str, tuple[type[PrivetError], str, Any]] = {
    "attribute 99": (SchemaError, "attribute 99, but the schema numbers its attributes from 0 to 1", Threshold(99, 0)),
    "attribute 2": (SchemaError, "attribute 2", Multiway(2)),
    "attribute -1": (SchemaError, "attribute -1", Threshold(-1, 0)),
    "a name": (SchemaError, "attribute 'x'.*schema.index", Threshold("x", 0)),  # type: ignore[arg-type]
    "a fraction of an attribute": (SchemaError, "attribute 0.5", Threshold(0.5, 0)),  # type: ignore[arg-type]
    "a cut too many": (SchemaError, "number 4, from 0, of the 4 cuts of 'x'", Threshold(0, 4)),
    "a cut below": (SchemaError, "number -1, from 0, of the 4 cuts", Threshold(0, -1)),
    "a huge cut": (SchemaError, "of the 4 cuts of 'x'", Threshold(0, 2**40)),
    "half a cut": (SchemaError, "number 0.5", Threshold(0, 0.5)),  # type: ignore[arg-type]
    "a value too many": (SchemaError, "number 2, from 0, of the 2 values of 'c'", OneCategory(1, 2)),
    "a cut behind the last category": (SchemaError, "of the . cuts of 'c'", Threshold(1, 99)),
    "a category of a number": (SchemaError, "'x' is numeric.*use Threshold", OneCategory(0, 0)),
    "a subclass": (ParameterError, "not OneChild", OneChild(0, 1)),
    "a look-alike": (ParameterError, "not Anything", Anything()),
    "a tuple": (ParameterError, "not tuple", (0, 1)),
}


@pytest.mark.parametrize("ask", ["partition", "split"])
@pytest.mark.parametrize(("kind", "says", "test"), BAD_TESTS.values(), ids=BAD_TESTS)
def test_a_test_that_the_schema_does_not_have(ask: str, kind: type[PrivetError], says: str, test: Any) -> None:
    """Attribute 99 read foreign memory: the compiled kernel does not look twice."""
    ledger = Ledger(1)
    data = privet.protect(TABLE, SCHEMA, ledger)
    root = data.level()
    refused(kind, says, lambda: data.partition(test) if ask == "partition" else root.split([test]))
    assert root.split([Threshold(0, 1)]).size == 2, "a refused split closed the cell"
    assert ledger.spent == 0


BINARY = Tests.binary(SCHEMA)
BAD_CHOICES: dict[str, tuple[type[PrivetError], str, dict[str, Any]]] = {
    "a subclass of a score": (ScoreError, "one of Max, Gini, InfoGain, not Sharper", {"score": Sharper()}),
    "a look-alike of a score": (ScoreError, "not LookAlike", {"score": LookAlike()}),
    "a score of labels": (ScoreError, "not Hits", {"score": Hits()}),
    "the class of a score": (ScoreError, "not type", {"score": Gini}),
    "a name": (ScoreError, "not str", {"score": "gini"}),
    "a callable": (ScoreError, "not function", {"score": lambda counts: counts}),
    "tests of another schema": (ParameterError, "tests must be", {"tests": Tests.of(SCHEMA, [Threshold(0, 9)])}),
    "a leaf among the tests": (ParameterError, "tests must be", {"tests": Tests.of(SCHEMA, [None])}),
    "a list of tests": (ParameterError, "tests must be", {"tests": [Threshold(0, 1)]}),
    "a table of fractions": (ParameterError, "tests must be", {"tests": Tests(*[np.full(1, 0.5)] * 4)}),  # type: ignore[arg-type]
    "too few allowed": (ParameterError, "allowed must be .* 1 x 5", {"allowed": np.ones((1, 2), bool)}),
    "allowed by number": (ParameterError, "allowed must be", {"allowed": np.ones((1, 5), int)}),
    "allowed for another cell": (ParameterError, "allowed must be", {"allowed": np.ones((2, 5), bool)}),
    "a prior of another size": (ParameterError, "log_prior must be", {"log_prior": np.zeros((1, 4))}),
    "a selection of one's own": (ParameterError, "not Halved", {"selection": Halved()}),
}


@pytest.mark.parametrize(("kind", "says", "given"), BAD_CHOICES.values(), ids=BAD_CHOICES)
def test_a_choice_that_no_proof_covers(kind: type[PrivetError], says: str, given: dict[str, Any]) -> None:
    ledger = Ledger(1)
    asked = {"tests": BINARY, "score": Gini(), "epsilon": 0.5} | given
    root = privet.protect(TABLE, SCHEMA, ledger).level()
    refused(kind, says, lambda: root.choose_all(**asked))
    if set(given) <= {"score", "selection"}:
        refused(kind, says, lambda: privet.protect(TABLE, SCHEMA, ledger).choose(**asked))
    assert (ledger.spent, ledger.certificate().caveats) == (0, ())


@pytest.mark.parametrize("cells", [[-1], [1], [[0]]])
def test_cells_that_are_not_there(cells: Any) -> None:
    ledger = Ledger(1)
    root = privet.protect(TABLE, SCHEMA, ledger).level()
    refused(ParameterError, "cells must be numbers of cells, from 0 to 0", lambda: root.count_all(0.5, np.array(cells)))
    assert ledger.spent == 0


def test_what_was_asked_for_other_cells() -> None:
    ledger = Ledger(1)
    root = privet.protect(TABLE, SCHEMA, ledger).level()
    asked = np.ones((2, 2), bool)
    refused(ParameterError, "asked must be", lambda: root.attribute_counts_all(0.5, asked))
    assert ledger.spent == 0


def test_every_query_is_on_the_list() -> None:
    """A new query must be added above."""
    asked = {name for name in vars(PrivateDataset) | vars(Level) if not name.startswith("_")}
    parts = {"where", "partition", "shards", "sample", "level", "split", "descend", "descend_each", "for_work"}
    parts |= {"recut", "concentrated"}
    facts = {"schema", "ledger", "size", "certificate", "can_be_recut", "can_draw", "noise_scale"}  # public
    free = facts | {"add_caveat", "charge_nonprivate", "will_choose"} | parts
    # These need a public space or a public plan: see the tests of the samplers and of the fits.
    elsewhere = {"sample_trees_all", "perturbed_fit", "choose_terms", "choose_weight"}
    assert asked - free - elsewhere == set(QUERIES) & asked
