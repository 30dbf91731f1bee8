"""Non-private references: textbook trees by the common grower."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privet.datasets import fs
from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.models.render import export_text
from privet.models.tree import Tree
from privet.models.validation import check_tree
from privet.recipes.unsound.reference import C45Reference, ID3Reference, fill_empty
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, Threshold
from privet.tables.encoding import Codes, encode

PLAY = """sunny hot high weak no | sunny hot high strong no | overcast hot high weak yes | rain mild high weak yes
| rain cool normal weak yes | rain cool normal strong no | overcast cool normal strong yes | sunny mild high weak no
| sunny cool normal weak yes | rain mild normal weak yes | sunny mild normal strong yes | overcast mild high strong yes
| overcast hot normal weak yes | rain mild high strong no"""  # Quinlan 1986, Table 1
NAMES = ("estimate", "temperature", "humidity", "wind", "play")


def quinlan() -> tuple[Schema, dict[str, list[str]]]:
    rows = [row.split() for row in PLAY.split("|")]
    table = {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}
    values = {name: tuple(sorted(set(column))) for name, column in table.items()}
    return Schema(tuple(Categorical(n, values[n]) for n in NAMES[:-1]), Categorical("play", values["play"])), table


def test_quinlans_example() -> None:
    """The best known ID3 tree: estimate, then humidity under sun and wind under rain; overcast plays."""
    schema, table = quinlan()
    tree = ID3Reference().grow(MemoryEngine(schema, encode(schema, table)))
    check_tree(tree)
    assert tree.test(0) == Multiway(schema.index("estimate"))
    overcast, rain, sunny = tree.children(0)
    assert tree.test(overcast) is None
    assert tree.test(rain) == Multiway(schema.index("wind"))
    assert tree.test(sunny) == Multiway(schema.index("humidity"))
    assert len(tree) == 8
    assert tree.counts[0].tolist() == [5, 9]
    assert "estimate" in export_text(tree)
    codes = encode(schema, table)
    assert np.array_equal(tree.predict(codes.features), codes.labels)


@pytest.mark.parametrize(("n", "paper", "sd"), [(1000, 90.1, 1.5), (5000, 97.7, 0.5)])
def test_id3_of_friedman_and_schuster(n: int, paper: float, sd: float) -> None:
    """FS Table 1, column ID3 (200 runs): the mean of 40 runs within five standard errors of both means.

    False alarm below one in a million if the runs are as theirs. The table has ±sd; a mean of 40 has sd/sqrt(40).
    """
    rng = np.random.default_rng(n)
    accuracies = []
    for _ in range(40):
        hidden = fs.random_tree(fs.domain(), 1, rng)
        train, test = fs.sample(hidden, n, rng, p_noise=0.1), fs.sample(hidden, 10_000, rng)
        tree = ID3Reference().grow(MemoryEngine(train.schema, Codes(train.features, train.labels)))
        accuracies.append(100 * np.mean(tree.predict(test.features) == test.labels))
    assert abs(np.mean(accuracies) - paper) < 5 * sd * math.sqrt(1 / 40 + 1 / 200) + 0.05  # they print one decimal


def test_it_stops_in_pure_nodes_and_where_nothing_separates() -> None:
    schema = Schema((Categorical("a", (0, 1)), Categorical("b", (0, 1))), Categorical("c", (0, 1)))
    pure = ID3Reference().grow(MemoryEngine(schema, encode(schema, {"a": [0, 1], "b": [1, 0], "c": [1, 1]})))
    assert len(pure) == 1
    alike = {"a": [0, 0, 0], "b": [1, 1, 1], "c": [0, 1, 1]}
    tree = ID3Reference().grow(MemoryEngine(schema, encode(schema, alike)))
    assert len(tree) == 1
    assert tree.proba[0].tolist() == pytest.approx([1 / 3, 2 / 3])
    empty = ID3Reference().grow(MemoryEngine(schema, encode(schema, {"a": [], "b": [], "c": []})))
    assert empty.proba.tolist() == [[0.5, 0.5]]


def test_an_empty_leaf_predicts_like_its_parent() -> None:
    schema = Schema((Categorical("a", (0, 1, 2)), Categorical("b", (0, 1))), Categorical("c", (0, 1)))
    table = {"a": [0, 0, 1, 1, 1], "b": [0, 1, 0, 1, 1], "c": [0, 0, 1, 1, 1]}
    tree = ID3Reference().grow(MemoryEngine(schema, encode(schema, table)))
    never_seen = encode(schema, {"a": [2], "b": [0], "c": [0]}).features
    assert tree.predict(never_seen).tolist() == [1]
    assert tree.predict_proba(never_seen)[0].tolist() == pytest.approx([0.4, 0.6])


def test_fill_empty_reaches_down_more_than_one_level() -> None:
    schema = Schema((Categorical("a", (0, 1)), Categorical("b", (0, 1))), Categorical("c", (0, 1)))
    counts = np.array([[1, 3], [1, 3], [0, 0], [0, 0], [0, 0]], dtype=float)
    tree = Tree.build(schema, [Multiway(0), None, Multiway(1), None, None], [1, -1, 3, -1, -1], [1, 1, 0, 0, 0],
                      counts=counts, proba=np.array([[0.25, 0.75]] * 2 + [[0.5, 0.5]] * 3))  # fmt: skip
    filled = fill_empty(tree)
    assert filled.label.tolist() == [1] * 5
    assert filled.proba.tolist() == [[0.25, 0.75]] * 5
    assert np.array_equal(filled.counts, counts)


def test_c45_cuts_numbers_and_prunes_noise() -> None:
    schema = Schema((Numeric("age", 0, 100), Numeric("noise", 0, 1)), Categorical("ill", (0, 1)))
    rng = np.random.default_rng(0)
    age, label = rng.uniform(0, 100, 2000), np.zeros(2000, dtype=int)
    label[age > 50] = 1
    label[rng.random(2000) < 0.05] ^= 1
    engine = MemoryEngine(schema, encode(schema, {"age": age, "noise": rng.random(2000), "ill": label}))
    tree = C45Reference().grow(engine)
    assert tree.test(0) == Threshold(0, 9)
    assert len(tree) == 3
    assert len(C45Reference(prune=False).grow(engine)) > 100
    assert C45Reference(prune=False, max_depth=1).grow(engine).depth == 1
    assert len(C45Reference(min_branch=2000).grow(engine)) == 1


@pytest.mark.parametrize(
    "options", [{"max_depth": -1}, {"criterion": "oak"}, {"tests": "x"}, {"max_bins": 0}, {"min_branch": 0}]
)
def test_invalid_parameters(options: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        C45Reference(**options)  # type: ignore[arg-type]
