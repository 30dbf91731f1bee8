"""The mechanisms' exact distributions, through the real code path up to the sampler.

`ReplayNoise` stands where OpenDP stands and reports the probability of every outcome, so these are exact statements
about probabilities, not about samples. What OpenDP then draws is tested in tests/statistical.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privet import Categorical, Ledger, Numeric, ParameterError, PrivateDataset, Schema, protect
from privet.errors import ReceiptError
from privet.privacy import mechanisms
from privet.privacy.certificate import Charge
from privet.privacy.losses import Loss
from privet.privacy.mechanisms import Selection
from privet.privacy.scores import Gini, InfoGain, Max, Score
from privet.structure.splits import Tests
from privet.testing import Draw, ReplayNoise, neighbouring_tables, schemas, use_noise

ONE_SIDED = Selection("exponential", "one-sided")
TWO_SIDED = Selection("exponential", "two-sided")
FLIP = Selection("permute-and-flip", "one-sided")
SELECTIONS = [ONE_SIDED, TWO_SIDED, FLIP, Selection("permute-and-flip", "two-sided")]
Question = Callable[[PrivateDataset], Any]


def replay(
    schema: Schema, table: Any, question: Question, script: list[int], ledger: Ledger | None = None
) -> ReplayNoise:
    source = ReplayNoise(script)
    with use_noise(source):
        question(protect(table, schema, ledger or Ledger(100)))
    return source


def chances(schema: Schema, table: Any, question: Question, **options: Any) -> np.ndarray:
    """The distribution of the single choice that ``question`` makes."""
    (draw,) = replay(schema, table, question, [0], **options).draws
    return draw.probabilities()


# ---- the slides' examples -----------------------------------------------------------------------------------------

LUNCH = Schema((Categorical("day", ("monday",)),), Categorical("lunch", ("pizza", "pasta", "salad", "soup")))
VOTES = {"day": ["monday"] * 59, "lunch": ["pizza"] * 27 + ["pasta"] * 23 + ["salad"] * 9}


@pytest.mark.parametrize(
    ("epsilon", "expected", "within"),
    [(0.1, [0.40, 0.33, 0.16, 0.10], 0.005), (1, [0.88, 0.12, 1e-4, 1e-6], None)],
)
def test_lunch(epsilon: float, expected: list[float], within: float | None) -> None:
    got = chances(LUNCH, VOTES, lambda d: d.level().choose_labels_all(epsilon, selection=TWO_SIDED))
    weights = np.exp(epsilon * np.array([27, 23, 9, 0]) / 2)
    assert got == pytest.approx(weights / weights.sum(), rel=1e-12)
    if within is not None:
        assert got == pytest.approx(expected, abs=within)
    else:
        assert got[:2] == pytest.approx(expected[:2], abs=0.005)
        assert np.round(np.log10(got[2:])).tolist() == [-4, -6]


ENDS = [0, 2, 3, 5, 7, 10, 11, 12]
PLACES = [2, 3, 5, 7, 10, 11]
RANGE_SCORES = [3, 4, 5, 4, 3, 4, 3]
RANGE_CHANCES = [0.063, 0.086, 0.467, 0.172, 0.095, 0.086, 0.032]
WIDTHS = np.diff(ENDS)
STEP = 0.25
GRID = tuple(np.arange(STEP / 2, 12, STEP).tolist())  # every range holds width / STEP of its points
CLASSES = Categorical("class", ("-", "+"))
WAYS = ["--++-+", "--+++-", "++---+", "++--+-"]  # two tables, and their classes exchanged


def max_scores(labels: tuple[str, ...]) -> list[int]:
    """Max of a threshold inside each range, by counting."""
    found = []
    for at in ENDS[:-1]:
        left = [c for place, c in zip(PLACES, labels, strict=True) if place <= at]
        right = [c for place, c in zip(PLACES, labels, strict=True) if place > at]
        found.append(sum(max(side.count("-"), side.count("+")) for side in (left, right)))
    return found


def slide_tables() -> list[dict[str, list[Any]]]:
    ways = [labels for labels in product("-+", repeat=6) if max_scores(labels) == RANGE_SCORES]
    return [{"x": list(PLACES), "class": list(labels)} for labels in ways]


def test_some_table_has_the_slides_scores() -> None:
    assert ["".join(table["class"]) for table in slide_tables()] == WAYS


def by_range(tests: Tests, points: tuple[float, ...], got: np.ndarray) -> np.ndarray:
    where = np.searchsorted(ENDS, [points[test.cut] for test in tests], side="right") - 1
    return np.bincount(where, weights=got, minlength=7)


@pytest.mark.parametrize("table", slide_tables(), ids=lambda table: "".join(table["class"]))
def test_split_point_on_a_grid(table: dict[str, list[Any]]) -> None:
    schema = Schema((Numeric("x", 0, 12, thresholds=GRID),), CLASSES)
    tests = Tests.binary(schema)
    got = by_range(tests, GRID, chances(schema, table, lambda d: d.choose(tests, Max(), 1)))
    weights = np.exp(RANGE_SCORES) * WIDTHS
    assert got == pytest.approx(weights / weights.sum(), rel=1e-9)
    assert got == pytest.approx(RANGE_CHANCES, abs=0.0005)


def test_split_point_by_a_prior() -> None:
    """One threshold in each range, its width as a public prior: the same probabilities."""
    middles = tuple(((np.array(ENDS[:-1]) + ENDS[1:]) / 2).tolist())
    schema = Schema((Numeric("x", 0, 12, thresholds=middles),), CLASSES)
    tests, prior = Tests.binary(schema), np.log(WIDTHS / 12)
    got = chances(schema, slide_tables()[0], lambda d: d.choose(tests, Max(), 1, log_prior=prior))
    assert by_range(tests, middles, got) == pytest.approx(RANGE_CHANCES, abs=0.0005)


def test_replace_one_at_twice_the_epsilon_is_the_same_choice() -> None:
    ask = {e: (lambda d, e=e: d.level().choose_labels_all(e, selection=TWO_SIDED)) for e in (1, 2)}
    plain = chances(LUNCH, VOTES, ask[1])
    replaced = chances(LUNCH, VOTES, ask[2], ledger=Ledger(2, neighbours="replace-one"))
    assert plain.tolist() == replaced.tolist()


# ---- how much two neighbours can be told apart --------------------------------------------------------------------


def log_ratio(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.abs(np.log(first) - np.log(second)).max())


def choice_loss(
    schema: Schema, pair: Any, relation: str, epsilon: Any, score: Score | None, selection: Selection
) -> float:
    """The privacy loss of the worst outcome of a choice: of a test by ``score``, or of a label without one."""
    tests = Tests.binary(schema)
    if score is None or not len(tests):

        def question(data: PrivateDataset) -> Any:
            return data.level().choose_labels_all(epsilon, selection=selection)
    else:

        def question(data: PrivateDataset) -> Any:
            return data.choose(tests, score, epsilon, selection=selection)

    both = [chances(schema, table, question, ledger=Ledger(100, neighbours=relation)) for table in pair]
    return log_ratio(*both)


def pairs(relation: str, max_records: int = 8) -> st.SearchStrategy[Any]:
    return schemas().flatmap(lambda s: st.tuples(st.just(s), neighbouring_tables(s, relation, max_records)))


epsilons = st.sampled_from([Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(3)])
X = Schema((Categorical("x", ("a", "b")),), Categorical("class", ("yes", "no")))


def labelled(**counts: int) -> dict[str, list[str]]:
    labels = [label for label, count in counts.items() for _ in range(count)]
    return {"x": ["a"] * len(labels), "class": labels}


RARE = (labelled(yes=40), labelled(yes=40, no=1))  # the second label is nearly impossible, and one record helps it
SWAPPED = (labelled(yes=40), labelled(yes=39, no=1))


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("selection", SELECTIONS, ids=lambda s: f"{s.mechanism} {s.constant}")
@given(data=st.data(), epsilon=epsilons, score=st.sampled_from([None, Max(), Gini(), InfoGain(8)]))
def test_a_choice_loses_at_most_epsilon(
    selection: Selection, relation: str, data: st.DataObject, epsilon: Fraction, score: Score | None
) -> None:
    schema, pair = data.draw(pairs(relation))
    assert choice_loss(schema, pair, relation, epsilon, score, selection) <= epsilon + Fraction(1, 10**9)


@pytest.mark.parametrize("selection", [ONE_SIDED, FLIP], ids=lambda s: s.mechanism)
@pytest.mark.parametrize(("relation", "pair"), [("add-remove", RARE), ("replace-one", SWAPPED)])
def test_the_one_sided_constant_uses_all_of_epsilon(relation: str, pair: Any, selection: Selection) -> None:
    loss = choice_loss(X, pair, relation, 1, None, selection)
    assert 0.999 < loss <= 1 + 1e-9


def test_the_two_sided_constant_leaves_half_of_epsilon() -> None:
    assert 0.49 < choice_loss(X, RARE, "add-remove", 1, None, TWO_SIDED) <= 0.5 + 1e-9


def test_one_sided_choices_would_overspend_if_replace_one_were_not_halved() -> None:
    """The factor of the relation is needed: at add/remove's epsilon a replaced record costs twice as much."""
    assert choice_loss(X, SWAPPED, "add-remove", 1, None, ONE_SIDED) > 1.9


