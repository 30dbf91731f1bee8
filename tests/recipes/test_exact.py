"""The recipe ``exact`` and its classifier: budget, options, and how well it does on Friedman & Schuster's task."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import privet
from privet import Categorical, ExactTreeClassifier, Ledger, Numeric, ParameterError, PrivetError, Schema
from privet.datasets import fs
from privet.datasets.clinic import clinic
from privet.engines.memory import MemoryEngine
from privet.growing.prelude import Prelude
from privet.growing.whole import blocks as drawing
from privet.growing.whole import whole_tree as whole
from privet.models.tree import Tree
from privet.models.validation import check_tree
from privet.privacy.counting import ROOT
from privet.privacy.dataset import PrivateDataset
from privet.privacy.samplers import tree_sampler
from privet.privacy.samplers.tree_sampler import _Sampler
from privet.recipes.ours.exact import ExactTree
from privet.structure.splits import Tests
from privet.tables.encoding import encode, encode_features
from privet.testing import SeededNoise, ZeroNoise, schemas, tables, use_noise

CLINIC, PATIENTS = clinic(2000)


def grown(recipe: ExactTree, schema: Schema, table: Any, epsilon: Fraction, noise: Any, ledger: Ledger) -> Tree:
    prepared = recipe.prepare(schema)
    with use_noise(noise):
        data = PrivateDataset(MemoryEngine(prepared, encode(prepared, table)), ledger)
        tree = recipe.grow_model(Prelude(data, epsilon), np.random.default_rng(0))
    assert isinstance(tree, Tree)
    return tree


# ---- budget -------------------------------------------------------------------------------------------------------


@given(
    data=st.data(),
    schema=schemas(),
    epsilon=st.sampled_from([Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(100), Fraction(10**6)]),
    depth=st.sampled_from(["auto", 0, 1, 2, 3]),
    neighbours=st.sampled_from(["add-remove", "replace-one"]),
    share=st.sampled_from([0.0, 0.25]),
    tests=st.sampled_from(["binary", "multiway"]),
)
@settings(max_examples=100)
def test_one_draw_spends_epsilon_exactly_and_no_table_is_refused(
    data: st.DataObject, schema: Schema, epsilon: Fraction, depth: Any, neighbours: str, share: float, tests: Any
) -> None:
    """Dirty tables, empty ones and schemas in which nothing can be tested."""
    recipe = ExactTree(max_depth=depth, tests=tests, max_bins=3, leaf_share=share)
    ledger = Ledger(3 * epsilon, neighbours=neighbours)
    table = data.draw(tables(schema))
    tree = grown(recipe, schema, table, epsilon, SeededNoise(1), ledger)
    check_tree(tree)
    assert ledger.spent == epsilon
    usable = len(Tests.binary(tree.schema) if tests == "binary" else Tests.multiway(tree.schema))
    assert tree.depth <= (usable if depth == "auto" else min(depth, usable))
    if tree.depth == 0:
        assert depth == 0 or usable == 0  # the root splits where it may
    codes = encode_features(tree.schema, table)
    assert (tree.predict_proba(codes).argmax(axis=1) == tree.predict(codes)).all()


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("tests", ["binary", "multiway"])
@pytest.mark.parametrize("options", [{"leaf_share": 0}, {"leaf_share": 0.3}, {"max_depth": 3}, {"max_depth": [1, 2]}])
def test_blocks_share_epsilon(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], tests: Any, neighbours: str
) -> None:
    """One level a draw, so that blocks are many; every path is full, so that all of it is spent."""
    monkeypatch.setattr(whole, "MAX_OPERATIONS", 0)
    ledger = Ledger(1, neighbours=neighbours)
    options = {"max_depth": 1, "leaf_share": 0.5} | options | {"tests": tests}
    fitted = ExactTreeClassifier(CLINIC, 0.7, leaf_prior=0, neighbours=neighbours, ledger=ledger, **options)
    fitted.fit(PATIENTS)
    assert ledger.spent == Fraction(7, 10)
    assert fitted.certificate_.epsilon == Fraction(7, 10)
    assert fitted.certificate_.neighbours == neighbours
    depth = int(np.sum(options["max_depth"]))
    assert fitted.tree_.depth == depth
    draws = [charge for charge in fitted.certificate_.charges if charge.what == "whole trees"]
    left = Fraction(7, 10) * (1 - Fraction(str(options["leaf_share"])))
    assert [charge.epsilon for charge in draws] == [left / depth] * depth


def test_too_small_an_epsilon_is_refused_and_costs_nothing() -> None:
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="too small for exact weights"):
        ExactTreeClassifier(CLINIC, 1e-12, ledger=ledger).fit(PATIENTS)
    assert ledger.spent == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_depth": -1}, "max_depth"),
        ({"max_depth": "deep"}, "max_depth"),
        ({"max_depth": 2.0}, "max_depth"),
        ({"max_depth": []}, "empty list"),
        ({"max_depth": [2, 0]}, "each entry of max_depth"),
        ({"grid": "odd"}, "grid"),
        ({"cuts": 0}, "cuts"),
        ({"n_public": 0}, "n_public"),
        ({"tests": "mixed"}, "tests"),
        ({"tests": None}, "tests"),
        ({"max_bins": 1}, "bins"),
        ({"leaf_prior": 1}, "leaf_prior"),
        ({"leaf_prior": 1.0}, "leaf_prior"),
        ({"leaf_prior": -0.1}, "leaf_prior"),
        ({"leaf_prior": math.nan}, "leaf_prior"),
        ({"leaf_prior": 1e-12}, "leaf_prior"),
        ({"leaf_prior": "0.5"}, "leaf_prior"),
        ({"leaf_share": 1}, "leaf_share"),
        ({"leaf_share": -0.5}, "leaf_share"),
        ({"leaf_share": True}, "leaf_share"),
        ({"measure": "bits"}, "measure"),
        ({"attribute_prior": {"cough": -1}}, "attribute_prior"),
        ({"attribute_prior": {"cough": math.inf}}, "attribute_prior"),
        ({"attribute_prior": {"cough": 1e-12}}, "negligible"),
        ({"attribute_prior": {"height": 1}}, "height"),
        ({"attribute_prior": [1, 2]}, "attribute_prior"),
        ({"attribute_prior": dict.fromkeys(CLINIC.names, 0)}, "forbids every attribute"),
        ({"class_weight": {"Healthy": 2}}, "class_weight"),
        ({"class_weight": {"Healthy": -0.5}}, "class_weight"),
        ({"class_weight": {"Healthy": "1"}}, "class_weight"),
        ({"class_weight": {"Healthy": 0.03}}, "0.03 would become 0"),
        ({"class_weight": {"Dead": 1}}, "Dead"),
        ({"class_weight": "balanced"}, "class_weight"),
        ({"class_weight": [1, 0.5]}, "class_weight"),
        ({"variant": "as-published"}, "variant"),
    ],
)
def test_parameters_that_cannot_be_cost_nothing(options: dict[str, Any], says: str) -> None:
    ledger = Ledger(1)
    with pytest.raises(PrivetError, match=says):
        ExactTreeClassifier(CLINIC, 1, ledger=ledger, **options).fit(PATIENTS)
    assert ledger.spent == 0
    assert not ledger.certificate().charges


# ---- the public space ---------------------------------------------------------------------------------------------


def test_the_space_follows_from_the_schema() -> None:
    blocks = ExactTree().blocks(ExactTree().prepare(CLINIC))
    tests = Tests.binary(CLINIC)
    assert len(blocks.space.tests) == len(tests) == 3 + 3 + 13 + 1
    assert blocks.depth == blocks.space.depth == whole.affordable_depth(len(tests), 2)
    prior = ExactTree().leaf_prior
    assert blocks.space.leaf_prior == (0.0, *(prior,) * (blocks.depth - 1))
    np.testing.assert_allclose(blocks.space.test_prior, 1 / 20)


def test_cuts_are_thinned_out_away_from_zero() -> None:
    """By hand: shares of the range 0.4 and 0.6 away from zero, or from the bound nearest to it; public all of it."""
    few = (0.1, 0.2, 0.7)
    schema = Schema(
        (
            Numeric("loss", -100, 0),
            Numeric("shift", -10, 10),
            Numeric("size", 50, 150),
            Numeric("visits", 0, 12, integer=True),
            Numeric("days", 0, 400, integer=True),
            Numeric("week", 0, 19, integer=True),
            Numeric("dose", 0, 1, thresholds=few),
            Categorical("ward", ("a", "b")),
        ),
        Categorical("class", (0, 1)),
    )
    thinned = ExactTree(grid="near-zero")
    near = [a.cuts.tolist() for a in thinned.prepare(schema).attributes if isinstance(a, Numeric)]
    assert near[0] == [-80, -60, -50, *range(-40, 0, 5)]
    assert near[1] == list(range(-8, 9))
    assert near[2] == [*range(55, 95, 5), 100, 110, 130]
    assert near[3] == [v + 0.5 for v in range(12)]
    assert near[4] == [*(v + 0.5 for v in range(20, 180, 20)), 200.5, 240.5, 320.5]
    assert near[5] == [v + 0.5 for v in range(19)]
    assert near[6] == list(few)
    ten = ExactTree(max_bins=10, grid="near-zero")
    mirrored = [ten.prepare(Schema((Numeric("x", *b),), schema.label)) for b in ((0, 100), (-100, 0))]
    ahead, behind = (s.attributes[0].cuts for s in mirrored if isinstance(s.attributes[0], Numeric))
    assert ahead.tolist() == (-behind[::-1]).tolist() == [10, 20, 30, 40, 60, 80]
    for even in (
        ExactTree(grid="even"),
        ExactTree(tests="multiway", grid="near-zero"),
        ExactTree(max_bins=9, grid="even"),
    ):
        assert even.prepare(schema) == schema.with_bins(even.max_bins)
    assert ExactTree(max_bins=9, grid="near-zero").prepare(schema) == schema.with_bins(9)


def test_the_automatic_depth_looks_at_a_released_number_of_records_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "MAX_OPERATIONS", 2 * 10**6)  # a small machine
    assert whole.affordable_depth(20, 2) == 4
    empty = {name: column[:0] for name, column in PATIENTS.items()}
    for table in (empty, PATIENTS):
        steps: list[tuple[int, ...]] = []
        fitted = ExactTreeClassifier(CLINIC, 1, leaf_prior=0, n_public=2000)
        with use_noise(SeededNoise(0)):
            fitted.fit(table, progress=lambda *step, steps=steps: steps.append(step))
        assert fitted.tree_.depth == 4
        assert steps[-1] == (100, 100)


def test_a_deeper_tree_than_there_are_tests_is_not_drawn() -> None:
    schema = Schema((Categorical("a", (0, 1)), Categorical("b", (0, 1))), Categorical("class", (0, 1)))
    table = {"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10, "class": [0, 1, 1, 0] * 10}
    fitted = ExactTreeClassifier(schema, 5, max_depth=9).fit(table)
    assert fitted.tree_.depth <= 2
    assert fitted.certificate_.epsilon == 5


def test_forbidden_and_favoured_attributes() -> None:
    """In a table without records the prior decides."""
    empty = {name: column[:0] for name, column in PATIENTS.items()}
    without = {"temperature": 0, "weight": 0}
    seen = set()
    for seed in range(30):
        fitted = ExactTreeClassifier(CLINIC, 1, max_depth=2, attribute_prior=without)
        with use_noise(SeededNoise(seed)):
            fitted.fit(empty)
        seen |= set(fitted.tree_.attribute[~fitted.tree_.is_leaf].tolist())
    assert seen == {CLINIC.index("blood_pressure"), CLINIC.index("cough")}

    def roots(**options: Any) -> list[int]:
        space = ExactTree(max_depth=1, **options).blocks(CLINIC).space
        return [round(1000 * float(space.test_prior[space.tests.of_attribute(a)].sum())) for a in range(4)]

    assert roots() == [150, 150, 650, 50]
    assert roots(measure="attributes") == [250] * 4
    assert roots(measure="attributes", attribute_prior={"cough": 7}) == [100, 100, 100, 700]


def test_class_weights_move_the_labels() -> None:
    """Six in ten are healthy wherever one looks; if a healthy hit counts half, a leaf had better say sick."""
    schema = Schema((Categorical("a", (0, 1)),), Categorical("class", ("healthy", "sick", "dead")))
    table = {"a": [0, 1] * 500, "class": (["healthy"] * 6 + ["sick"] * 4) * 100}
    for weights, label in [(None, "healthy"), ({"healthy": 0.5}, "sick"), ({"healthy": 0.5, "sick": 0.25}, "healthy")]:
        fitted = ExactTreeClassifier(schema, 10, max_depth=1, class_weight=weights)
        with use_noise(ZeroNoise()):
            fitted.fit(table)
        assert set(fitted.predict(table)) == {label}
    assert ExactTree(class_weight={"sick": 0.3}).blocks(schema).space.class_weights == (16, 5, 16)
    assert ExactTree().blocks(schema).space.class_weights == (1, 1, 1)


# ---- what a model says --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5])
def test_the_label_is_the_most_probable_class(share: float) -> None:
    schema = Schema((Numeric("x", 0, 10), Categorical("a", (0, 1, 2))), Categorical("class", ("c", "a", "b", "d")))
    rng = np.random.default_rng(0)
    table = {"x": rng.uniform(0, 10, 60), "a": rng.integers(0, 3, 60), "class": rng.choice(["a", "b", "c"], 60)}
    graded = set()
    for _ in range(10):
        fitted = ExactTreeClassifier(schema, 0.5, max_depth=3, max_bins=4, leaf_share=share).fit(table)
        proba = fitted.predict_proba(table)
        assert fitted.classes_.tolist() == ["a", "b", "c", "d"]
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
        assert (fitted.classes_[proba.argmax(axis=1)] == fitted.predict(table)).all()
        graded |= set(np.round(proba, 3).ravel().tolist())
    assert (graded == {0.0, 1.0}) == (share == 0)


def test_save_and_load(tmp_path: Path) -> None:
    fitted = ExactTreeClassifier(
        CLINIC, 0.3, 3, leaf_share=0.2, class_weight={"Sick": 0.5}, attribute_prior={"cough": 2}, measure="attributes"
    ).fit(PATIENTS)
    fitted.save(tmp_path / "tree.json")
    loaded = privet.load_model(tmp_path / "tree.json")
    assert isinstance(loaded, ExactTreeClassifier)
    assert loaded.recipe() == fitted.recipe()
    assert loaded.certificate_ == fitted.certificate_
    np.testing.assert_array_equal(loaded.predict_proba(PATIENTS), fitted.predict_proba(PATIENTS))
    assert (loaded.predict(PATIENTS) == fitted.predict(PATIENTS)).all()


@pytest.mark.parametrize("labels", [(0, 1), (False, True), ("0", "1"), (0.5, 1.5)])
def test_class_weights_of_any_labels_survive_the_file(tmp_path: Path, labels: tuple[Any, ...]) -> None:
    """The keys of JSON objects are text, but labels need not be."""
    schema = Schema((Categorical("a", (0, 1)),), Categorical("class", labels))
    weights = {labels[1]: 0.5}
    fitted = ExactTreeClassifier(schema, 1, class_weight=weights).fit({"a": [0, 1] * 9, "class": list(labels) * 9})
    assert fitted.class_weight is weights
    fitted.save(tmp_path / "tree.json")
    loaded = privet.load_model(tmp_path / "tree.json")
    assert isinstance(loaded, ExactTreeClassifier)
    assert loaded.class_weight == weights
    assert [type(label) for label in loaded.class_weight] == [type(labels[1])]
    assert loaded.recipe() == fitted.recipe()
    loaded.fit({"a": [0, 1] * 9, "class": list(labels) * 9})


def test_the_certificate() -> None:
    certificate = ExactTreeClassifier(CLINIC, 0.3, 3, leaf_share=0).fit(PATIENTS).certificate_
    assert certificate.private
    assert certificate.epsilon == Fraction(3, 10)
    assert [(charge.what, charge.epsilon) for charge in certificate.charges] == [("whole trees", Fraction(3, 10))]
    with use_noise(SeededNoise(0)):
        seeded = ExactTreeClassifier(CLINIC, 0.3, 3).fit(PATIENTS).certificate_
    assert not seeded.private


def test_it_learns_what_there_is() -> None:
    """The clinic's hidden tree has depth 2 on two attributes; with so many records only the noise in labels is left.

    False alarm: the chance of any other tree is below exp(-100), from the hits it would lose.
    """
    schema, table = clinic(20_000)
    fitted = ExactTreeClassifier(schema, 1, max_depth=3).fit(table)
    rates = (fitted.predict(table) == table["class"]).mean(), (np.asarray(table["class"]) == "Healthy").mean()
    assert rates[0] > 0.85 > rates[1] + 0.05


# ---- Friedman & Schuster, Table 1 ---------------------------------------------------------------------------------

FS = fs.domain()
FS_RECIPE = ExactTree(max_depth=1)
TABLES = 200


def fs_table(n: int, seed: int) -> tuple[fs.HiddenTree, fs.Sample]:
    rng = np.random.default_rng([seed, n])
    tree = fs.random_tree(FS, 1, rng)
    return tree, fs.sample(tree, n, rng, p_noise=0.1)


def right_side(tree: fs.HiddenTree, attribute: int, labels: tuple[int, int]) -> float:
    """The accuracy, on uniform noiseless records, of a split on an attribute (value 0 first) with these labels."""
    if attribute != tree.attribute[0]:
        return 0.5
    return sum(labels[k] == tree.label[1 + k] for k in (0, 1)) / 2


def expected_accuracy(tree: fs.HiddenTree, sample: fs.Sample, epsilon: float) -> float:
    """Over the mechanism's own randomness: exactly, from the weights of its draws."""
    space = FS_RECIPE.blocks(FS).space
    joint = MemoryEngine(FS, sample.codes).joint(ROOT, space.tests, space.depth)
    exact = Fraction(str(epsilon)) - space.rounding(Fraction(str(epsilon)))
    sampler = _Sampler(joint, space, space.answers(FS), float(exact))

    def chances(path: dict[int, bool]) -> np.ndarray:
        logs = sampler._log_weights(path)
        weights = np.exp(logs - logs.max())
        return weights / weights.sum()

    accuracy = 0.0
    for test, chance in enumerate(chances({})[2:]):
        if space.tests.attribute[test] != tree.attribute[0]:
            accuracy += 0.5 * chance
            continue
        for child in (0, 1):  # OneCategory(0): the first child holds value 0
            says = chances({test: child == joint.met[test]})
            accuracy += 0.5 * chance * says[tree.label[1 + child]]
    return accuracy


