"""Growing an additive model: released numbers decide what is fitted, and all of epsilon buys something."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from privet.engines.memory import MemoryEngine
from privet.growing.additive import fitting
from privet.growing.additive.bases import LEAST_SHARE, buy_knots, knots_share, main_basis, public_knots
from privet.growing.additive.decisions import curves_kept, tree_records, tree_share
from privet.growing.additive.fitting import Preferences, grow_additive
from privet.growing.additive.pairs import candidates, penalties
from privet.growing.cutting.points import fine_bins
from privet.growing.prelude import ClassEstimate, Prelude
from privet.models.additive import Additive
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.schema import Categorical, Numeric, Schema
from privet.structure.terms import UNIT
from privet.tables.encoding import encode
from privet.testing import SeededNoise, ZeroNoise, use_noise

ONE = Fraction(1)


def table(records: int, seed: int = 0, *, classes: int = 2, together: bool = False) -> tuple[Schema, dict[str, Any]]:
    """Four numbers, one in categories; ``together``: two of them matter only together."""
    random = np.random.default_rng(seed)
    x = random.uniform(0, 10, (records, 4))
    score = 4 * np.sign((x[:, 0] - 5) * (x[:, 1] - 5)) if together else x[:, 0] - 5 + (x[:, 1] > 7) * 4
    score = score + random.logistic(size=records)
    labels = np.digitize(
        score, np.quantile(score, np.arange(1, classes) / classes) if records else [0.0] * (classes - 1)
    )
    schema = Schema(
        (*(Numeric(f"x{i}", 0, 10) for i in range(3)), Categorical("c", tuple(range(5)))),
        Categorical("y", tuple(range(classes))),
    )
    columns = {f"x{i}": x[:, i] for i in range(3)} | {"c": (x[:, 3] // 2).astype(int), "y": labels}
    return fine_bins(schema), columns


def protected(schema: Schema, columns: Any, ledger: Ledger) -> PrivateDataset:
    return PrivateDataset(MemoryEngine(schema, encode(schema, columns)), ledger)


def grow(
    schema: Schema,
    columns: Any,
    epsilon: Fraction = ONE,
    delta: Fraction = Fraction(0),
    seed: int = 0,
    **preferences: Any,
) -> tuple[Additive, Ledger]:
    ledger = Ledger(epsilon, delta or None)
    wish = Preferences(preferences.pop("class_weights", np.ones(schema.n_classes)), **preferences)
    with use_noise(SeededNoise(seed)):
        return grow_additive(Prelude(protected(schema, columns, ledger), epsilon), delta, wish), ledger


def accuracy(model: Additive, schema: Schema, columns: Any) -> float:
    codes = encode(schema, columns)
    return float((model.predict(codes.features) == codes.labels).mean())


@pytest.mark.parametrize(
    ("classes", "records", "kinds"),
    [
        (2, 12, set()),
        (2, 250, {0, 1}),
        (2, 1200, {0, 1}),
        (2, 6000, {1}),
        (2, 60_000, {1, 2}),
        (3, 12, set()),
        (3, 300, {0, 1}),
        (3, 2000, {0, 1}),
        (3, 12_000, {1}),
    ],
)
def test_the_number_of_records_decides_what_is_fitted(classes: int, records: int, kinds: set[int]) -> None:
    """A label, a small tree (a part that looks at no attribute), a tree and curves, curves, curves and pairs."""
    schema, columns = table(records, classes=classes)
    model, ledger = grow(schema, columns, Fraction(1, 5))
    assert {len(part.attributes) for part in model.parts} == kinds
    assert ledger.spent == Fraction(1, 5)
    if records >= 1000:
        assert accuracy(model, schema, table(2000, 1, classes=classes)[1]) > {2: 0.65, 3: 0.5}[classes]


def test_pairs_find_interactions_of_two_attributes() -> None:
    schema, columns = table(40_000, together=True)
    unseen = table(4000, 1, together=True)[1]
    with_pairs, _ = grow(schema, columns)
    assert {part.attributes for part in with_pairs.parts if len(part.attributes) == 2} >= {(0, 1)}
    without, _ = grow(schema, columns, pairs=0)
    assert accuracy(with_pairs, schema, unseen) > 0.85
    assert accuracy(without, schema, unseen) < 0.6


def test_a_delta_buys_less_noise_and_is_spent() -> None:
    schema, columns = table(4000)
    delta = Fraction(1, 10**6)
    wide = Schema((*schema.attributes, *(Categorical(f"more{i}", tuple(range(8))) for i in range(16))), schema.label)
    columns = columns | {f"more{i}": np.arange(4000) % 8 for i in range(16)}
    model, ledger = grow(wide, columns, ONE, delta)
    pure, pure_ledger = grow(wide, columns, ONE)
    assert 0 < ledger.loss.delta <= delta
    assert pure_ledger.loss.delta == 0
    assert model.parts[-1].deviation < 0.9 * pure.parts[-1].deviation


def test_an_attribute_can_be_favoured_or_left_out() -> None:
    schema, columns = table(4000)
    even, _ = grow(schema, columns)
    model, _ = grow(schema, columns, favours={0: 4.0, 2: 0.0})
    by_attribute = {part.attributes: part for part in model.parts}
    assert (2,) not in by_attribute
    assert by_attribute[0,].deviation < even.parts[0].deviation
    few = {name: column[:600] for name, column in columns.items()}
    tree, _ = grow(schema, few, Fraction(1, 10), favours={0: 0.0, 1: 0.0})
    assert tree.routes is not None
    assert not set(tree.routes.tests.attribute.tolist()) & {0, 1}


def test_class_weights_move_the_line() -> None:
    schema, columns = table(4000)
    codes = encode(schema, columns).features
    shares = [
        grow(schema, columns, class_weights=np.array(w))[0].predict(codes).mean() for w in ([1.0, 1.0], [1.0, 0.1])
    ]
    assert shares[1] < 0.5 * shares[0]
    tiny = {name: column[:120] for name, column in columns.items()}
    assert grow(schema, tiny, class_weights=np.array([0.01, 1.0]))[0].predict(codes).mean() > 0.9


def test_an_empty_table_and_a_single_class_fit() -> None:
    schema, columns = table(0)
    model, ledger = grow(schema, columns)
    assert model.parts == ()
    assert ledger.spent == 1
    alone = Schema(schema.attributes, Categorical("y", (0,), basis="inferred"))
    model, _ = grow(alone, table(50)[1] | {"y": np.zeros(50)})
    assert model.predict_proba(np.zeros((4, 2), dtype=int)).tolist() == [[1.0], [1.0]]


def test_an_epsilon_too_small_for_a_fit_buys_a_label() -> None:
    schema, columns = table(300)
    model, ledger = grow(schema, columns, Fraction(1, 10**7))
    assert model.parts == ()
    assert ledger.spent == Fraction(1, 10**7)


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**6)])
def test_the_widest_noise_holds_for_categories_that_no_record_has(delta: Fraction) -> None:
    """All records share a category, so the others are noise alone: far beyond what evenly spread records would have.

    Twenty numbers of one seed: no chance is involved.
    """
    schema = Schema((Categorical("c", tuple(range(21))), Categorical("d", (0, 1))), Categorical("y", (0, 1)))
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 20_000)
    columns = {"c": np.zeros(20_000, dtype=int), "d": y ^ (random.random(20_000) < 0.2), "y": y}
    model, _ = grow(schema, columns, Fraction(1, 2), delta)
    part = next(part for part in model.parts if part.attributes == (0,))
    assert part.widest is not None
    seen = float(np.sqrt((part.table[1:, 0] ** 2).mean()))
    assert seen < 1.3 * part.widest
    assert seen > 0.25 * part.widest
    assert seen > 3 * part.deviation
    assert abs(float(part.table[0, 0])) < 0.5 * part.widest


@pytest.mark.parametrize("counts", [(500.0, 500.0), (940.0, 60.0), (100.0,) * 10])
def test_the_share_of_a_tree_changes_gradually(counts: tuple[float, ...]) -> None:
    """Where noise is a tenth more, a tree gets at most a twentieth more: no rule switches from curves to a tree."""
    estimate = ClassEstimate(np.array(counts), 1.0, Fraction(0))
    shares = [float(tree_share(estimate, 0.01 * 1.1**step, 11)) for step in range(90)]
    assert (np.diff(shares) >= 0).all()
    assert np.diff(shares).max() <= 0.05 + 0.02  # shares have small denominators
    assert shares[0] == 0
    assert max(shares) <= 0.9


def test_one_large_class_among_many_leaves_a_tree_something_to_tell_apart() -> None:
    """Two classes of which one has four fifths of the records, and seven of which one has."""
    two, seven = (
        ClassEstimate(np.array(counts), 1.0, Fraction(0)) for counts in ((800.0, 200.0), (800.0, *(33.0,) * 6))
    )
    assert [float(tree_share(one, 0.6, 11)) for one in (two, seven)] == pytest.approx([0.02, 0.5], abs=0.04)


def test_noise_of_many_curves_averages_out() -> None:
    two, ten = (ClassEstimate(np.full(k, 100.0), 1.0, Fraction(0)) for k in (2, 10))
    assert tree_share(ten, 0.6, 64) < Fraction(1, 5) < tree_share(two, 0.6, 64) < tree_share(ten, 0.6, 10)
    assert tree_records(ten, 64) == tree_records(two, 10) < tree_records(ten, 10)


def test_gaussian_noise_leaves_more_curves() -> None:
    """Where a choice would not halve the noise all are kept: a half of them by Laplace's law, a quarter by Gauss's."""
    for law, last in (("laplace", 0.5), ("gaussian", 1.0)):
        assert curves_kept(40, last - 0.01, law) == 40  # type: ignore[arg-type]
        assert curves_kept(40, last, law) == 10 / last  # type: ignore[arg-type]


def test_a_tree_gets_no_more_than_it_can_use() -> None:
    schema, columns = table(20_000, classes=3)
    _, ledger = grow(schema, columns, Fraction(1, 20))
    charges = [charge for charge in ledger.certificate().charges if "whole trees" in charge.what]
    assert all(float(charge.epsilon) * 20_000 <= 620 * 1.5**0.5 for charge in charges)


def wide(attributes: int, positive: float) -> tuple[Schema, dict[str, Any]]:
    """Four of the attributes tell something, and few of 30,000 records are ill."""
    random = np.random.default_rng(attributes)
    x = random.uniform(0, 10, (30_000, attributes))
    score = x[:, :4].sum(axis=1) / 2 + random.logistic(size=30_000)
    columns = {f"x{i}": x[:, i] for i in range(attributes)} | {"y": 1 * (score > np.quantile(score, 1 - positive))}
    numbers = tuple(Numeric(f"x{i}", 0, 10) for i in range(attributes))
    return fine_bins(Schema(numbers, Categorical("y", (0, 1)))), columns


def area(schema: Schema, columns: Any) -> float:
    """The area under the curve of a model at epsilon 0.2."""
    model, ledger = grow(schema, columns, Fraction(1, 5))
    assert ledger.spent == Fraction(1, 5)
    codes = encode(schema, columns)
    order, ill = model.predict_scores(codes.features)[:, 0].argsort().argsort(), codes.labels == 1
    return float((order[ill].mean() - order[~ill].mean()) / len(order) + 0.5)


@pytest.mark.parametrize(("attributes", "positive", "least"), [(10, 0.06, 0.85), (40, 0.3, 0.8), (40, 0.06, 0.8)])
def test_wide_unbalanced_tables_do_not_collapse(attributes: int, positive: float, least: float) -> None:
    """Where the largest class has nearly all records a tree says nothing: curves must not be given up for it."""
    assert area(*wide(attributes, positive)) > least


def test_fewer_curves_have_less_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: curves of all forty attributes drown where a few of them are chosen and seen."""
    schema, columns = wide(40, 0.06)
    monkeypatch.setattr(fitting, "curves_kept", lambda attributes, *_: attributes)
    assert area(schema, columns) < 0.75