def test_a_bound_that_is_too_small_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from privet.privacy.scores import Hits

    monkeypatch.setattr(Hits, "sensitivity", Fraction(1, 2))
    assert choice_loss(X, RARE, "add-remove", 1, None, ONE_SIDED) > 1.9
    assert choice_loss(X, RARE, "add-remove", 1, None, FLIP) > 1.9


def count_loss(schema: Schema, pair: Any, relation: str, question: Question, outcome: list[int]) -> float:
    both = [replay(schema, t, question, outcome, Ledger(100, neighbours=relation)) for t in pair]
    return abs(both[0].log_probability - both[1].log_probability)


def every_attribute(data: PrivateDataset) -> Any:
    return np.ones((1, len(data.schema.attributes)), dtype=int)  # ones, not True: a mask all the same


QUESTIONS: dict[str, Question] = {
    "count": lambda d: d.noisy_count(1),
    "classes": lambda d: d.class_counts(1),
    "attributes": lambda d: d.level().attribute_counts_all(1, every_attribute(d)),
    "bins": lambda d: d.level().attribute_counts_all(1, every_attribute(d), by_class=False),
}


def exact_values(schema: Schema, table: Any, question: Question) -> list[int]:
    """What the question would answer without noise: the outcomes where neighbours differ most."""
    source = Exact()
    with use_noise(source):
        question(protect(table, schema, Ledger(100)))
    return source.seen


