"""DiffGen and DPCube: what they pay, what they release, and that the exact audit holds them to it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import privet
from privet.audit import audit_learner, tiny_schema, zoo
from privet.datasets.clinic import clinic
from privet.errors import BudgetExceeded, ParameterError, SchemaError
from privet.estimators.references import SklearnTreeReference
from privet.models.tree import Tree
from privet.privacy.counting import class_counts
from privet.privacy.dataset import PrivateDataset
from privet.publishing import DiffGen, DPCube, Publisher, Release, gaussian_noise, publish, uniform_noise
from privet.publishing.dpcube import partition
from privet.publishing.grids import Grid
from privet.publishing.release import at_least_zero
from privet.rules import performance
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode
from privet.tables.files import read_table
from privet.testing import ZeroNoise, use_noise

SMALL = [DiffGen(max_depth=2, max_bins=4), DPCube(cells=4, max_bins=4), DPCube(max_bins=4)]
LARGE = [DiffGen(max_depth=6), DPCube(cells=256), DPCube()]
DEEP = [pair for pair in zoo() if pair.ways is None][::3]  # where losses are large
ids = ["diffgen", "dpcube", "dpcube with a bought grid"]


def released(publisher: Publisher, records: int = 4000, epsilon: object = 1) -> tuple[Release, privet.Ledger]:
    schema, table = clinic(records)
    ledger = privet.Ledger(2)
    return publish(publisher, privet.protect(table, schema, ledger), epsilon), ledger


@pytest.mark.parametrize("publisher", LARGE, ids=ids)
def test_what_is_paid_and_promised(publisher: Publisher) -> None:
    release, ledger = released(publisher)
    assert ledger.spent == 1
    assert release.certificate["epsilon"] == "1"
    assert release.params["epsilon"] == 1
    schema, table = clinic(100)
    with pytest.raises(BudgetExceeded):
        publish(publisher, privet.protect(table, schema, privet.Ledger(Fraction(1, 2))), 1)


@pytest.mark.parametrize("publisher", LARGE, ids=ids)
def test_a_tree_grown_from_the_published_table_predicts_the_original(publisher: Publisher) -> None:
    release, _ = released(publisher)
    schema, truth = clinic(2000)
    records = release.records(np.random.default_rng(0))
    assert 3000 < len(records["class"]) < 5000
    grown = performance(SklearnTreeReference(schema, 4).fit(records), truth).accuracy
    direct = performance(SklearnTreeReference(schema, 4).fit(clinic(4000)[1]), truth).accuracy
    assert grown is not None
    assert direct is not None
    assert grown > direct - 0.05  # at epsilon 1 noise is a few records of hundreds


@pytest.mark.parametrize("publisher", LARGE, ids=ids)
def test_synthetic_records_fall_where_they_were_counted(publisher: Publisher) -> None:
    release, _ = released(publisher)
    records = release.records(np.random.default_rng(1))
    codes = encode(release.schema, records)
    assert codes.labels is not None
    assert codes.labels.size == len(records["class"])  # no record is dropped: every value is a declared one
    leaves = np.searchsorted(release.tree.routes.leaves, release.tree.apply(codes.features))
    counts = np.zeros_like(release.counts)
    np.add.at(counts, (leaves, codes.labels), 1)
    assert np.abs(counts - release.counts).max() < 1 + 1e-9


@pytest.mark.parametrize("publisher", LARGE, ids=ids)
def test_the_file_is_read_back(publisher: Publisher, tmp_path: Any) -> None:
    release, _ = released(publisher, records=500)
    path = tmp_path / "published.csv"
    path.write_text(release.to_csv(np.random.default_rng(2)), encoding="utf-8")
    again = encode(release.schema, read_table(path, release.schema))
    codes = encode(release.schema, release.records(np.random.default_rng(2)))
    assert np.array_equal(again.features, codes.features)
    assert np.array_equal(again.labels, codes.labels)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("publisher", SMALL, ids=ids)
def test_the_exact_audit_holds(publisher: Publisher, neighbours: str) -> None:
    pairs = DEEP if neighbours == "add-remove" else [p for p in zoo(relation=neighbours) if p.ways is None][::3]
    found = audit_learner(
        publisher.grow, pairs, 1, prepare=publisher.prepare, neighbours=neighbours, transcripts=3, complete=1
    )
    assert found.verdict == "holds", found
    assert found.lower_bound > 0.5  # the counts' half is always reached, and some of the choices'


@pytest.mark.parametrize("publisher", SMALL, ids=ids)
def test_spending_twice_what_is_said_is_caught(publisher: Publisher) -> None:
    def twice(data: PrivateDataset, epsilon: Fraction) -> Tree:
        return publisher.grow(PrivateDataset(data._engine, privet.Ledger(2 * epsilon)), 2 * epsilon)

    found = audit_learner(twice, DEEP, prepare=publisher.prepare, transcripts=3, complete=1)
    assert found.verdict == "violated"
    assert found.lower_bound > 1.2


def exact_counts(data: PrivateDataset, tree: Tree) -> Tree:
    """Around the wall: the leaves' true class counts."""
    from dataclasses import replace

    from privet.privacy.counting import ROOT, descend

    counts = np.array(tree.counts)
    counts[tree.routes.leaves] = class_counts(data._engine, descend(ROOT, tree.routes))
    return replace(tree, counts=counts)


