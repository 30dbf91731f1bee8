"""The audit itself: its power on tight mechanisms, its verdicts, and what it refuses."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest

import privet
from privet.audit import Transcript, audit_learner, exact, tiny_schema, zoo
from privet.audit.exact import as_recipe
from privet.errors import ParameterError, RecipeError
from privet.privacy.counting import class_counts
from privet.privacy.dataset import PrivateDataset
from privet.privacy.mechanisms import Selection
from privet.privacy.scores import Gini, Max, Score
from privet.recipes.papers.diffpc45 import DiffPC45
from privet.recipes.papers.diffpid3 import DiffPID3
from privet.recipes.registry import recipe_classes
from privet.structure.splits import Tests

RELATIONS = ["add-remove", "replace-one"]
# The pairs where losses are large; the others are for what goes around the noise.
DEEP = {relation: [pair for pair in zoo(relation=relation) if pair.ways is None] for relation in RELATIONS}


def choice(score: Score, mechanism: Any) -> Any:
    return lambda data, epsilon: data.choose(Tests.binary(data.schema), score, epsilon, selection=Selection(mechanism))


TIGHT = {
    "noisy count": lambda data, epsilon: data.noisy_count(epsilon),
    "class counts": lambda data, epsilon: tuple(data.class_counts(epsilon).values()),
    "label": lambda data, epsilon: int(data.level().choose_labels_all(epsilon)[0]),
    "max, exponential": choice(Max(), "exponential"),
    "max, permute-and-flip": choice(Max(), "permute-and-flip"),
    "gini, exponential": choice(Gini(), "exponential"),
    "gini, permute-and-flip": choice(Gini(), "permute-and-flip"),
    "parts": lambda data, epsilon: tuple(p.noisy_count(epsilon) for p in data.shards(2)),
}


# Epsilon only scales draws: every kind of them is found tight at one, and one kind at all.
COUNTS = ("noisy count", "class counts", "parts")  # their loss is the same on all pairs: a few of them will do
CLAIMS = {"label": (Fraction(1, 2), 1, 2), "class counts": (1,), "max, exponential": (1,), "gini, exponential": (0.5,)}


@pytest.mark.parametrize("name", TIGHT)
def test_tight_mechanisms_are_found_tight(name: str) -> None:
    """An audit that finds little proves little: here it must reach nine tenths of what is there to find."""
    pairs = DEEP["add-remove"][:: 5 if name in COUNTS else 1]
    for claimed in CLAIMS.get(name, (2,)):
        found = audit_learner(TIGHT[name], pairs, claimed, transcripts=6)
        assert found.verdict == "holds"
        assert found.lower_bound >= 0.9 * float(claimed), (claimed, found.lower_bound)


# Shorter audits of the same recipes are in tests/testing/test_checks.py and test_forests.py.
POWER = [
    (DiffPID3(max_depth=2, criterion="gini", tests="binary"), 0.9, 0.45),
    (DiffPID3(max_depth=2, mechanism="permute-and-flip"), 0.99, 0.5),
    (DiffPC45(max_depth=1, numeric="points", prune=False), 0.85, 0.4),
    ("greedy-forest", 0.8, 0.8),
    ("patil-singh2014", 0.8, 0.5),
]


@pytest.mark.slow
@pytest.mark.parametrize(("recipe", "add_remove", "replace_one"), POWER)
def test_whole_recipes_come_close_to_their_claim(recipe: Any, add_remove: float, replace_one: float) -> None:
    # Under replace-one a table keeps its size, so what is spent on the size of the root is never lost.
    for neighbours, least in zip(RELATIONS, (add_remove, replace_one), strict=True):
        found = exact(recipe, DEEP[neighbours], 1, neighbours=neighbours, transcripts=8)
        assert least <= found.lower_bound <= 1 + 1e-9


def test_a_recipe_its_name_and_its_estimator_are_the_same() -> None:
    pairs = zoo()[:3]
    classifier = privet.papers.DiffPID3Classifier(max_depth=2, schema=tiny_schema())
    found = [exact(recipe, pairs, 1) for recipe in ("diffpid3", DiffPID3(max_depth=2), classifier)]
    assert len({result.lower_bound for result in found}) == 1
    assert {(result.recipe, result.variant) for result in found} == {("diffpid3", "sound")}


@pytest.mark.parametrize(
    ("recipe", "error", "says"),
    [("shrub", RecipeError, "unknown recipe 'shrub'"), (object(), ParameterError, "cannot audit object")],
)
def test_what_cannot_be_audited(recipe: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        exact(recipe)


def test_pairs_of_the_other_relation_are_refused() -> None:
    with pytest.raises(ParameterError, match="replace-one"):
        exact("sulq", zoo(relation="replace-one"), 1)


@pytest.mark.parametrize("claimed", [0, -1, math.inf, "1"])
def test_a_claim_is_a_positive_number(claimed: Any) -> None:
    with pytest.raises(privet.EpsilonError):
        exact("sulq", claimed=claimed)


def test_a_result_as_json() -> None:
    found = exact("sulq", zoo()[:1], Fraction(1, 2))
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["recipe"] == "sulq"
    assert facts["claimed"] == 0.5
    assert facts["lower_bound"] == pytest.approx(0.5)
    assert facts["verdict"] == "holds"
    leak = audit_learner(lambda data, epsilon: bool(class_counts(data._engine, data._cells).any()))
    assert leak.to_dict()["lower_bound"] == "infinity"
    assert leak.to_dict()["verdict"] == "violated"


def test_a_witness_says_what_was_lost_where() -> None:
    found = exact("diffpid3", DEEP["add-remove"][:6], transcripts=4)
    assert isinstance(found.witness, Transcript)
    assert abs(math.fsum(found.witness.gains)) == found.lower_bound
    assert found.pair in {pair.name for pair in zoo()}


def test_what_is_charged_is_released_too() -> None:
    """A certificate goes out with the model, so a charge that depends on the records is a leak."""

    def learner(data: PrivateDataset, epsilon: Fraction) -> int:
        share = 2 if class_counts(data._engine, data._cells).sum() > 1 else 3
        data.ledger.charge(epsilon / share, "nothing")
        return 0

    assert audit_learner(learner).lower_bound == math.inf


def test_losses_add_up_over_a_budget_spent_twice() -> None:
    """A learner that finds a way to ask twice for one price is seen to lose twice."""

    def learner(data: PrivateDataset, epsilon: Fraction) -> Any:
        again = PrivateDataset(data._engine, privet.Ledger(epsilon))
        return tuple(data.class_counts(epsilon).values()), tuple(again.class_counts(epsilon).values())

    assert audit_learner(learner, zoo()[:2]).lower_bound == pytest.approx(2)


def test_unsound_variants_are_audited_at_what_their_paper_claims() -> None:
    """Their own tests say what is found; here they must run, without being let near a budget."""
    for name, kind in recipe_classes().items():
        for variant in kind.unsound:
            found = exact(as_recipe(name, variant=variant), zoo()[:2], 1, transcripts=2)
            assert (found.claimed, found.variant) == (1, variant)
