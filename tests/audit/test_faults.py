"""Planted faults, each caught by itself, each beside its sound counterpart.

Most are a few lines on the real parts; they have been shipped, by this field's papers and libraries. The fault that no
audit of a fit can see, charging after the release, is caught by kills of the ledger's process:
``tests/privacy/test_kills.py::test_a_charge_after_the_release_is_caught_by_the_same_check``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privet.audit import AuditResult, audit_learner, exact, tiny_schema, zoo
from privet.engines.memory import MemoryEngine
from privet.errors import BudgetExceeded
from privet.growing.greedy.grower import Plan
from privet.growing.schedules import Schedule, level_weight
from privet.models.tree import Tree
from privet.privacy import mechanisms
from privet.privacy.budget import Neighbours, float_up
from privet.privacy.counting import Partition, bin_counts, class_counts
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.privacy.mechanisms import Selection
from privet.privacy.noise import current_source
from privet.privacy.scores import Gini, Max
from privet.recipes.papers.diffpid3 import DiffPID3
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, Tests, Threshold
from privet.tables.encoding import Codes

RELATIONS = ["add-remove", "replace-one"]
# The pairs where losses are large: a sound counterpart must reach its claim there.
DEEP = {relation: [pair for pair in zoo(relation=relation) if pair.ways is None] for relation in RELATIONS}
FEW = {relation: pairs[::5] for relation, pairs in DEEP.items()}  # for noisy counts, whose loss is the same on all


def true_counts(data: PrivateDataset) -> np.ndarray:
    """Around the wall, as no learner may go."""
    return class_counts(data._engine, data._cells)[0]


def holds(result: AuditResult) -> bool:
    assert result.verdict == ("holds" if result.lower_bound <= result.claimed + 1e-9 else "violated")
    return result.verdict == "holds"


# -- the smooth-sensitivity leaf of card 7 ---------------------------------------------------------------------------


def smooth_label(data: PrivateDataset, epsilon: Fraction) -> int:
    eps = float(data.ledger.charge(epsilon, "label").redeem())
    counts = np.sort(true_counts(data))
    score = (true_counts(data) == counts[-1]).astype(float)
    margin = int(counts[-1] - counts[-2])
    return current_source().exponential(score, 2 * math.exp(-margin * eps) / eps)


def sound_label(data: PrivateDataset, epsilon: Fraction) -> int:
    return int(data.level().choose_labels_all(epsilon)[0])


def test_smooth_sensitivity_in_the_exponential_mechanism() -> None:
    pairs = [pair for pair in zoo() if pair.name == "margin 4 to 5"]
    found = audit_learner(smooth_label, pairs, 1)
    assert found.lower_bound == pytest.approx(46.9, abs=0.1)  # as card 7 has it
    assert not holds(audit_learner(smooth_label))


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_labels_by_counts(neighbours: str) -> None:
    found = audit_learner(sound_label, pairs=DEEP[neighbours], neighbours=neighbours)
    assert holds(found)
    assert found.lower_bound > 0.9
    assert found.method == "exact output distribution"


# -- un-noised stopping ----------------------------------------------------------------------------------------------


def tree_or_leaf(data: PrivateDataset, epsilon: Fraction, size: int) -> Tree:
    return DiffPID3(max_depth=int(size >= 20)).grow(data, epsilon, np.random.default_rng(0))


def test_stopping_by_the_true_count() -> None:
    found = audit_learner(lambda data, epsilon: tree_or_leaf(data, epsilon, int(true_counts(data).sum())))
    assert found.lower_bound == math.inf
    assert found.pair == "19 against 20 records"
    assert found.reason == "one of the tables never releases it"


def test_stopping_by_a_noisy_count() -> None:
    found = audit_learner(
        lambda data, epsilon: tree_or_leaf(data, epsilon / 2, data.noisy_count(epsilon / 2)), DEEP["add-remove"]
    )
    assert holds(found)
    assert found.lower_bound > 0.9


# -- shares of a schedule that add up to more -------------------------------------------------------------------------


SHARES = Plan.shares
RISING = DiffPID3(max_depth=2, schedule="rising")


def not_divided(total: Fraction, depth: int, *, schedule: Schedule, **weights: Any) -> Plan:
    """The weights of the levels times the share of an equal level, as if they added up to the number of levels."""
    plan = SHARES(total, depth, **weights)
    node, choice = (
        tuple(share and share * level_weight(schedule, d) for d, share in enumerate(shares))
        for shares in (plan.node, plan.choice)
    )
    return replace(plan, node=node, choice=choice)


def unwatched(data: PrivateDataset, epsilon: Fraction) -> Tree:
    """On a ledger that has enough for twice as much."""
    return RISING.grow(PrivateDataset(data._engine, Ledger(2 * epsilon)), epsilon, np.random.default_rng(0))


def test_a_schedule_whose_shares_add_up_to_more(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [pair for pair in DEEP["add-remove"] if pair.name == "both records push the same way"]  # on every level
    sound = exact(RISING, pairs, 1)
    assert holds(sound)
    assert sound.lower_bound > 0.9
    assert holds(exact(RISING, DEEP["add-remove"], 1, transcripts=1))
    monkeypatch.setattr(Plan, "shares", not_divided)
    assert audit_learner(unwatched, pairs).lower_bound > 1.1
    crowd = MemoryEngine(tiny_schema(), Codes(np.zeros((3, 9999), np.uint8), np.zeros(9999, np.uint8)))
    with pytest.raises(BudgetExceeded):  # and a ledger that watches refuses it before it is drawn
        RISING.grow(PrivateDataset(crowd, Ledger(1)), Fraction(1), np.random.default_rng(0))


# -- sharding by row position ----------------------------------------------------------------------------------------


SHARDS = MemoryEngine.shards


def by_position(self: MemoryEngine, cells: Partition, count: int, coins: Any) -> Partition:
    return SHARDS(self, cells, count, lambda sides, size: np.arange(size) * sides // max(size, 1))


def shard_counts(data: PrivateDataset, epsilon: Fraction) -> Any:
    return tuple(tuple(shard.class_counts(epsilon).items()) for shard in data.shards(3))


def test_shards_by_position(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryEngine, "shards", by_position)
    pairs = [pair for pair in zoo() if pair.name.startswith("a shard boundary")]
    found = audit_learner(shard_counts, pairs)
    assert found.lower_bound == pytest.approx(3)  # one record more, and others change their shard


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_shards_by_coins(neighbours: str) -> None:
    found = audit_learner(shard_counts, pairs=FEW[neighbours], neighbours=neighbours)
    assert holds(found)
    assert found.lower_bound == pytest.approx(1)


# -- constants of the exponential mechanism ---------------------------------------------------------------------------


def split_by(score: Gini | Max, selection: Selection = Selection()) -> Any:  # noqa: B008 - frozen
    return lambda data, epsilon: data.choose(Tests.multiway(data.schema), score, epsilon, selection=selection)


def test_half_the_gini_bound_under_the_one_sided_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = audit_learner(split_by(Gini()), DEEP["add-remove"])
    assert holds(sound)
    assert sound.lower_bound > 0.9
    monkeypatch.setattr(Gini, "sensitivity", property(lambda self: Fraction(1)))
    assert audit_learner(split_by(Gini()), DEEP["add-remove"]).lower_bound > 1.8
    # The textbook's constant leaves room for exactly this mistake, which is why it is planted under the other.
    assert holds(audit_learner(split_by(Gini(), Selection(constant="two-sided")), DEEP["add-remove"]))


@pytest.mark.parametrize("mechanism", ["exponential", "permute-and-flip"])
def test_the_one_sided_constant_under_replace_one(monkeypatch: pytest.MonkeyPatch, mechanism: Any) -> None:
    learner = split_by(Max(), Selection(mechanism))
    sound = audit_learner(learner, pairs=DEEP["replace-one"], neighbours="replace-one")
    assert holds(sound)
    assert sound.lower_bound > 0.9
    monkeypatch.setattr(Neighbours, "steps", property(lambda self: 1))
    assert audit_learner(learner, pairs=DEEP["replace-one"], neighbours="replace-one").lower_bound > 1.9
    assert holds(audit_learner(learner, DEEP["add-remove"]))  # under add/remove it is the right one


# -- counts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_counts_30_percent_too_sharp(monkeypatch: pytest.MonkeyPatch, neighbours: str) -> None:
    def learner(data: PrivateDataset, epsilon: Fraction) -> Any:
        return tuple(data.class_counts(epsilon).values())

    sound = audit_learner(learner, pairs=FEW[neighbours], neighbours=neighbours)
    assert holds(sound)
    assert sound.lower_bound == pytest.approx(1)
    monkeypatch.setattr(mechanisms, "float_up", lambda value: 0.7 * float_up(value))
    found = audit_learner(learner, pairs=FEW[neighbours], neighbours=neighbours)
    assert found.lower_bound == pytest.approx(1 / 0.7)
    assert not holds(found)
    assert exact("sulq", zoo()[:2], complete=0).lower_bound == pytest.approx(1 / 0.7)


def leaves_of(data: PrivateDataset, epsilon: Fraction, only_where_records_fell: bool) -> Any:
    return tuple(
        (number, tuple(part.class_counts(epsilon).values()))
        for number, part in enumerate(data.partition(Multiway(0)))
        if true_counts(part).any() or not only_where_records_fell
    )


def test_leaves_only_where_records_fell() -> None:
    found = audit_learner(lambda data, epsilon: leaves_of(data, epsilon, True))
    assert found.lower_bound == math.inf
    assert found.reason == "one of the tables never releases it"
    assert holds(audit_learner(lambda data, epsilon: leaves_of(data, epsilon, False), FEW["add-remove"]))


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("counts_too", [False, True], ids=["with a label", "with counts"])
def test_an_exception_that_depends_on_the_records(counts_too: bool) -> None:
    def careless(data: PrivateDataset, epsilon: Fraction) -> Any:
        shares = true_counts(data) // true_counts(data).sum() if true_counts(data).any() else 1 // 0
        return (tuple(data.class_counts(epsilon).values()) if counts_too else sound_label(data, epsilon)), shares[0] < 2

    found = audit_learner(careless, [pair for pair in zoo() if pair.name == "an empty table"])
    assert found.lower_bound == math.inf
    assert found.reason in ("whether it fails depends on the records", "one of the tables never releases it")


def test_an_exception_on_every_table_is_not_a_violation() -> None:
    def broken(data: PrivateDataset, epsilon: Fraction) -> Any:
        raise RuntimeError("out of order")

    assert audit_learner(broken, zoo()[::5]).lower_bound == 0.0


# -- permute-and-flip over ranges that the data cut -------------------------------------------------------------------

GRID = Schema((Numeric("x", 0, 8, thresholds=tuple(range(1, 8))),), Categorical("class", ("no", "yes")))


def cut_in_a_range(data: PrivateDataset, epsilon: Fraction, mechanism: str) -> Threshold:
    """A range between neighbouring values, by score and width; then a public point in it, uniformly."""
    eps = float(data.ledger.charge(epsilon, "split point").redeem())
    counts = bin_counts(data._engine, data._cells)[0]
    below = counts.cumsum(axis=0)[:-1]
    scores = Max().node(below) + Max().node(counts.sum(axis=0) - below)
    starts = np.flatnonzero(np.diff(below.sum(axis=1), prepend=-1))  # cuts between two records are one range
    widths = np.diff([*starts, len(scores)])
    weights = scores[starts] + np.log(widths) / eps
    source = current_source()
    draw = source.exponential if mechanism == "exponential" else source.permute_and_flip
    chosen = draw(weights, 1 / eps)
    return Threshold(0, int(starts[chosen] + source.coins(int(widths[chosen]), 1)[0]))


def test_ranges_of_the_data() -> None:
    pairs = zoo(GRID)
    sound = audit_learner(lambda data, epsilon: cut_in_a_range(data, epsilon, "exponential"), pairs)
    assert holds(sound)
    assert sound.method == "exact output distribution"
    found = audit_learner(lambda data, epsilon: cut_in_a_range(data, epsilon, "permute-and-flip"), pairs)
    assert not holds(found)
    # A range is never released, so it may differ between the tables: transcripts cannot judge here, and say so.
    unjudged = audit_learner(lambda data, epsilon: cut_in_a_range(data, epsilon, "exponential"), pairs, complete=0)
    assert unjudged.verdict == "unclear"
