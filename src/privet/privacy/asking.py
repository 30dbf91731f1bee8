"""Answers to questions by value: exact numbers from the engine, through one mechanism, with an error bar.

A question is a closed value (:class:`~privet.structure.questions.Question`). Its parts are disjoint, so a record moves
the numbers of one part only. Each method below states how much a record can change them, next to the release; the proof
is ``docs/proofs/questions.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from privet.kinds import ChargeKind
from privet.privacy import mechanisms
from privet.privacy.answers import MISSED, Answer, Row, choice_reach, laplace_reach
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.counting import Engine, LevelSum, Partition, Tally, class_counts, level_sums, look_up
from privet.privacy.ledger import Ledger, Receipt
from privet.privacy.mechanisms import LAPLACE, Reach, Selection
from privet.privacy.narrowing import narrow, possible_codes, recut
from privet.privacy.noise import declare
from privet.privacy.scores import Hits, Rank
from privet.schema import Categorical, Numeric, Schema
from privet.structure.comparisons import LABEL, code_names, column_of, cut_finer
from privet.structure.questions import Ask, Question, fact_of
from privet.tables.encoding import Quantum

GRID = 2**14  # bins among which a quantile is drawn: their number enters the error by its logarithm only
MOST_COUNTS = 2**20  # bins of all parts together
BY_WEIGHT, BY_RANK = Selection(), Selection(constant="two-sided")  # a record moves ranks to both sides


@dataclass(frozen=True)
class Asking:
    """One question, asked of the records of a cell; ``account`` pays, in ``steps`` of the neighbour relation."""

    question: Question
    engine: Engine
    cells: Partition  # one part of the records in each cell
    parts: tuple[str | None, ...]
    account: Ledger
    steps: int
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, question: Question, engine: Engine, cells: Partition, account: Ledger, steps: int, notes: tuple[str, ...]
    ) -> Asking:
        """The question, ready to be paid for. All that could refuse it is public, and refuses it here."""
        question.check(engine.schema)
        engine, cells, snapped = narrow(engine, cells, question.where)
        if question.ask is Ask.QUANTILES:
            engine, cells = recut(engine, cells, _gridded(engine.schema, question))
        question.check(engine.schema)
        parts: tuple[str | None, ...] = (None,)
        if question.by is not None:
            schema, place = engine.schema, column_of(engine.schema, question.by)
            names, kept = _names(schema, place, cells)
            table = np.where(kept, np.cumsum(kept) - 1, -1)
            parts, cells = tuple(names), look_up(cells, schema, place, table.tolist())
        return cls(question, engine, cells, parts, account, steps, (*notes, *snapped))

    @property
    def schema(self) -> Schema:
        return self.engine.schema

    def answer(self, epsilon: object) -> Answer:
        """Pay, and draw."""
        price = parse_epsilon(epsilon)
        declare("question", str(self.question), self.cells)
        match self.question.ask:
            case Ask.COUNT | Ask.CLASS_COUNTS | Ask.HISTOGRAM:
                rows = self._counts(price)
            case Ask.SUM:
                rows = self._sums(price)
            case Ask.AVERAGE:
                rows = self._averages(price)
            case Ask.QUANTILES:
                rows = self._quantiles(price)
            case Ask.MOST_FREQUENT:
                rows = self._most_frequent(price)
        return Answer(self.question, tuple(rows), price, self.notes)

    # -- counts and sums: discrete Laplace noise -------------------------------------------------------------------

    def _counts(self, price: Fraction) -> list[Row]:
        """A record is in one bin of one part: it moves one count, by 1."""
        kinds = {Ask.COUNT: ChargeKind.COUNT, Ask.CLASS_COUNTS: ChargeKind.CLASS_COUNTS}
        receipt = self._pay(price, kinds.get(self.question.ask, ChargeKind.ATTRIBUTE_COUNTS), 1)
        reach = laplace_reach(float(self.steps / price))
        if self.question.ask is Ask.COUNT:
            exact = class_counts(self.engine, self.cells).sum(axis=1)
            noisy = mechanisms.noisy_counts(exact, receipt).tolist()
            return [Row(count, reach, part) for part, count in zip(self.parts, noisy, strict=True)]
        of = self.question.of or self.schema.label.name
        names, kept = _names(self.schema, column_of(self.schema, of), self.cells)
        noisy = mechanisms.noisy_counts(self._bins(of)[:, kept], receipt).tolist()
        ends = _ends(self.schema, of)
        edges = [ends[code] for code in np.flatnonzero(kept)] if ends else [None] * len(names)
        return [
            Row(count, reach, part, name, between)
            for part, row in zip(self.parts, noisy, strict=True)
            for name, between, count in zip(names, edges, row, strict=True)
        ]

    def _sums(self, price: Fraction) -> list[Row]:
        """A record moves the sum of one part, by at most the bound of a quantised value."""
        index, quantum = self._quantum()
        receipt = self._pay(price, ChargeKind.SUM, quantum.bound)
        exact = level_sums(self.engine, self.cells, index)
        noisy = mechanisms.noisy_counts(exact, receipt, reach=Reach(quantum.bound))
        reach = laplace_reach(float(quantum.bound * self.steps / price)) * quantum.step
        return [Row(float(total) * quantum.step, reach, part) for part, total in zip(self.parts, noisy, strict=True)]

    def _averages(self, price: Fraction) -> list[Row]:
        """A record moves the scaled count of one part by ``reach``, and its centred sum by at most ``reach``.

        Count and sum are one vector with one charge, and the mean follows from them.
        """
        index, quantum = self._quantum()
        middle = (quantum.low + quantum.high) // 2
        reach = max(1, quantum.high - middle)  # never less than middle - low
        receipt = self._pay(price, ChargeKind.SUM, 2 * reach)
        bins, sums = self.engine.answer([Tally(self.cells, ((index,),)), LevelSum(self.cells, index)])
        number = self.schema.attributes[index]
        assert isinstance(number, Numeric)
        count = bins[:, : len(number.cuts) + 1].sum(axis=(1, 2))
        exact = np.stack([count * reach, sums - middle * count])
        noisy = mechanisms.noisy_counts(exact, receipt, reach=Reach(2 * reach))
        # Both numbers are within `off` but for 5 % of the cases, and then so is the mean, see the proof.
        off = laplace_reach(float(2 * reach * self.steps / price), MISSED / 2)
        rows = []
        for part, scaled, centred in zip(self.parts, noisy[0].tolist(), noisy[1].tolist(), strict=True):
            records = scaled / reach
            mean = middle + centred / max(records, 1.0)
            clipped = float(np.clip(mean, quantum.low, quantum.high))
            width = float(quantum.high - quantum.low)
            sure = records - off / reach
            within = min((off + abs(mean - middle) * off / reach) / sure, width) if sure > 0 else width
            rows.append(Row(clipped * quantum.step, within * quantum.step, part))
        return rows

    # -- choices: the exponential mechanism ------------------------------------------------------------------------

    def _quantiles(self, price: Fraction) -> list[Row]:
        """One draw for each share, which pays an equal part; each is drawn in every part of the records."""
        of = self.question.of or ""
        number = fact_of(self.schema, of)
        assert isinstance(number, Numeric)
        each = price / len(self.question.at)
        _, kept = _names(self.schema, column_of(self.schema, of), self.cells)
        codes = np.flatnonzero(kept[: len(number.cuts) + 1])
        points = np.array([_point(number, int(code)) for code in codes])
        found, reaches = [], []
        with self.account.reserve(price, str(self.question)) as account:
            counts = None
            for share in self.question.at:
                score = Rank(share)
                receipt = self._pay(each, ChargeKind.CHOICE, score.sensitivity * BY_RANK.factor, account)
                counts = self._bins(of)[:, codes] if counts is None else counts
                drawn = mechanisms.choose(score.node(counts), score, receipt, BY_RANK, terms=1)
                found.append(points[drawn])
                scale = score.sensitivity * BY_RANK.factor * self.steps / (each * share.denominator)
                reaches.append(math.ceil(choice_reach(float(scale), len(codes))))
        # Shares in ascending order have ascending quantiles; sorting moves none further from its place.
        order = np.argsort([float(share) for share in self.question.at], kind="stable")
        table = np.array(found)
        table[order] = np.sort(table, axis=0)
        return [
            Row(float(table[s, p]), reaches[s], part, f"{float(share):g}")
            for p, part in enumerate(self.parts)
            for s, share in enumerate(self.question.at)
        ]

    def _most_frequent(self, price: Fraction) -> list[Row]:
        """A record adds 1 to the count of one value in one part, so all counts move one way, by at most 1."""
        of = self.question.of or ""
        fact, score = fact_of(self.schema, of), Hits()
        assert isinstance(fact, Categorical)
        _, kept = _names(self.schema, column_of(self.schema, of), self.cells)
        codes = np.flatnonzero(kept)
        receipt = self._pay(price, ChargeKind.CHOICE, score.sensitivity, mechanism=BY_WEIGHT.mechanism)
        drawn = mechanisms.choose(score.node(self._bins(of)[:, codes]), score, receipt, BY_WEIGHT, terms=1)
        reach = math.ceil(choice_reach(float(self.steps / price), len(codes)))
        return [Row(fact.values[codes[i]], reach, part) for part, i in zip(self.parts, drawn.tolist(), strict=True)]

    # -- inside ----------------------------------------------------------------------------------------------------

    def _pay(
        self,
        price: Fraction,
        kind: ChargeKind,
        sensitivity: int | Fraction,
        account: Ledger | None = None,
        mechanism: str = "",
    ) -> Receipt:
        mechanism = mechanism or (LAPLACE if kind is not ChargeKind.CHOICE else BY_RANK.mechanism)
        scale = Fraction(sensitivity) * self.steps / price
        payer = self.account if account is None else account
        return payer.charge(price, str(self.question), kind=kind, mechanism=mechanism, scale=scale)

    def _bins(self, of: str) -> npt.NDArray[np.int64]:
        """(part, code) counts of a column."""
        place = column_of(self.schema, of)
        if place == LABEL:
            return class_counts(self.engine, self.cells)
        return np.asarray(self.engine.answer([Tally(self.cells, ((place,),))])[0].sum(axis=2))

    def _quantum(self) -> tuple[int, Quantum]:
        index = column_of(self.schema, self.question.of or "")
        number = self.schema.attributes[index]
        assert isinstance(number, Numeric)
        return index, Quantum.of(number)


def _names(schema: Schema, place: int, cells: Partition) -> tuple[list[str], npt.NDArray[np.bool_]]:
    """The codes of a column that a record here can have, in words, and which of all codes they are."""
    names = code_names(schema, place)
    kept = possible_codes(cells, schema).get(place, np.ones(len(names), dtype=np.bool_))
    return [str(names[code]) for code in np.flatnonzero(kept)], kept


def _ends(schema: Schema, of: str) -> list[tuple[float, float] | None] | None:
    """The bounds of each bin of a number, None for the missing ones; None for a category."""
    fact = fact_of(schema, of)
    if isinstance(fact, Categorical):
        return None
    edges = [fact.low, *fact.cuts.tolist(), fact.high]
    missing: list[tuple[float, float] | None] = [] if fact.missing is None else [None]
    return [*pairwise(edges), *missing]


def _point(number: Numeric, code: int) -> float:
    """The number that a bin is shown as: its middle, or the middle one of its whole numbers."""
    low = number.low if code == 0 else float(number.cuts[code - 1])
    high = float(number.cuts[code]) if code < len(number.cuts) else number.high
    if not number.integer:  # no more digits than the bin has
        return round(low + (high - low) / 2, max(0, 1 - math.floor(math.log10(high - low))))
    first = math.ceil(low) if code == 0 else math.floor(low) + 1
    return float((first + math.floor(high)) // 2)


def _gridded(schema: Schema, question: Question) -> Schema:
    """The schema with the fine grid of a quantile's number."""
    place = column_of(schema, question.of or "")
    number = schema.attributes[place]
    assert isinstance(number, Numeric)
    parts = 1 if question.by is None else fact_of(schema, question.by).arity
    grid = replace(number, thresholds=None, bins=min(GRID, MOST_COUNTS // parts)).cuts
    attributes = list(schema.attributes)
    attributes[place] = cut_finer(number, grid.tolist())
    return replace(schema, attributes=tuple(attributes))