@pytest.mark.parametrize(("n", "least"), [(200, 0.97), (300, 0.999)])
def test_accuracy_on_a_single_split(n: int, least: float) -> None:
    """B = 0.1. The tables are seeded and the mechanism's accuracy on each is computed, so there is no false alarm."""
    found = [expected_accuracy(*fs_table(n, seed), 0.1) for seed in range(TABLES)]
    assert np.mean(found) >= least
    weaker = [expected_accuracy(*fs_table(n, seed), 0.05) for seed in range(TABLES)]
    assert np.mean(weaker) < least  # planted: half of the budget is not enough


def test_fits_are_as_good_as_computed() -> None:
    """200 real fits at n = 200, each right with the chance computed for its table.

    By Hoeffding, with a mean of 200 numbers in [0, 1], being off by 0.186 has a chance below 2 exp(-2 200 0.186^2) =
    1e-6 * 2 / 2.05; a sampler that draws tests by the prior alone would be at 0.5.
    """
    computed, seen = [], []
    for seed in range(200):
        tree, sample = fs_table(200, seed)
        data = PrivateDataset(MemoryEngine(FS, sample.codes), Ledger(0.1))
        drawn = FS_RECIPE.grow_model(Prelude(data, Fraction(1, 10)), np.random.default_rng(0))
        assert isinstance(drawn, Tree)
        computed.append(expected_accuracy(tree, sample, 0.1))
        seen.append(right_side(tree, int(drawn.attribute[0]), (int(drawn.label[1]), int(drawn.label[2]))))
    assert abs(np.mean(seen) - np.mean(computed)) < 0.186
    wrong = sum(accuracy < 1 for accuracy in seen)
    most = 2 * (1 - float(np.mean(computed)))  # a wrong tree has accuracy 1/2 at best
    assert binom.sf(wrong - 1, 200, max(most, 0.01)) > 1e-6


@pytest.mark.usefixtures("full_draws")
def test_a_long_draw_reports_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel writes numbers down, and a thread of the grower's reads them out."""
    monkeypatch.setattr(drawing, "EVERY", 0.001)
    monkeypatch.setattr(tree_sampler, "BLOCK_BYTES", 1)  # as many steps as there can be
    schema = Schema(tuple(Categorical(f"a{i}", (0, 1)) for i in range(60)), Categorical("class", (0, 1)))
    table = {name: [0, 1] * 50 for name in schema.names} | {"class": [0, 1] * 50}
    steps: list[tuple[int, int]] = []
    ExactTreeClassifier(schema, 1, max_depth=4).fit(table, progress=lambda *step: steps.append(step))
    assert steps == sorted(steps)
    assert steps[-1] == (100, 100)
    assert any(0 < done < 100 for done, _ in steps)