def many(classes: int) -> tuple[Schema, Any]:
    """Forty attributes, of which eight tell classes apart."""
    random = np.random.default_rng(7)
    x = random.normal(size=(20_000, 40))
    score = x[:, :8] @ random.normal(size=(8, classes)) + random.gumbel(size=(20_000, classes))
    columns = {f"x{i}": x[:, i] for i in range(40)} | {"y": score.argmax(axis=1)}
    numbers = tuple(Numeric(f"x{i}", -4, 4) for i in range(40))
    return fine_bins(Schema(numbers, Categorical("y", tuple(range(classes))))), columns


def test_ten_curves_tell_many_classes_apart_where_forty_hide_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: as many curves as if the evidence of all classes were that of one."""
    schema, columns = many(10)
    model, _ = grow(schema, columns, Fraction(1))
    assert 10 <= sum(len(part.attributes) == 1 for part in model.parts) <= 20
    monkeypatch.setattr(
        fitting, "curves_kept", lambda attributes, ratio, law, scores: curves_kept(attributes, ratio, law)
    )
    planted, _ = grow(schema, columns, Fraction(1))
    assert sum(len(part.attributes) == 1 for part in planted.parts) == 40
    assert accuracy(model, schema, columns) > accuracy(planted, schema, columns) + 0.1


def test_the_number_of_curves_changes_gradually_with_noise() -> None:
    """With more noise never more curves, and at most a quarter fewer for a tenth more noise, once some are left out."""
    for scores in (1, 3, 26):
        kept = [curves_kept(150, 0.01 * 1.1**step, "laplace", scores) for step in range(90)]
        assert kept == sorted(kept, reverse=True)
        assert kept[0] == 150
        assert kept[-1] == 1
        fewer = [(one, other) for one, other in pairwise(kept) if 8 <= one < 150]
        assert all(other >= 0.75 * one for one, other in fewer)


def unrelated(classes: int, records: int = 20_000) -> tuple[Schema, Any]:
    """Attributes that tell nothing of the label."""
    random = np.random.default_rng(3)
    columns = {f"x{i}": random.integers(0, 8, records) for i in range(6)} | {"y": random.integers(0, classes, records)}
    attributes = tuple(Categorical(f"x{i}", tuple(range(8))) for i in range(6))
    return Schema(attributes, Categorical("y", tuple(range(classes)))), columns


def excess(schema: Schema, columns: Any, epsilon: Fraction = Fraction(1, 10)) -> float:
    """The log-loss of a model above that of the shares of even classes."""
    model, _ = grow(schema, columns, epsilon)
    codes = encode(schema, columns)
    said = model.predict_proba(codes.features)[np.arange(len(codes.labels)), codes.labels]
    return float(-np.log(said).mean() - np.log(schema.n_classes))


@pytest.mark.parametrize(("classes", "most"), [(2, 0.02), (18, 0.3)])
def test_curves_of_noise_are_nearly_flat(classes: int, most: float) -> None:
    """Where nothing can be learned; 0.87 with 18 classes and a ridge that has no regard to their number."""
    assert excess(*unrelated(classes)) < most


def test_pairs_wait_until_there_are_enough_records_of_each_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: pairs where the evidence of all classes, not that of one, is enough for them."""
    schema, columns = unrelated(18, 30_000)
    flat = excess(schema, columns, ONE)
    assert flat < 0.02
    monkeypatch.setattr(fitting, "WITH_PAIRS", 9 * fitting.WITH_PAIRS)
    assert excess(schema, columns, ONE) > flat + 0.1