class Exact(ReplayNoise):
    def __init__(self) -> None:
        super().__init__([])
        self.seen: list[int] = []

    def laplace(self, values: Any, scale: float) -> Any:
        self.seen += values.ravel().tolist()
        return values.copy()


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("name", QUESTIONS)
@given(data=st.data())
def test_counts_lose_at_most_epsilon(name: str, relation: str, data: st.DataObject) -> None:
    schema, pair = data.draw(pairs(relation))
    for table in pair:
        outcome = exact_values(schema, table, QUESTIONS[name])
        assert count_loss(schema, pair, relation, QUESTIONS[name], outcome) <= 1 + 1e-9


@pytest.mark.parametrize("name", QUESTIONS)
def test_counts_use_all_of_epsilon(name: str) -> None:
    pair = labelled(yes=3), labelled(yes=4)
    outcome = exact_values(X, pair[0], QUESTIONS[name])
    assert count_loss(X, pair, "add-remove", QUESTIONS[name], outcome) == pytest.approx(1)


NUMBERS = Schema(
    (Numeric("x", -3, 10, integer=True), Numeric("y", 2, 7, missing="?"), Numeric("z", 100, 101)),
    Categorical("class", ("yes", "no")),
)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("attribute", ["x", "y", "z"])
@pytest.mark.parametrize("query", ["noisy_sum", "noisy_average"])
@given(data=st.data())
def test_sums_lose_at_most_epsilon(query: str, attribute: str, relation: str, data: st.DataObject) -> None:
    pair = data.draw(neighbouring_tables(NUMBERS, relation))

    def question(d: PrivateDataset) -> Any:
        return getattr(d, query)(attribute, 1)

    for table in pair:
        outcome = exact_values(NUMBERS, table, question)
        assert count_loss(NUMBERS, pair, relation, question, outcome) <= 1 + 1e-9


@pytest.mark.parametrize(("query", "least"), [("noisy_sum", 0.999), ("noisy_average", 0.9)])
@pytest.mark.parametrize(("attribute", "value"), [("x", 1e9), ("y", 7), ("z", math.inf)])
def test_sums_use_all_of_epsilon(query: str, least: float, attribute: str, value: float) -> None:
    """A record at the farther bound (clipped to it, if need be) is what the noise is for."""
    without: dict[str, list[Any]] = {"x": [], "y": [], "z": [], "class": []}
    record = {"x": 0, "y": 3, "z": 100, "class": "yes"} | {attribute: value}
    pair = without, {name: [cell] for name, cell in record.items()}

    def question(d: PrivateDataset) -> Any:
        return getattr(d, query)(attribute, 1)

    loss = count_loss(NUMBERS, pair, "add-remove", question, exact_values(NUMBERS, without, question))
    assert least < loss <= 1 + 1e-9


