"""Random stopping: the best of many runs, for three times what one run loses (after Liu & Talwar 2019).

After each run a coin decides whether there is another. Someone who sees only the best run cannot tell how many there
were. That is why the price does not grow with their number. So nothing that happens in a run may show: each run has its
own ledgers, in memory, and one charge for all runs is on the books before the first.
Claim and proof: ``docs/proofs/search.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from privet.errors import ParameterError
from privet.kinds import ChargeKind
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.ledger import Ledger
from privet.privacy.losses import Loss
from privet.privacy.noise import current_source

PRICE = 3  # a search costs as much as three runs: one for the model, two for picking the best
MOST_RUNS = 2**16  # the most runs on average, and the most settings; more would take too long


@dataclass(frozen=True, slots=True)
class Run:
    """A setting, drawn with equal chances, and a budget for each of two disjoint parts of the records."""

    setting: int
    fitting: Ledger
    scoring: Ledger


class RandomStopping:
    """Runs until a coin of ``mean_runs`` sides shows its first side, all of them paid for by one charge.

    Iterate over it once. ``fitting`` and ``scoring`` pay for two parts of the records. The parts must be disjoint,
    chosen by coins before the first run, and the same in all runs. Both are bound to what ``account`` is bound to: the
    data set, what was declared about it, and its unit.

    >>> ledger = Ledger(1)
    >>> runs = list(RandomStopping(ledger, 0.75, settings=2, mean_runs=5, what="search"))
    >>> runs[0].fitting.remaining, ledger.spent
    (Fraction(1, 4), Fraction(3, 4))
    """

    def __init__(self, account: Ledger, epsilon: object, *, settings: int, mean_runs: int, what: str) -> None:
        for name, value in (("settings", settings), ("mean_runs", mean_runs)):
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_RUNS:
                raise ParameterError(f"{name} must be a whole number from 1 to {MOST_RUNS}, not {value!r}")
        self.share: Fraction = parse_epsilon(epsilon) / PRICE
        """What a run may spend on each of the two parts."""
        self._settings, self._mean_runs = settings, mean_runs
        self._books = account._root()
        price = Loss(parse_epsilon(epsilon))  # whatever the account counts in
        self._receipt = account.charge(price, what, kind=ChargeKind.SEARCH, mechanism="random stopping")

    def __iter__(self) -> Iterator[Run]:
        self._receipt.redeem()  # to iterate again would be a second search
        source = current_source()
        self._receipt.mark(source.caveat)
        while True:
            setting = int(source.coins(self._settings, 1)[0])
            yield Run(setting, self._ledger(), self._ledger())
            if source.coins(self._mean_runs, 1)[0] == 0:
                return

    def _ledger(self) -> Ledger:
        """A budget in memory for the same data set: without its unit, a unit of k rows would be paid for as one row."""
        ledger, books = Ledger(self.share, neighbours=self._books.neighbours), self._books
        ledger.bind(books._dataset or "", books._facts, books._unit)
        return ledger