# ---- the estimate ----------------------------------------------------------------------------------------------------


def test_counts_below_the_noise_are_bought_again() -> None:
    for records, least, most in ((50_000, 0.02, 0.02), (1500, 0.05, 0.12), (100, 0.25, 0.27)):
        schema, columns = table(records)
        ledger = Ledger(1)
        with use_noise(SeededNoise(1)):
            estimate = Prelude(protected(schema, columns, ledger), Fraction(1, 2)).count_classes().classes
        assert estimate is not None
        assert ledger.spent == estimate.share / 2
        assert least <= float(estimate.share) <= most + 1e-9
        assert estimate.records == pytest.approx(records, rel=0.25)


def test_more_classes_need_larger_counts() -> None:
    shares = []
    for classes in (2, 18):
        schema, columns = unrelated(classes)
        with use_noise(SeededNoise(1)):
            found = Prelude(protected(schema, columns, Ledger(1)), Fraction(1, 10)).count_classes().classes
        assert found is not None
        shares.append(found.share)
    few, many = shares
    assert few == Fraction(1, 50)
    assert 0.1 < many <= 0.27


def test_an_outlook_rules_no_class_out() -> None:
    estimate = ClassEstimate(np.array([900.0, -30.0, 40.0]), 1.0, Fraction(1, 50), least=25.0)
    assert estimate.counts.tolist() == [900, 25, 40]
    assert estimate.offset.sum() == pytest.approx(0)
    assert estimate.offset[0] - estimate.offset[2] == pytest.approx(np.log(900 / 40))
    assert estimate.weighted(np.array([0.0, 1.0, 1.0])).shares.argmax() == 2