# ---- receipts and refusals ----------------------------------------------------------------------------------------


def test_the_scale_is_that_of_the_receipt() -> None:
    for epsilon in (0.1, Fraction(1, 3), 7):
        for relation, steps in (("add-remove", 1), ("replace-one", 2)):
            ledger = Ledger(100, neighbours=relation)
            (draw,) = replay(X, labelled(yes=1), lambda d, e=epsilon: d.noisy_count(e), [0], ledger).draws
            exact = steps / Fraction(str(epsilon))
            assert exact <= Fraction(draw.scale) <= exact * (1 + Fraction(1, 2**51))  # rounded up, never down


def test_a_receipt_is_good_for_one_release() -> None:
    receipt = Ledger(1).charge(1, "twice")
    counts = np.array([1])
    with use_noise(ReplayNoise([0])) as source:
        mechanisms.noisy_counts(counts, receipt)
        with pytest.raises(ReceiptError, match="twice"):
            mechanisms.noisy_counts(counts, receipt)
        with pytest.raises(ReceiptError, match="twice"):
            mechanisms.choose(np.zeros((1, 2)), Max(), receipt, ONE_SIDED, terms=1)
    assert isinstance(source, ReplayNoise)
    assert len(source.draws) == 1


def test_only_allowed_candidates_are_drawn() -> None:
    receipt = Ledger(1)._charge(Charge("choice", Loss(1), Loss(1)), 2)
    allowed = np.array([[False, True, True], [True, False, False]])
    with use_noise(ReplayNoise([1, 0])) as source:
        chosen = mechanisms.choose(np.arange(6.0).reshape(2, 3), Max(), receipt, ONE_SIDED, terms=1, allowed=allowed)
    assert chosen.tolist() == [2, 0]
    assert isinstance(source, ReplayNoise)
    assert [draw.values.tolist() for draw in source.draws] == [[1, 2], [3]]


def test_a_candidate_of_prior_zero_is_never_drawn() -> None:
    prior = np.log([1.0, np.finfo(float).tiny, 1.0])
    prior[1] = -np.inf
    receipt = Ledger(1).charge(1, "choice")
    with use_noise(ReplayNoise([0])) as source:
        mechanisms.choose(np.array([[0.0, 50.0, 0.0]]), Max(), receipt, ONE_SIDED, terms=1, log_prior=prior[None])
    assert isinstance(source, ReplayNoise)
    assert source.draws[0].probabilities() == pytest.approx([0.5, 0, 0.5])


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "prior with permute-and-flip": ({"selection": FLIP, "log_prior": np.zeros((1, 1))}, "uniform prior"),
    "prior with NaN": ({"log_prior": np.array([[math.nan]])}, "log_prior"),
    "prior with infinity": ({"log_prior": np.array([[math.inf]])}, "log_prior"),
    "nothing allowed": ({"allowed": np.zeros((1, 1), dtype=bool)}, "no candidate"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_choice_charges_and_draws_nothing(name: str) -> None:
    options, message = REFUSED[name]
    ledger, source = Ledger(1), ReplayNoise([])
    with use_noise(source), pytest.raises(ParameterError, match=message):
        protect(labelled(yes=1), X, ledger).level().choose_all(Tests.binary(X), Max(), 1, **options)
    assert ledger.spent == 0
    assert not source.draws


@pytest.mark.parametrize("options", [{"mechanism": "argmax"}, {"constant": "none"}])
def test_an_unknown_selection_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        Selection(**options)


def test_a_sensitivity_of_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="sensitivity"):
        mechanisms.noisy_counts(np.array([1]), Ledger(1).charge(1, "count"), reach=mechanisms.Reach(0))


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=6), st.floats(0.1, 10))
@example([0.0, 0.0], 1.0)
def test_permute_and_flip_is_never_worse_than_the_exponential_mechanism(scores: list[float], scale: float) -> None:
    values = np.array(scores)
    loss = [
        float((values.max() - values) @ Draw(kind, values, scale).probabilities())
        for kind in ("permute-and-flip", "exponential")
    ]
    assert loss[0] <= loss[1] + 1e-9
