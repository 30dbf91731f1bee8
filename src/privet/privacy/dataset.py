"""``PrivateDataset``: all that an analyst holds of private records, with the questions it answers (after PINQ)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError, PrivacyError
from privet.kinds import ChargeKind
from privet.privacy import counting, mechanisms
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.counting import ROOT, Coins, Engine, LevelSum, Partition, Tally, descend, level_sums, only, refine
from privet.privacy.fits.calibration import Calibration, FitLayout, calibrate
from privet.privacy.fits.perturbed_fit import OBJECTIVE, Fit, release_fit
from privet.privacy.fits.term_choice import check_choice, choose_terms
from privet.privacy.ledger import Certificate, Ledger, Receipt
from privet.privacy.level import Level, descend_each
from privet.privacy.losses import Loss
from privet.privacy.mechanisms import Selection
from privet.privacy.noise import current_source, declare
from privet.privacy.scores import LogLoss, Score
from privet.schema import Numeric, Schema
from privet.schema.fingerprint import fingerprint
from privet.structure.evidence import Evidence
from privet.structure.routes import Routes
from privet.structure.splits import Test, Tests, check_test
from privet.tables.encoding import Quantum

Floats = npt.NDArray[np.float64]
_REFUSAL = "records leave a PrivateDataset only through its queries; use noisy_count, class_counts, choose, ..."


class PrivateDataset:
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
    >>> data.ledger.remaining
    Fraction(1, 2)
    """

    __slots__ = ("_account", "_cells", "_changed", "_engine", "ledger")

    def __init__(self, engine: Engine, ledger: Ledger, cells: Partition = ROOT, _account: Ledger | None = None) -> None:
        if not isinstance(ledger, Ledger):
            raise ParameterError(f"ledger must be a privet.Ledger, not {type(ledger).__name__}; try Ledger(1.0)")
        if engine.unit != engine.schema.unit:
            raise PrivacyError("rows were not chosen by the unit that the schema declares; open them by privet.protect")
        self._engine = engine
        self._cells = cells
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

    def noisy_sum(self, attribute: str, epsilon: object) -> float:
        """The sum of a numeric attribute, values clipped to the declared bounds and quantised to a public step."""
        index, quantum = self._quantum(attribute)
        receipt = self._charge(epsilon, f"noisy sum of {attribute}", ChargeKind.SUM, quantum.bound)
        exact = level_sums(self._engine, self._cells, index)
        return float(mechanisms.noisy_counts(exact, receipt, sensitivity=quantum.bound)[0]) * quantum.step

    def noisy_average(self, attribute: str, epsilon: object) -> float:
        """The mean of a numeric attribute over the records that have it, clipped to the declared bounds."""
        index, quantum = self._quantum(attribute)
        middle = (quantum.low + quantum.high) // 2
        reach = max(1, quantum.high - middle)  # never less than middle - low
        receipt = self._charge(epsilon, f"noisy average of {attribute}", ChargeKind.SUM, 2 * reach)
        bins, sums = self._engine.answer([Tally(self._cells, ((index,),)), LevelSum(self._cells, index)])
        present = bins[:, :-1] if getattr(self.schema.attributes[index], "missing", None) is not None else bins
        count = present.sum(axis=(1, 2))
        centred = sums - middle * count
        # A record moves the scaled count by reach and the sum by at most reach. Both are one vector with one charge.
        noisy = mechanisms.noisy_counts(np.concatenate([count * reach, centred]), receipt, sensitivity=2 * reach)
        mean = middle + noisy[1] / max(noisy[0] / reach, 1.0)
        return float(np.clip(mean, quantum.low, quantum.high)) * quantum.step

    def choose(
        self, tests: Tests, score: Score, epsilon: object, *, selection: Selection | None = None, log_prior: Any = None
    ) -> Test:
        """A good test out of public candidates, by the exponential mechanism or permute-and-flip."""
        prior = None if log_prior is None else np.asarray(log_prior, dtype=np.float64)[None, :]
        by = selection or Selection()
        return tests[int(self.level().choose_all(tests, score, epsilon, selection=by, log_prior=prior)[0])]

    def choose_weight(self, evidence: Evidence, epsilon: object, *, log_prior: Any = None) -> int:
        """The number of a candidate weight at which what public trees say has a small log-loss on these records."""
        if type(evidence) is not Evidence or evidence.routes.schema != self.schema:
            raise ParameterError("evidence must be an Evidence of trees over this schema")
        prior = None if log_prior is None else np.asarray(log_prior, dtype=np.float64)[None, :]
        by, score = Selection(), LogLoss(evidence.most)
        mechanisms.check_candidates(by, (1, evidence.weights.size), None, prior)
        receipt = self._charge(epsilon, "weight of the evidence", ChargeKind.CHOICE, evidence.most, by.mechanism)
        declare("weight of the evidence", self._cells, evidence, log_prior)
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

    def partition(self, test: Test) -> tuple[PrivateDataset, ...]:
        """Disjoint parts by a public test. Asking all of them costs as much as asking the most expensive one."""
        check_test(test, self.schema)
        return self._parts(refine(self._cells, self.schema, [test]))

    def shards(self, count: int) -> tuple[PrivateDataset, ...]:
        """Disjoint random parts. Each record tosses its own coin, so no record changes its part when another leaves."""
        return self._parts(self._shard(count))

    def sample(self, rate: Fraction) -> PrivateDataset:
        """Some of the records: each enters by its own coin, at a public rate. This makes no question cheaper."""
        if not isinstance(rate, Fraction) or not 0 < rate <= 1:
            raise ParameterError(f"rate must be a Fraction above 0 and at most 1, not {rate!r}")
        coins = self._coins()
        declare("sample", rate)
        sides = self._engine.shards(self._cells, 2, lambda _, n: 1 * (coins(rate.denominator, n) >= rate.numerator))
        return PrivateDataset(self._engine, self.ledger, only(sides, 0), self._account)  # side 0 is "enters"

    def level(self, shards: int = 1) -> Level:
        """These records as the single cell of a level, to grow a tree from; or cut into ``shards``, for a forest."""
        return Level(self._engine, self._cells if shards == 1 else self._shard(shards), self._account)

    def descend_each(self, routes: Routes) -> list[Level]:
        """The leaves of each public tree: one level a tree, counted in one pass. All records go down every tree."""
        return descend_each(self._engine, self._cells, routes, self._account)

    @contextmanager
    def for_work(self, loss: object, work: str, schema: Schema) -> Iterator[PrivateDataset]:
        """These records for one piece of work, which reserves its price, with numbers cut as ``schema`` says."""
        with self._account.reserve(loss, work, schema) as account:
            engine = self._cut_anew(schema)
            if self._changed:
                account.add_caveat(self._changed)
            yield PrivateDataset(engine, account, self._cells, account)

    def recut(self, schema: Schema) -> PrivateDataset:
        """The same records on the same account, with numbers cut as ``schema`` says; what it says must be public."""
        return PrivateDataset(self._cut_anew(schema), self.ledger, self._cells, self._account)

    @property
    def can_be_recut(self) -> bool:
        """Whether it is the whole data set: a public fact."""
        return self._cells is ROOT

    def can_draw(self, tests: Tests, depth: int) -> bool:
        """Whether the engine can count what a draw of so many levels of binary tests needs: a public fact."""
        try:
            self._engine.check_joint(tests, depth)
        except ParameterError:
            return False
        return True

    def _cut_anew(self, schema: Schema) -> Engine:
        """A part was made with the cuts of its schema, so only the whole data set can be cut anew."""
        if not self.can_be_recut and schema != self.schema:
            raise ParameterError("a part of a data set keeps its cuts, and this work wants others; give it the whole")
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
        return tuple(PrivateDataset(self._engine, self.ledger, only(cells, i), a) for i, a in enumerate(accounts))

    def _charge(
        self, epsilon: object, what: str, kind: ChargeKind, sensitivity: int, mechanism: str = mechanisms.LAPLACE
    ) -> Receipt:
        scale = sensitivity * self.ledger.steps / parse_epsilon(epsilon)
        return self._account.charge(epsilon, what, kind=kind, mechanism=mechanism, scale=scale)

    def _quantum(self, attribute: str) -> tuple[int, Quantum]:
        index = self.schema.index(attribute)
        declared = self.schema.attributes[index]
        if not isinstance(declared, Numeric):
            raise ParameterError(f"{attribute!r} is categorical; sums and averages need a numeric attribute")
        return index, Quantum.of(declared)

    # -- no way around ---------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        names = ", ".join(self.schema.names)
        return f"<PrivateDataset of ({names} -> {self.schema.label.name}), {self._account!r}>"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise PrivacyError(_REFUSAL)

    __len__ = __iter__ = __getitem__ = __contains__ = __bool__ = __array__ = _refuse
    __reduce_ex__ = __reduce__ = __getstate__ = __copy__ = __deepcopy__ = _refuse