# ---- knots and pairs ------------------------------------------------------------------------------------------------


def test_knots_follow_records_that_public_ones_miss() -> None:
    """Bounds that are thousands of times too wide: the bought knots lie among the records, and only there."""
    random = np.random.default_rng(0)
    schema = fine_bins(Schema((Numeric("wide", 0, 1e7), Numeric("good", 0, 100)), Categorical("y", ("no", "yes"))))
    columns = {"wide": random.normal(40, 5, 20_000), "good": random.uniform(0, 100, 20_000)}
    columns = columns | {"y": np.where(columns["wide"] > 40, "yes", "no")}
    data = protected(schema, columns, Ledger(1))
    with use_noise(SeededNoise(0)):
        found = buy_knots(data, [0, 1], Fraction(1, 10))
    assert set(found) == {0}
    inner = found[0][1:-1]
    assert len(inner) >= 4
    assert ((inner > 20) & (inner < 65)).all()
    assert (public_knots(schema.attributes[0])[1:] > 1e4).all()  # type: ignore[arg-type]
    model, _ = grow(schema, columns)
    assert accuracy(model, schema, columns) > 0.85


def test_an_uninformative_histogram_is_not_bought() -> None:
    assert knots_share(0, 1e6, 1.0) == 0
    assert knots_share(10, 1e3, 0.1) == 0
    assert knots_share(10, 1e6, 1.0) == LEAST_SHARE


