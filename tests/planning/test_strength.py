"""Invented worlds: their records fit the schema, and their signal is as strong as declared."""

from __future__ import annotations

import numpy as np
import pytest

from privet.datasets.fs import domain
from privet.errors import ParameterError
from privet.owner.inspection import check_table
from privet.planning.strength import STRENGTHS, Strength, World, codes_for, parse_strength
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode

MIXED = Schema(
    (
        Numeric("age", 18, 90, integer=True),
        Numeric("dose", -2.5, 7.5),
        Categorical("ward", tuple(f"w{i}" for i in range(9))),
        Categorical("only", ("one",)),
    ),
    Categorical("outcome", ("a", "b", "c", "d", "e")),
)


@pytest.mark.parametrize("name", STRENGTHS)
@pytest.mark.parametrize("schema", [MIXED, domain(numeric=3)], ids=["mixed", "fs"])
def test_records_fit_the_schema(schema: Schema, name: str) -> None:
    rng = np.random.default_rng(7)
    records = World.draw(schema, STRENGTHS[name], rng).sample(500, rng)
    report = check_table(schema, records.table())
    assert not report.ruinous(0.0)
    for finer in (schema, schema.with_bins(40)):
        codes, encoded = codes_for(records, finer), encode(finer, records.table())
        assert (codes.features == encoded.features).all()  # the short way to codes is the long way
        assert (codes.labels == encoded.labels).all()


@pytest.mark.parametrize("name", STRENGTHS)
def test_labels_are_as_noisy_as_declared(name: str) -> None:
    """20,000 labels: 1 - p + p/2 of them are the tree's, give or take 0.0035; six of that never happen by chance."""
    rng = np.random.default_rng(11)
    world = World.draw(domain(), STRENGTHS[name], rng)
    quiet = World(world.tree, world.signal, {}, {})  # no attribute leans, so the tree can be asked again
    records = quiet.sample(20_000, rng)
    kept = (world.tree.classify(records) == records.labels).mean()
    assert abs(kept - (1 - STRENGTHS[name].label_noise / 2)) < 6 * 0.0036
    assert STRENGTHS[name].margin == 1 - STRENGTHS[name].label_noise


def test_attributes_lean_unless_the_tree_uses_them() -> None:
    rng = np.random.default_rng(3)
    world = World.draw(domain(), Strength("all lean", depth=1, label_noise=0.0, lean=1.0), rng)
    (root,) = set(world.tree.attribute.tolist()) - {-1}
    assert root not in world.homes
    assert set(world.homes) == set(range(10)) - {root}
    records = world.sample(20_000, rng)
    for a, home in world.homes.items():
        # A leaning record has a value of its class, another one with probability one half.
        own = np.mean([np.isin(records.features[a][records.labels == c], home[c]).mean() for c in (0, 1)])
        assert own == pytest.approx(world.leaning[a] + (1 - world.leaning[a]) / 2, abs=0.025)


def test_seeds_repeat() -> None:
    one, two = (
        World.draw(MIXED, STRENGTHS["medium"], rng).sample(50, rng) for rng in map(np.random.default_rng, (5, 5))
    )
    assert (one.features == two.features).all()
    assert (one.labels == two.labels).all()


def test_an_unknown_strength() -> None:
    assert parse_strength("weak") is STRENGTHS["weak"] is parse_strength(STRENGTHS["weak"])
    with pytest.raises(ParameterError, match="'weak', 'medium', 'strong', not 'loud'"):
        parse_strength("loud")


@pytest.mark.parametrize("largest", [0.5, 0.9])
def test_the_largest_class_is_as_large_as_declared(largest: float) -> None:
    """20,000 records: a share of 0.9 is 0.9 give or take 0.0021, one of 0.5 give or take 0.0036; six of that never."""
    rng = np.random.default_rng(13)
    world = World.draw(domain(classes=2), STRENGTHS["strong"], rng, largest)
    records = world.sample(20_000, rng)
    assert abs(np.bincount(records.labels).max() / 20_000 - largest) < 6 * 0.0036
    assert len(records.table()["class"]) == 20_000
    assert all(len(column) == 20_000 for column in records.values.values())


def test_a_class_that_the_tree_lacks_stays_away() -> None:
    rng = np.random.default_rng(17)
    many = domain(nominal=4, classes=9)
    world = World.draw(many, STRENGTHS["strong"], rng, 0.6)  # two leaves, so two of the nine classes
    assert np.count_nonzero(np.bincount(world.sample(1_000, rng).labels)) == 2
