"""Questions by value: known answers, what a record can do to them, error bars, and the books."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet
from privet import Categorical, Ledger, Numeric, PrivateDataset, Schema
from privet.audit import audit_learner, zoo
from privet.engines.opening import open_engine
from privet.errors import BudgetExceeded, ParameterError
from privet.privacy.answers import laplace_reach
from privet.privacy.scores import Rank
from privet.testing import SeededNoise, ZeroNoise, use_noise

SCHEMA = Schema(
    (
        Numeric("age", 0, 120, integer=True),
        Numeric("heat", 35, 42, missing="?", bins=7),
        Categorical("ward", ("A", "B", "C")),
    ),
    Categorical("ill", ("no", "yes")),
)
TABLE: dict[str, list[Any]] = {
    "age": [12, 30, 63, 64, 80, 80, 99, 150],
    "heat": [36, 36.5, 37.2, "?", 38.1, 39, 40, 41.5],
    "ward": ["A", "A", "B", "B", "B", "A", "C", "A"],
    "ill": ["no", "no", "no", "yes", "yes", "yes", "no", "no"],
}


def protect(ledger: Ledger | None = None, table: dict[str, list[Any]] = TABLE) -> PrivateDataset:
    columns = {name: np.array(column, dtype=object) for name, column in table.items()}
    return privet.protect(columns, SCHEMA, ledger or Ledger(100))


KNOWN = [
    ("count", {None: 8}),
    ("count where age > 63.7", {None: 5}),
    ("count where age > 63.7 by ward", {"A": 2, "B": 2, "C": 1}),
    ("count where ward in (A, C) by ward", {"A": 4, "C": 1}),
    ("count where heat is missing by ill", {"no": 0, "yes": 1}),
    ("count where ill = yes and age <= 79", {None: 1}),
    ("class counts where ward = B", {"no": 1, "yes": 2}),
    ("class counts by ward", {("A", "no"): 3, ("A", "yes"): 1, ("B", "no"): 1, ("B", "yes"): 2,
                              ("C", "no"): 1, ("C", "yes"): 0}),
    ("histogram of ward", {"A": 4, "B": 3, "C": 1}),
    ("histogram of heat where heat > 38", {"38 < heat <= 39": 2, "39 < heat <= 40": 1, "40 < heat <= 41": 0,
                                           "heat > 41": 1}),
    ("sum of age where ward = A", {None: 12 + 30 + 80 + 120}),
    ("average of age by ill", {"no": (12 + 30 + 63 + 99 + 120) / 5, "yes": (64 + 80 + 80) / 3}),
    ("quantiles 0.1, 0.5, 0.9 of age", {"0.1": 12, "0.5": 64, "0.9": 120}),
    ("median of age by ward", {("A", "0.5"): 30, ("B", "0.5"): 64, ("C", "0.5"): 99}),
    ("median of age where age > 63.7", {"0.5": 80}),
    ("most frequent ward", {None: "A"}),
    ("most frequent ill where age in (80, 64)", {None: "yes"}),
    ("most frequent ward by ill", {"no": "A", "yes": "B"}),
]  # fmt: skip


@pytest.mark.parametrize(("question", "known"), KNOWN)
def test_without_noise_the_answers_are_known(question: str, known: dict[Any, Any]) -> None:
    data = protect()
    with use_noise(ZeroNoise()):
        found = data.ask(question, Fraction(1, 2))
    for key, value in known.items():
        assert found.values[key] == (value if isinstance(value, str) else pytest.approx(value, abs=1e-3)), key
    assert found.values.keys() == known.keys()
    assert (found.epsilon, data.ledger.spent, found.notes) == (Fraction(1, 2), Fraction(1, 2), ())
    assert f"{found.within:,.4g}" in found.sentence


@pytest.mark.parametrize("kind", ["chunks", "parquet"])
def test_every_engine_answers_the_same(kind: str, tmp_path: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = pa.table({name: pa.array([str(cell) for cell in column]) for name, column in TABLE.items()})
    pq.write_table(texts, tmp_path / "visits.parquet", row_group_size=3)
    source: Any = str(tmp_path / "visits.parquet") if kind == "parquet" else iter_reader(texts)
    data = PrivateDataset(open_engine(source, SCHEMA), Ledger(100))
    with use_noise(ZeroNoise()):
        for question, known in KNOWN:
            found = data.ask(question, 1).values
            assert found == {k: v if isinstance(v, str) else pytest.approx(v, abs=1e-3) for k, v in known.items()}


def iter_reader(table: Any) -> Any:
    return table.to_reader(max_chunksize=3)


def test_parts_and_comparisons_in_any_order() -> None:
    with use_noise(ZeroNoise()):
        data = protect()
        wards = data.partition("ward")
        assert {name: part.noisy_count(1) for name, part in wards.items()} == {"A": 4, "B": 3, "C": 1}
        assert data.ledger.spent == 1, "disjoint parts cost as much as one"
        assert wards["A"].where("age", ">", 63.7).where("age", "<=", 100).noisy_count(1) == 1
        assert [part.noisy_count(1) for part in data.where("heat", ">", 38.05).partition("ill").values()] == [2, 2]
        assert data.where("ward", "in", ["A", "C"]).partition("ward")["C"].where("age", "is", 99).noisy_count(1) == 1
        bins = data.where("age", ">", 63.7).partition("age")
        assert sum(part.noisy_count(1) for part in bins.values()) == 5


def test_a_part_by_coins_keeps_its_cuts_and_says_so() -> None:
    with use_noise(SeededNoise(1)):
        half = protect().shards(2)[0].where("heat", ">", 38.2)
        found = half.ask("count", 1)
        assert half.partition("ward")["A"].ask("count", 1).notes == found.notes
    assert found.notes == ("heat > 38.2 was read as heat > 38: cuts lie on a public grid",)
    assert found.to_dict()["notes"] == list(found.notes)


@given(
    first=st.sampled_from([("age", ">", 40.5), ("heat", "<=", 38.7), ("ward", "in", ["A", "B"])]),
    cut=st.floats(35.1, 41.9),
)
@settings(max_examples=8, deadline=None)
def test_finer_cuts_keep_the_records_of_a_part(first: tuple[str, str, Any], cut: float) -> None:
    with use_noise(ZeroNoise()):
        part = protect().where(*first)
        sides = [part.where("heat", op, cut).noisy_count(1) for op in ("<=", ">")]
        absent = part.where("heat", "missing").noisy_count(1)
        assert sum(sides) + absent == part.noisy_count(1)


QUESTIONS = [
    "count where size > 5",
    "count where size > 2.5 by colour",
    "class counts by smoker",
    "histogram of size",
    "quantiles 0.25, 0.5 of size",
    "median of size by colour",
    "most frequent colour",
    "most frequent class by smoker",
]
NAMES = ("an empty table", "a single record", "a mixed record among three", "duplicated records")
PAIRS = [pair for pair in zoo() if pair.name in NAMES]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_audit_finds_no_more_than_the_price(question: str) -> None:
    def learner(data: PrivateDataset, epsilon: Fraction) -> Any:
        return tuple(str(row.value) for row in data.ask(question, epsilon).rows)

    found = audit_learner(learner, PAIRS, 1, transcripts=6, complete=0)
    assert found.verdict == "holds"
    least = {"quantiles": 0.25, "median": 0.25, "most": 0.6}.get(question.partition(" ")[0], 0.9)
    assert found.lower_bound >= least, "an audit that finds little proves little"


def test_a_part_that_overlaps_another_is_caught() -> None:
    """A planted fault: comparisons are no partition, so asking two of them for the price of one is too cheap."""

    def learner(data: PrivateDataset, epsilon: Fraction) -> Any:
        accounts = data._account._parallel(2)
        asked = (data.where("size", ">", 5), data.where("colour", "is", "red"))
        parts = [PrivateDataset(d._engine, d.ledger, d._cells, a) for d, a in zip(asked, accounts, strict=True)]
        return tuple(part.noisy_count(epsilon) for part in parts)

    assert audit_learner(learner, PAIRS, 1, transcripts=6, complete=0).verdict == "violated"


class Spy(ZeroNoise):
    def __init__(self) -> None:
        super().__init__()
        self.draws: list[tuple[Any, float]] = []

    def laplace(self, values: Any, scale: float) -> Any:
        self.draws.append((values, scale))
        return super().laplace(values, scale)


@pytest.mark.parametrize(
    "question", ["sum of age by ward", "average of heat by ill", "average of age where heat > 38.2"]
)
def test_a_record_moves_sums_by_no_more_than_their_noise_covers(question: str) -> None:
    reached = []
    for record in ([120, 42, "A", "yes"], [0, 38.3, "C", "no"], [60, "?", "B", "no"], [None, 99, "nowhere", "yes"]):
        spy = Spy()
        more = {name: [*column, cell] for (name, column), cell in zip(TABLE.items(), record, strict=True)}
        with use_noise(spy):
            protect().ask(question, 1)
            protect(table=more).ask(question, 1)
        (before, scale), (after, same) = spy.draws
        assert scale == same
        reached.append(np.abs(before - after).sum() / scale)
    assert 0.99 < max(reached) <= 1


@given(
    counts=st.lists(st.integers(0, 5), min_size=1, max_size=8),
    where=st.integers(0, 7),
    share=st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(3, 4), Fraction(9999, 10000)]),
)
def test_a_record_moves_a_rank_by_no_more_than_its_bound(counts: list[int], where: int, share: Fraction) -> None:
    before, score = np.array(counts), Rank(share)
    after = before.copy()
    after[where % len(counts)] += 1
    assert np.abs(score.node(after) - score.node(before)).max() <= float(score.sensitivity)
    if before.sum():
        # The bin of the quantile has the best score there is.
        place = int(np.searchsorted(before.cumsum(), float(share) * before.sum() - 1e-9))
        assert score.node(before)[place] == 0


def test_the_error_bar_of_noise_is_the_least_that_holds() -> None:
    for scale in (0.3, 1.0, 7.5, 400.0):
        a, t = math.exp(-1 / scale), laplace_reach(scale)
        exceeds = lambda t: 2 * a ** (t + 1) / (1 + a)  # noqa: B023, E731
        assert exceeds(t) <= 0.05 * (1 + 1e-9)
        assert t == 0 or exceeds(t - 1) > 0.05


@pytest.mark.parametrize("question", ["count", "sum of age", "average of age", "median of age"])
def test_error_bars_reach_in_95_of_100_cases(question: str) -> None:
    """400 answers, each missed with probability at most 1/20: more than 48 misses have probability below 1e-6
    (binomial tail). A bar of a third of its length would be missed in over 37 % of the cases for Laplace noise."""
    ages = np.random.default_rng(0).integers(0, 121, 500)
    table = {"age": ages.tolist(), "heat": [36] * 500, "ward": ["A"] * 500, "ill": ["no"] * 500}
    data = protect(Ledger(1000), table)
    exact = {"count": 500.0, "sum of age": float(ages.sum()), "average of age": float(ages.mean())}
    missed = 0
    for _ in range(400):
        row = data.ask(question, Fraction(1, 2)).rows[0]
        if question == "median of age":
            below, upto = int((ages < row.value).sum()), int((ages <= row.value).sum())
            missed += max(below - 250, 250 - upto) > row.within
        else:
            missed += abs(row.value - exact[question]) > row.within + 1e-6
    assert missed <= 48


def test_an_answer_past_the_budget_costs_nothing() -> None:
    data = protect(Ledger(Fraction(1, 2)))
    for question in ("count", "quantiles 0.1, 0.2, 0.3 of age", "most frequent ward"):
        with pytest.raises(BudgetExceeded):
            data.ask(question, 1)
    assert data.ledger.spent == 0


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("sum of ward", "'ward' is categorical"),
        ("most frequent age", "'age' is numeric"),
        ("count by height", "no attribute is called 'height'"),
        ("histogram of ward by ward", "must be another column"),
        ("count where ward = D", "the values are A, B, C"),
    ],
)
def test_refusals_cost_nothing(question: str, says: str) -> None:
    data = protect()
    with pytest.raises((ParameterError, privet.errors.SchemaError), match=says):
        data.ask(question, 1)
    assert data.ledger.spent == 0


def test_a_column_of_many_values_gives_no_parts() -> None:
    schema = Schema((Categorical("code", tuple(range(200))),), Categorical("y", ("a", "b")))
    data = privet.protect({"code": [1, 2], "y": ["a", "b"]}, schema, Ledger(1))
    with pytest.raises(ParameterError, match="more than 100 values"):
        data.ask("count by code", 1)