def test_tables_of_pairs_are_products_of_their_sides() -> None:
    schema, columns = table(3000)
    model, _ = grow(schema, columns)
    found = candidates(schema, model.parts)
    assert len(found) == 6
    for basis in found:
        term = basis.term
        assert (term.weights.sum(axis=1) == UNIT).all()
        assert term.touched <= 4
        assert len(basis.knots) == 2
        assert term.fault(schema) is None
    assert penalties(found, 100.0)[0] < penalties(found, 400.0)[0]


def test_many_categories_are_grouped_by_what_they_add() -> None:
    schema = Schema((Categorical("many", tuple(range(30))), Categorical("b", (0, 1))), Categorical("y", (0, 1)))
    random = np.random.default_rng(0)
    many = random.integers(0, 30, 20_000)
    columns = {"many": many, "b": random.integers(0, 2, 20_000), "y": (many % 2 == 1).astype(int)}
    with use_noise(ZeroNoise()):
        model = grow_additive(
            Prelude(PrivateDataset(MemoryEngine(schema, encode(schema, columns)), Ledger(1)), ONE),
            Fraction(0),
            Preferences(np.ones(2)),
        )
    (pair,) = (part for part in model.parts if len(part.attributes) == 2)
    assert pair.sides == (6, 2)
    groups = pair.levels[0]
    assert not set(groups[::2]) & set(groups[1::2]), "odd and even ones add different numbers"


def test_a_basis_of_public_knots_is_the_schemas() -> None:
    schema, _ = table(10)
    assert [main_basis(schema, a).term.size for a in range(4)] == [12, 12, 12, 5]
