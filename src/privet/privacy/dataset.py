"""``PrivateDataset``: all that an analyst holds of private records, with the questions it answers (after PINQ)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError, PrivacyError
from privet.kinds import ChargeKind
from privet.privacy import counting, mechanisms
from privet.privacy.answers import Answer
from privet.privacy.asking import Asking
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.counting import ROOT, Coins, Engine, Partition, Tally, descend, look_up, only, refine
from privet.privacy.fits.calibration import Calibration, FitLayout, calibrate
from privet.privacy.fits.perturbed_fit import OBJECTIVE, Fit, release_fit
from privet.privacy.fits.term_choice import check_choice, choose_terms
from privet.privacy.ledger import Certificate, Ledger
from privet.privacy.level import Level
from privet.privacy.losses import Loss
from privet.privacy.mechanisms import Selection
from privet.privacy.narrowing import narrow
from privet.privacy.noise import current_source, declare
from privet.privacy.scores import LogLoss, Score
from privet.privacy.sealed import Sealed
from privet.schema import Schema
from privet.schema.fingerprint import fingerprint
from privet.structure.comparisons import Comparison, Op, code_names, column_of
from privet.structure.evidence import Evidence
from privet.structure.grammar import parse_question
from privet.structure.questions import Ask, Question
from privet.structure.routes import Routes
from privet.structure.splits import Test, Tests, check_test

Floats = npt.NDArray[np.float64]
Strs = tuple[str, ...]


class PrivateDataset(Sealed):
    """Private records behind a schema and a budget.

    Build one with :func:`privet.protect`. Its representation shows the schema and the budget and nothing else; it
    has no length, cannot be iterated, turned into an array, copied or pickled.

    Every query takes the epsilon it may spend, charges it to the ledger and only then draws noise. A query past the
    budget raises :class:`~privet.errors.BudgetExceeded`, charges nothing and releases nothing.

    >>> from privet.datasets.clinic import clinic
    >>> import privet
    >>> schema, table = clinic(1000)
    >>> data = privet.protect(table, schema, privet.Ledger(1))
    >>> 900 < data.noisy_count(0.5) < 1100
    True
    >>> data.ask("count where temperature > 38.7", 0.25).within
    12
    >>> data.ledger.remaining
    Fraction(1, 4)
    """

    __slots__ = ("_account", "_cells", "_changed", "_engine", "_notes", "ledger")

    def __init__(
        self, engine: Engine, ledger: Ledger, cells: Partition = ROOT, _account: Ledger | None = None, _notes: Strs = ()
    ) -> None:
        if not isinstance(ledger, Ledger):
            raise ParameterError(f"ledger must be a privet.Ledger, not {type(ledger).__name__}; try Ledger(1.0)")
        if engine.unit != engine.schema.unit:
            raise PrivacyError("rows were not chosen by the unit that the schema declares; open them by privet.protect")
        self._engine = engine
        self._cells = cells
        self._notes = _notes  # comparisons that were snapped to a public cut; answers repeat them
        self.ledger = ledger
        # A part pays here. Keep it private: a group pays for its largest part only, which is wrong for another table.
        self._account = ledger if _account is None else _account
        self._changed = (
            ledger.bind(engine.schema.name, fingerprint(engine.schema), engine.unit) if cells is ROOT else None
        )
        for caveat in (*engine.schema.caveats(), *engine.caveats):
            self._account.add_caveat(caveat)
        if engine.schema.inferred:
            self._account.add_caveat("the schema was read off the private table (epsilon = infinity)", voids=True)

    @property
    def schema(self) -> Schema:
        return self._engine.schema

    # -- questions -------------------------------------------------------------------------------------------------

    def noisy_count(self, epsilon: object) -> int:
        """The number of records, with discrete Laplace noise of scale 1/epsilon."""
        return int(self.level().count_all(epsilon, what="noisy count")[0])

    def class_counts(self, epsilon: object) -> dict[Any, int]:
        """The number of records of each label. The histogram costs epsilon once: a record has one label."""
        noisy = self.level().class_counts_all(epsilon)[0]
        return dict(zip(self.schema.classes, noisy.tolist(), strict=True))

    def ask(self, question: Question | str, epsilon: object) -> Answer:
        """The answer to a question, with its price and error bar. A text is parsed: :mod:`privet.structure.grammar`."""
        asked = parse_question(question) if isinstance(question, str) else question
        if type(asked) is not Question:
            raise ParameterError(parameter="question", problem=f"must be a text, not {type(asked).__name__}")
        how = self._engine, self._cells, self._account, self.ledger.steps, self._notes
        return Asking.of(asked, *how).answer(epsilon)

    def histogram(self, column: str, epsilon: object) -> Answer:
        """The number of records of each value of a column, or in each bin of a number; it costs epsilon once."""
        return self.ask(Question(Ask.HISTOGRAM, column), epsilon)

    def quantiles(self, attribute: str, at: Sequence[object], epsilon: object) -> Answer:
        """Numbers below which these shares of the records lie, such as ``[0.25, 0.5, 0.75]``; each pays its part."""
        return self.ask(Question(Ask.QUANTILES, attribute, at=at), epsilon)

    def most_frequent(self, column: str, epsilon: object) -> Answer:
        """The most frequent value of a column, drawn by the exponential mechanism."""
        return self.ask(Question(Ask.MOST_FREQUENT, column), epsilon)

    def noisy_sum(self, attribute: str, epsilon: object) -> float:
        """The sum of a numeric attribute, values clipped to the declared bounds and quantised to a public step."""
        return float(self.ask(Question(Ask.SUM, attribute), epsilon).value)

    def noisy_average(self, attribute: str, epsilon: object) -> float:
        """The mean of a numeric attribute over the records that have it, clipped to the declared bounds."""
        return float(self.ask(Question(Ask.AVERAGE, attribute), epsilon).value)

    def choose(
        self, tests: Tests, score: Score, epsilon: object, *, selection: Selection | None = None, log_prior: Any = None
    ) -> Test:
        """A good test out of public candidates, by the exponential mechanism or permute-and-flip."""
        prior = None if log_prior is None else np.asarray(log_prior, dtype=np.float64)[None, :]
        by = selection or Selection()
        return tests[int(self.level().choose_all(tests, score, epsilon, selection=by, log_prior=prior)[0])]

    def choose_weight(self, evidence: Evidence, epsilon: object, *, log_prior: Any = None) -> int:
        """The number of a candidate weight, chosen for a small log-loss of public trees' evidence on these records."""
        if type(evidence) is not Evidence or evidence.routes.schema != self.schema:
            raise ParameterError("evidence must be an Evidence of trees over this schema")
        prior = None if log_prior is None else np.asarray(log_prior, dtype=np.float64)[None, :]
        by, score = Selection(), LogLoss(evidence.most)
        mechanisms.check_candidates(by, (1, evidence.weights.size), None, prior)
        what, scale = "weight of the evidence", evidence.most * self.ledger.steps / parse_epsilon(epsilon)
        receipt = self._account.charge(epsilon, what, kind=ChargeKind.CHOICE, mechanism=by.mechanism, scale=scale)
        declare(what, self._cells, evidence, log_prior)
        worth = score.node(self._engine.answer([counting.LossSums(self._cells, evidence)])[0])
        return int(mechanisms.choose(worth, score, receipt, by, terms=1, log_prior=prior)[0])

    def perturbed_fit(
        self, plan: Fit, shape: FitLayout, loss: Loss, *, routes: Routes | None = None, what: str = "perturbed fit"
    ) -> tuple[list[Floats], Calibration]:
        """Fit the public ``plan`` with noise in its objective; the numbers of each term, and the noise they have.

        With ``routes``, a public tree, a term without attributes looks at the leaf that a record arrives at.
        """
        cells = self._cells if routes is None else descend(self._cells, routes)
        plan.check(self.schema, cells.size)
        shape.check(plan.terms, self.schema)
        calibration = calibrate(shape, loss / self.ledger.steps)
        receipt = self._account.charge(loss, what, kind=ChargeKind.FIT, mechanism=OBJECTIVE.format(calibration.law))
        return release_fit(self._engine, cells, plan, calibration, receipt), calibration

    def choose_terms(
        self,
        plan: Fit,
        penalties: Sequence[float],
        count: int,
        epsilon: object,
        *,
        routes: Routes | None = None,
        what: str = "choice of terms",
    ) -> list[int]:
        """The numbers of ``count`` terms of the plan that explain most of what its background leaves unexplained."""
        cells = self._cells if routes is None else descend(self._cells, routes)
        plan.check(self.schema, cells.size)
        check_choice(penalties, len(plan.terms), count)
        receipt = self._account.charge(epsilon, what, kind=ChargeKind.CHOICE, mechanism="exponential over terms")
        return choose_terms(self._engine, cells, plan, penalties, count, receipt)

    # -- parts -----------------------------------------------------------------------------------------------------

    def where(self, column: str, op: str, value: Any = None) -> PrivateDataset:
        """The records that meet a comparison: ``where("age", ">", 63.7)``, ``where("ward", "in", ["A", "B"])``.

        The operators are is (=), in, at_most (<=), above (>) and missing. This makes no question cheaper.
        """
        engine, cells, snapped = narrow(self._engine, self._cells, [Comparison(column, Op.parse(op), value)])
        return PrivateDataset(engine, self.ledger, cells, self._account, (*self._notes, *snapped))

    @overload
    def partition(self, by: Test) -> tuple[PrivateDataset, ...]: ...
    @overload
    def partition(self, by: str) -> dict[Any, PrivateDataset]: ...
    def partition(self, by: Test | str) -> tuple[PrivateDataset, ...] | dict[Any, PrivateDataset]:
        """Disjoint parts by a public test, or one for each value of a column (or of the label), by value.

        Asking all of them costs as much as asking the most expensive one. A number has a part for each of its bins.
        """
        if not isinstance(by, str):
            check_test(by, self.schema)
            return self._parts(refine(self._cells, self.schema, [by]))
        names = code_names(self.schema, column_of(self.schema, by))
        cells = look_up(self._cells, self.schema, column_of(self.schema, by), range(len(names)))
        return dict(zip(names, self._parts(cells), strict=True))

    def shards(self, count: int) -> tuple[PrivateDataset, ...]:
        """Disjoint random parts. A coin is tossed for each record, so none changes its part when another is removed."""
        return self._parts(self._shard(count))

    def sample(self, rate: Fraction) -> PrivateDataset:
        """Some of the records: each enters by its own coin, at a public rate. This makes no question cheaper."""
        if not isinstance(rate, Fraction) or not 0 < rate <= 1:
            raise ParameterError(f"rate must be a Fraction above 0 and at most 1, not {rate!r}")
        coins = self._coins()
        declare("sample", rate)
        sides = self._engine.shards(self._cells, 2, lambda _, n: 1 * (coins(rate.denominator, n) >= rate.numerator))
        return PrivateDataset(self._engine, self.ledger, only(sides, 0), self._account, self._notes)  # 0: enters

    def level(self, shards: int = 1) -> Level:
        """These records as the single cell of a level, to grow a tree from; or cut into ``shards``, for a forest."""
        return Level(self._engine, self._cells if shards == 1 else self._shard(shards), self._account)

    def descend_each(self, routes: Routes) -> list[Level]:
        """The leaves of each public tree: one level per tree, counted in one pass. All records go down every tree."""
        levels = [Level(self._engine, descend(self._cells, routes.tree(t)), self._account) for t in range(len(routes))]
        answers = self._engine.answer([Tally(level._cells) for level in levels])
        for level, answer in zip(levels, answers, strict=True):
            level._class_counts = answer[:, 0]
        return levels

    @contextmanager
    def for_work(self, loss: object, work: str, schema: Schema) -> Iterator[PrivateDataset]:
        """These records for one piece of work, which reserves its price, with numbers cut as ``schema`` says."""
        with self._account.reserve(loss, work, schema) as account:
            engine = self._cut_anew(schema)
            if self._changed:
                account.add_caveat(self._changed)
            yield PrivateDataset(engine, account, self._cells, account)

    def concentrated(self, loss: Loss, what: str) -> PrivateDataset:
        """These records for work under zCDP, which costs all of ``loss`` at once and then counts in rho."""
        account = self._account._concentrate(loss, what)
        return PrivateDataset(self._engine, account, self._cells, account, self._notes)

    def recut(self, schema: Schema) -> PrivateDataset:
        """The same records on the same account, with numbers cut as ``schema`` says; what it says must be public."""
        return PrivateDataset(self._cut_anew(schema), self.ledger, self._cells, self._account)

    @property
    def can_be_recut(self) -> bool:
        """Whether it is the whole table: a public fact."""
        return self._cells is ROOT

    def can_draw(self, tests: Tests, depth: int) -> bool:
        """Whether the engine can count what a draw of so many levels of binary tests needs: a public fact."""
        with suppress(ParameterError):
            self._engine.check_joint(tests, depth)
            return True
        return False

    def _cut_anew(self, schema: Schema) -> Engine:
        """A part was made with the cuts of its schema, so only the whole table can be cut again."""
        if not self.can_be_recut and schema != self.schema:
            raise ParameterError("a part of a table keeps its cuts, and this work needs others; give the whole table")
        return self._engine.with_schema(schema)

    def add_caveat(self, text: str) -> None:
        """A condition that the certificate must state: that of these records, and of all records they are a part of."""
        self._account.add_caveat(text)

    def charge_nonprivate(self, what: str, why: str) -> None:
        """Record a release that no epsilon covers; refused unless the ledger allows it."""
        self._account.charge_nonprivate(what, why)

    def certificate(self) -> Certificate:
        return self._account.certificate()

    def _shard(self, count: int) -> Partition:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ParameterError(f"count must be a whole number from 1, not {count!r}")
        return self._engine.shards(self._cells, count, self._coins())

    def _coins(self) -> Coins:
        source = current_source()
        if source.caveat is not None:
            self._account.add_caveat(source.caveat, voids=True)
        return source.coins

    def _parts(self, cells: Partition) -> tuple[PrivateDataset, ...]:
        accounts = self._account._parallel(cells.size)
        return tuple(
            PrivateDataset(self._engine, self.ledger, only(cells, i), a, self._notes) for i, a in enumerate(accounts)
        )

    def __repr__(self) -> str:
        names = ", ".join(self.schema.names)
        return f"<PrivateDataset of ({names} -> {self.schema.label.name}), {self._account!r}>"
