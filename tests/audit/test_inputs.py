"""What goes into a mechanism, and what is booked for it: faults that draws do not show, each beside its sound twin."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privet import Ledger
from privet.audit import audit_learner, exact, released, tiny_schema, zoo
from privet.audit.declared import NotComparable, digest
from privet.growing.additive.bases import hats, main_basis
from privet.growing.prelude import Prelude
from privet.models.additive import Additive
from privet.models.tree import Tree
from privet.privacy.counting import class_counts
from privet.privacy.dataset import PrivateDataset
from privet.privacy.fits.calibration import FitLayout
from privet.privacy.fits.perturbed_fit import Fit
from privet.privacy.losses import Loss
from privet.privacy.noise import current_source, declare
from privet.privacy.scores import Max
from privet.recipes.ours.additive import AdditiveModel
from privet.recipes.papers.diffpid3 import DiffPID3
from privet.recipes.recipe import Recipe
from privet.schema import Numeric
from privet.structure.routes import Routes
from privet.structure.splits import Multiway, Tests
from privet.structure.terms import Term
from privet.testing import check_recipe, checks

RELATIONS = ["add-remove", "replace-one"]
NAMES = ("one class only", "margin 4 to 5", "a single record")
PAIRS = {
    relation: [pair for pair in zoo(tiny_schema(), relation=relation) if pair.name in NAMES] for relation in RELATIONS
}
ONE_PAIR = {relation: [pair for pair in pairs if pair.name == "margin 4 to 5"] for relation, pairs in PAIRS.items()}


def true_counts(data: PrivateDataset) -> np.ndarray:
    """Around the wall, as no learner may go."""
    return class_counts(data._engine, data._cells)[0]


# -- the plan of a fit -------------------------------------------------------------------------------------------------


def fitted(data: PrivateDataset, epsilon: Fraction, way: str, secret: int) -> Any:
    """A fit into which a number goes, in one way or another. What it releases is only what was fitted."""
    schema = data.schema
    bases = [main_basis(schema, a) for a in range(len(schema.attributes))]
    terms = [basis.term for basis in bases]
    offset, weights, favours, evidence, records = np.zeros(1), np.ones(2), [1.0] * len(terms), 25.0, 100.0
    background, routes, after = (), None, 1.0
    match way:
        case "class weights":
            weights = np.array([1.0, 1 / (1 + secret)])
        case "offset":
            offset = np.array([0.1 * secret])
        case "the last bit of an offset":
            offset = np.array([1.0 + secret * 2**-52])
        case "background":
            background = ((Term.one_hot((), [], 1), np.array([[0.1 * secret]])),)
        case "evidence":
            evidence += secret
        case "records":
            records = 1e9 * (1 + secret)  # decides how exactly it is solved
        case "favours":
            favours[0] = 1.0 + secret
        case "knots":
            a = next(i for i, one in enumerate(schema.attributes) if isinstance(one, Numeric))
            attribute = schema.attributes[a]
            terms[a] = hats(a, attribute, np.array([attribute.low, 1.0 + secret % 7, attribute.high]))
        case "which terms":
            terms = terms[::-1] if secret % 2 else terms
            favours = favours[: len(terms)]
        case "the tree before":
            routes = Routes.in_level_order(schema, [Multiway(2 * (secret % 2)), None, None])
            background = ((Term.one_hot((), [], 2), np.array([[1.0], [-1.0]])),)
        case "a sample's rate":
            data = data.sample(Fraction(1 + secret % 2, 3))
        case "what is made of it":
            after = 1.0 + secret
    shape = FitLayout.of(terms, favours, 2, records, evidence)
    plan = Fit(tuple(terms), offset, weights, background)
    values, _ = data.perturbed_fit(plan, shape, Loss(epsilon), routes=routes)
    return [value * after for value in values]


WAYS = [
    "class weights", "offset", "the last bit of an offset", "background", "evidence", "records", "favours", "knots",
    "which terms", "the tree before", "a sample's rate", "what is made of it",
]  # fmt: skip


@pytest.mark.parametrize(
    ("way", "neighbours"), [*((way, "add-remove") for way in WAYS), ("class weights", "replace-one")]
)
def test_exact_numbers_in_a_fit(way: str, neighbours: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(released, "TRIES", 10)  # enough to see that no draw explains the difference

    def secretly(data: PrivateDataset, epsilon: Fraction) -> Any:
        return fitted(data, epsilon, way, int(true_counts(data)[0]))

    def openly(data: PrivateDataset, epsilon: Fraction) -> Any:
        noisy = next(iter(data.class_counts(epsilon / 2).values()))
        return fitted(data, epsilon / 2, way, max(noisy, 0) % 7)

    how: dict[str, Any] = {"neighbours": neighbours, "transcripts": 1, "complete": 0}
    found = audit_learner(secretly, ONE_PAIR[neighbours], **how)
    assert found.verdict != "holds"
    sound = audit_learner(openly, ONE_PAIR[neighbours], **(how | {"transcripts": 3}))
    assert (sound.verdict, sound.leaks) == ("holds", 0)


@dataclass(frozen=True)
class Balanced(AdditiveModel):
    """Weighs classes by exact counts: a class weighs nothing as long as the other has no record."""

    def grow(self, data: PrivateDataset, epsilon: Fraction, random: Any, progress: Any = None) -> Additive:
        bases = [main_basis(data.schema, a) for a in range(len(data.schema.attributes))]
        weights = np.array(true_counts(data)[::-1] > 0, dtype=np.float64)
        plan = Fit(tuple(basis.term for basis in bases), np.zeros(1), weights)
        shape = FitLayout.of(plan.terms, (1.0,) * len(bases), 2, 100.0, 25.0)
        data.perturbed_fit(plan, shape, Loss(epsilon))
        return Additive(data.schema, (), np.zeros(1))


def test_a_recipe_with_weights_by_exact_counts_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(released, "TRIES", 10)
    found = exact(Balanced(), PAIRS["add-remove"], transcripts=2, complete=0)
    assert (found.verdict, found.lower_bound) == ("violated", math.inf)
    monkeypatch.setattr(checks, "zoo", lambda *_, relation, **__: PAIRS[relation])  # all of it takes longer
    with pytest.raises(AssertionError, match="claims epsilon 1 under add-remove and loses inf"):
        check_recipe(Balanced(), epsilons=[1], transcripts=2)


def test_an_exact_set_of_candidates_is_caught() -> None:
    """A choice of which nothing is released: neither what was chosen nor from what."""

    def learner(data: PrivateDataset, epsilon: Fraction, secretly: bool) -> int:
        noisy = next(iter(data.class_counts(epsilon / 2).values()))
        tests = Tests.multiway(data.schema)
        allowed = np.ones((1, len(tests)), dtype=bool)
        allowed[0, (int(true_counts(data)[0]) if secretly else max(noisy, 0)) % len(tests)] = False
        data.level().choose_all(tests, Max(), epsilon / 2, allowed=allowed)
        return noisy

    how: dict[str, Any] = {"transcripts": 2, "complete": 0}
    assert audit_learner(lambda d, e: learner(d, e, True), PAIRS["add-remove"], **how).verdict == "violated"
    assert audit_learner(lambda d, e: learner(d, e, False), PAIRS["add-remove"], **how).verdict == "holds"


def test_counts_are_not_taken_for_the_release_of_a_fit() -> None:
    """The noise that covers a fit is not weighed, so nothing else may be drawn with it unseen."""

    def learner(data: PrivateDataset, epsilon: Fraction, scale: float) -> Any:
        fitted(data, epsilon / 2, "", 0)
        data.ledger.charge(epsilon / 2, "counts").redeem()
        return tuple(current_source().covering(true_counts(data), scale).tolist())

    how: dict[str, Any] = {"transcripts": 4, "complete": 0}
    assert audit_learner(lambda d, e: learner(d, e, 0.1), PAIRS["add-remove"], **how).verdict == "violated"
    assert audit_learner(lambda d, e: learner(d, e, 2.0), PAIRS["add-remove"], **how).verdict == "holds"


def test_a_digest_is_of_every_bit() -> None:
    plain = Fit((Term.one_hot((), [], 2),), np.zeros(1), np.ones(2))
    assert digest(plain) == digest(replace(plain, offset=np.zeros(1)))
    others = [
        replace(plain, offset=np.array([-0.0])),
        replace(plain, class_weights=np.array([1.0, np.nextafter(1.0, 0.0)])),
        replace(plain, terms=(Term.one_hot((), [], 3),)),
        replace(plain, background=((Term.one_hot((), [], 2), np.zeros((2, 1))),)),
    ]
    assert len({digest(one) for one in (plain, *others)}) == 1 + len(others)
    assert digest([1, [2]]) != digest([1, 2])
    assert digest({"a": 1.0}) != digest({"a": 1})


def test_what_has_no_digest_stops_the_audit() -> None:
    """Silence would pass for equality."""
    with pytest.raises(NotComparable, match="neither a dataclass"):
        audit_learner(lambda data, epsilon: declare("something", object()), PAIRS["add-remove"])


# -- what is booked ----------------------------------------------------------------------------------------------------


def counts_for(data: PrivateDataset, epsilon: Fraction) -> Any:
    """Noise for all of epsilon, on the books of nobody."""
    return tuple(current_source().laplace(true_counts(data), float(data.ledger.steps / epsilon)).tolist())


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("complete", [0, 1000])
def test_a_learner_that_books_less_than_it_loses_within_its_claim(neighbours: str, complete: int) -> None:
    def learner(data: PrivateDataset, epsilon: Fraction, share: Fraction) -> Any:
        data.ledger.charge(epsilon * share, "counts").redeem()
        if complete:  # a choice, for which every outcome can be walked
            score, scale = true_counts(data).astype(np.float64), float(data.ledger.steps / epsilon)
            return current_source().exponential(score, scale)
        return counts_for(data, epsilon)

    how: dict[str, Any] = {"neighbours": neighbours, "transcripts": 4, "complete": complete}
    found = audit_learner(lambda data, eps: learner(data, eps, Fraction(1, 4)), PAIRS[neighbours], **how)
    assert found.lower_bound <= 1 + 1e-9
    assert found.verdict == "violated"
    assert "the certificate has booked 0.25" in found.reason
    assert found.to_dict()["unbooked"] == pytest.approx(found.lower_bound - 0.25)
    assert audit_learner(lambda data, eps: learner(data, eps, Fraction(1)), PAIRS[neighbours], **how).verdict == "holds"


@dataclass(frozen=True)
class BooksHalf(DiffPID3):
    """Grows its tree on a ledger of its own, and tells the other one of half."""

    def grow(self, data: PrivateDataset, epsilon: Fraction, random: Any, progress: Any = None) -> Tree:
        data.ledger.charge(epsilon / 2, "a tree")
        own = PrivateDataset(data._engine, Ledger(epsilon, neighbours=data.ledger.neighbours))
        return super().grow(own, epsilon, random, progress)


def test_a_recipe_that_books_half_is_caught() -> None:
    found = exact(BooksHalf(max_depth=1), zoo()[:6], transcripts=4)
    assert found.lower_bound <= 1 + 1e-9
    assert found.verdict == "violated"


def test_what_a_fit_has_paid_does_not_hide_another_loss() -> None:
    """Counts for nine tenths, booked as one tenth, beside a fit for nine tenths: all on the books is 1."""

    def learner(data: PrivateDataset, epsilon: Fraction, share: Fraction) -> Any:
        data.ledger.charge(epsilon / 10, "counts").redeem()
        return counts_for(data, epsilon * share), fitted(data, epsilon * Fraction(9, 10), "", 0)

    how: dict[str, Any] = {"transcripts": 4, "complete": 0}
    found = audit_learner(lambda d, e: learner(d, e, Fraction(9, 10)), PAIRS["add-remove"], **how)
    assert found.verdict == "violated"
    assert found.lower_bound < 1
    assert audit_learner(lambda d, e: learner(d, e, Fraction(1, 10)), PAIRS["add-remove"], **how).verdict == "holds"


def test_fits_of_disjoint_records_are_not_a_violation() -> None:
    def learner(data: PrivateDataset, epsilon: Fraction) -> Any:
        one, other = data.partition(Multiway(0))
        return tuple(one.class_counts(epsilon).values()), fitted(other, epsilon, "", 0)

    assert audit_learner(learner, PAIRS["add-remove"], transcripts=4, complete=0).verdict == "holds"


# -- beside the trees --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SaysInNotes(DiffPID3):
    """The number of records in the sentences that a model has for its reader."""

    def survey(self, prelude: Prelude) -> tuple[Recipe, Prelude]:
        recipe, surveyed = super().survey(prelude)
        return recipe, surveyed.note(f"fitted on {int(true_counts(prelude.data).sum())} records")


def test_a_number_in_the_notes_of_a_model_is_caught() -> None:
    found = exact(SaysInNotes(max_depth=1), zoo()[:3], transcripts=2)
    assert (found.verdict, found.lower_bound) == ("violated", math.inf)