@pytest.mark.parametrize("publisher", SMALL, ids=ids)
def test_exact_counts_in_the_leaves_are_caught(publisher: Publisher) -> None:
    found = audit_learner(
        lambda data, epsilon: exact_counts(data, publisher.grow(data, epsilon)),
        zoo()[:2],
        prepare=publisher.prepare,
        transcripts=2,
        complete=1,
    )
    assert found.verdict != "holds"
    assert found.leaks or found.lower_bound > 1


def test_a_partition_by_true_counts_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = DPCube.grow

    def peeping(self: DPCube, data: PrivateDataset, epsilon: Fraction, progress: Any = None) -> Tree:
        # As many cells as half of the records: a grid that follows the data.
        true = int(class_counts(data._engine, data._cells).sum())
        return sound(DPCube(cells=max(true // 2, 1), max_bins=4), data, epsilon)

    monkeypatch.setattr(DPCube, "grow", peeping)
    pairs = [pair for pair in zoo() if pair.name == "a shard boundary among 7"]  # seven against eight records
    found = audit_learner(DPCube(cells=4, max_bins=4).grow, pairs, prepare=SMALL[1].prepare, transcripts=2, complete=1)
    assert found.verdict != "holds"
    assert found.leaks


def test_without_noise_similar_cells_are_merged_and_others_are_not() -> None:
    schema = Schema((Numeric("x", 0, 8, bins=8), Numeric("y", 0, 8, bins=8)), Categorical("c", ("n", "p")))
    grid = Grid.of(schema, [0, 1], 64)
    counts = np.zeros((8, 8, 2))
    counts[:4, :, 0] = 50
    counts[4:, 2:, 1] = 50
    tests, sums, sizes = partition(grid, counts, 1.0)
    assert sum(test is None for test in tests) == 3
    assert sorted(sizes.tolist()) == [8, 24, 32]
    assert sums.sum() == counts.sum()
    assert partition(grid, np.full((8, 8, 2), 7.0), 1.0)[0] == [None]


def test_noise_alone_seldom_makes_a_box() -> None:
    """Each of 200 draws splits with chance 0.1 at most by the bound; 60 or more of 200 has a chance below 1e-14."""
    schema = Schema((Numeric("x", 0, 8, bins=8), Numeric("y", 0, 8, bins=8)), Categorical("c", ("n", "p")))
    grid, random = Grid.of(schema, [0, 1], 64), np.random.default_rng(0)
    split = sum(len(partition(grid, random.laplace(0, 2, (8, 8, 2)), 8.0)[0]) > 1 for _ in range(200))
    assert split < 60


def test_zero_noise_diffgen_has_exact_counts() -> None:
    schema, table = clinic(300)
    with use_noise(ZeroNoise()):
        release = publish(DiffGen(max_depth=3), privet.protect(table, schema, privet.Ledger(1)), 1)
    codes = encode(release.schema, table)
    leaves = np.searchsorted(release.tree.routes.leaves, release.tree.apply(codes.features))
    counts = np.zeros_like(release.counts)
    np.add.at(counts, (leaves, codes.labels), 1)
    assert release.counts.tolist() == counts.tolist()


def test_counts_become_possible_ones() -> None:
    random = np.random.default_rng(3)
    for _ in range(50):
        counts = random.normal(2, 5, (6, 3))
        fixed = at_least_zero(counts)
        assert fixed.min() >= 0
        assert fixed.sum() == pytest.approx(max(counts.sum(), 0))
    assert at_least_zero(np.array([-1.0, -2.0])).tolist() == [0, 0]


@pytest.mark.parametrize("publisher", SMALL, ids=ids)
def test_an_empty_table(publisher: Publisher) -> None:
    schema = tiny_schema()
    empty = {name: [] for name in (*schema.names, schema.label.name)}
    with use_noise(ZeroNoise()):
        release = publish(publisher, privet.protect(empty, schema, privet.Ledger(1)), 1)
    assert len(release.records()[schema.label.name]) == 0
    assert release.to_csv().count("\n") == 1


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: DiffGen(max_depth=17), "max_depth"),
        (lambda: DiffGen(criterion="infogain"), "max_records"),
        (lambda: DiffGen(choosing=1), "choosing"),
        (lambda: DPCube(cells=0), "cells"),
        (lambda: DPCube(first=2), "first"),
        (lambda: DPCube(attributes="age"), "list of names"),  # type: ignore[arg-type]
        (lambda: DPCube(attributes=("age", "age")), "none twice"),
        (lambda: DPCube(attributes=()), "at least one"),
    ],
)
def test_invalid_parameters(make: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        make()


def test_an_unknown_attribute_or_taxonomy_costs_nothing() -> None:
    schema, table = clinic(50)
    ledger = privet.Ledger(1)
    for publisher in (DPCube(attributes=("height",)), DiffGen(taxonomies={"height": ["a"]})):
        with pytest.raises(SchemaError, match="height"):
            publish(publisher, privet.protect(table, schema, ledger), 1)
    assert ledger.spent == 0


# -- noise at a rate --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [uniform_noise, gaussian_noise])
def test_noise_at_a_rate_says_that_it_is_not_private(noise: Any) -> None:
    schema, table = clinic(3000)
    changed = noise(table, schema, 0.3, random=np.random.default_rng(0))
    assert changed.certificate["epsilon"] == "infinity"
    assert changed.certificate["caveats"][0]["voids"] is True
    assert list(changed.columns["class"]) == list(table["class"])  # labels are never touched
    differ = np.mean([a != b for a, b in zip(changed.columns["weight"], table["weight"], strict=True)])
    assert 0.1 < differ < 0.3
    same = noise(table, schema, 0)
    assert all(list(map(str, same.columns[n])) == list(map(str, table[n])) for n in ("weight", "cough"))
    codes = encode(schema, changed.columns)
    assert codes.labels is not None
    assert codes.labels.size == 3000
    with pytest.raises(ParameterError, match="rate"):
        noise(table, schema, 1.5)
    with pytest.raises(ParameterError, match="not private"):
        noise(privet.protect(table, schema, privet.Ledger(1)), schema, 0.1)


def test_gaussian_noise_keeps_what_is_missing() -> None:
    schema = Schema((Numeric("x", 0, 9, integer=True, missing="?"),), Categorical("c", ("n", "p")))
    table = {"x": [1, None, 3, "?"], "c": ["n", "p", "n", "p"]}
    assert gaussian_noise(table, schema, 0).columns["x"].tolist() == [1, "?", 3, "?"]
    assert gaussian_noise(table, schema, 1).columns["x"].tolist()[1::2] == ["?", "?"]
