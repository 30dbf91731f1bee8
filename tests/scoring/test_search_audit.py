"""The exact audit of a search over two settings, and of searches that break its promise.

A search tosses coins until one says stop, so its transcripts have no end, and they show more than a search does: all
runs, where it releases one. So the audit has two halves. The distribution of one run is walked whole, on the real code,
for every way in which coins can deal the records. And what a search makes of runs is a formula, which the real loop is
shown to obey. Together they give the chance of everything that a search can release, exactly.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet
from privet.audit.outputs import largest_log_ratio, output_distribution
from privet.audit.released import canonical
from privet.datasets.clinic import clinic
from privet.engines.memory import MemoryEngine
from privet.privacy.ledger import Ledger
from privet.privacy.noise import current_source
from privet.privacy.samplers import stopping
from privet.privacy.samplers.stopping import PRICE, RandomStopping, Run
from privet.recipes.exact import ExactTree
from privet.schema import Categorical, Schema
from privet.schema.frozen import freeze
from privet.scoring import search
from privet.scoring.search import Found, Parts, best_run
from privet.testing import ZeroNoise, use_noise

SCHEMA = Schema((Categorical("x", ("u", "v")),), Categorical("y", ("no", "yes")))
EPSILON, MEAN = Fraction(12), 5  # so large that few noisy counts are possible, and a fifth of the runs stops
RECIPES = tuple(ExactTree(max_depth=depth, grid="near-zero", leaf_share=0) for depth in (1, 0))
Record = tuple[str, str]
Distribution = dict[Hashable, float]
"""(score, what else is released) -> log of its chance."""


def parts_of(records: list[Record], throw: tuple[int, ...]) -> Parts:
    sides = [[r for r, side in zip(records, throw, strict=True) if side == s] for s in (0, 1)]
    train, test = (freeze(SCHEMA, {"x": [x for x, _ in part], "y": [y for _, y in part]}) for part in sides)
    return Parts(MemoryEngine(SCHEMA, train.codes(SCHEMA), train), test)


def one_run(parts: Parts) -> Callable[[], Hashable]:
    def release() -> Hashable:
        runs = RandomStopping(Ledger(EPSILON), EPSILON, settings=2, mean_runs=MEAN, what="search")
        run = next(iter(runs))
        found = parts.run(RECIPES[run.setting], run)
        return found.score, (found.setting, canonical(found.model.trees))

    return release


@cache
def all_runs(records: tuple[Record, ...], throw: tuple[int, ...]) -> Distribution:
    return output_distribution(one_run(parts_of(list(records), throw)), window=(0, 2), tail=0.05)[0]


def best_of(runs: Distribution, slope: Callable[[float, float], float]) -> Distribution:
    """The chances of what is released, if the best of many runs is; ``slope`` of (chance of less, chance of at most)
    the score that wins is by how much a run is likelier to be the best of a search than a run alone."""
    scores: dict[float, float] = defaultdict(float)
    for (score, _), chance in runs.items():  # type: ignore[misc]  # all keys are pairs
        scores[score] += math.exp(chance)
    below, bounds = 0.0, {}
    for score in sorted(scores):
        bounds[score] = below, below + scores[score]
        below += scores[score]
    return {key: chance + math.log(slope(*bounds[key[0]])) for key, chance in runs.items()}  # type: ignore[index]


def geometric(less: float, at_most: float) -> float:
    stop = 1 / MEAN
    left = [stop + (1 - stop) * (1 - chance) for chance in (less, at_most)]
    return stop / (left[0] * left[1])


def exactly(runs: int) -> Callable[[float, float], float]:
    """The same for searches of so many runs, times their chance."""
    stop = 1 / MEAN
    return lambda a, b: stop * (1 - stop) ** (runs - 1) * (b**runs - a**runs) / (b - a)


def loss(newcomer: Record, table: list[Record], slope: Callable[[float, float], float]) -> float:
    """The largest over all throws of the coins that deal the records. Averaging over them, as nobody sees them, could
    only make it smaller."""
    worst = 0.0
    for side, *others in product((0, 1), repeat=1 + len(table)):
        without = all_runs(tuple(table), tuple(others))
        with_it = all_runs((newcomer, *table), (side, *others))
        worst = max(worst, largest_log_ratio(best_of(without, slope), best_of(with_it, slope))[0])
    return worst


PAIR = ("v", "no"), [("u", "yes")]


def test_a_search_over_two_settings_keeps_its_promise() -> None:
    found = loss(*PAIR, geometric)
    assert found <= EPSILON + 1e-9
    assert found > EPSILON / PRICE, "more than a run alone: the audit sees that it was chosen"


def test_a_charge_for_each_run_in_the_journal_is_caught() -> None:
    """Whoever can count the charges knows how many runs there were; the best of ten then loses more than is paid."""
    assert loss(*PAIR, exactly(10)) > EPSILON


def test_a_choice_by_exact_scores_is_caught(monkeypatch: Any) -> None:
    def exact(cells: Any, count: int, account: Ledger, epsilon: object, what: str) -> Any:
        account.charge(epsilon, what).redeem()
        return np.bincount(cells, minlength=count)

    monkeypatch.setattr(search, "noisy_cells", exact)
    all_runs.cache_clear()
    assert math.isinf(loss(*PAIR, geometric))
    all_runs.cache_clear()


# ---- the loop obeys the formula -----------------------------------------------------------------------------------


class Dice(Parts):
    """Runs without records: a die falls on one of three outcomes, two of which have the same score."""

    def __init__(self) -> None:
        pass

    def run(self, recipe: Any, run: Run) -> Found:
        side = int(current_source().coins(3, 1)[0])
        return Found(run.setting, side, (0.5, 0.5, 0.9)[side])  # type: ignore[arg-type]  # the side is the model


def test_the_real_loop_has_the_chances_of_the_formula() -> None:
    """Cut off after three runs, for both."""
    most, stop = 3, 1 / MEAN

    def released() -> Hashable:
        runs = RandomStopping(Ledger(1), 1, settings=1, mean_runs=MEAN, what="search")
        best = best_run(Dice(), RECIPES, islice(runs, most))
        return best.score, best.model

    def cut_off(a: float, b: float) -> float:
        of = [stop * (1 - stop) ** (k - 1) for k in range(1, most)] + [(1 - stop) ** (most - 1)]
        return sum(chance * (b**k - a**k) / (b - a) for k, chance in enumerate(of, 1))

    found, _ = output_distribution(released)
    run = {(score, side): -math.log(3) for side, score in enumerate((0.5, 0.5, 0.9))}
    assert found == pytest.approx(best_of(run, cut_off))
    assert sum(map(math.exp, best_of(run, geometric).values())) == pytest.approx(1)


# ---- nothing shows how many runs there were -----------------------------------------------------------------------


class SomeRuns(ZeroNoise):
    """Coins that stop a search after so many runs."""

    def __init__(self, runs: int, sides: int) -> None:
        super().__init__(same_coins=True)
        self._left, self._sides = runs, sides

    def coins(self, sides: int, size: int) -> Any:
        if (sides, size) != (self._sides, 1):
            return super().coins(sides, size)
        self._left -= 1
        return np.array([min(self._left, 1)])


def journals(folder: Path) -> Iterator[str]:
    """What is on disk and on the certificate after a search of 1 run, and of 7."""
    schema, table = clinic(300, seed=5)
    for runs in (1, 7):
        path = folder / f"{runs}.journal"
        ledger = Ledger(3, journal=path)
        tree = privet.DiffPID3Classifier(schema, max_depth=1)
        found = privet.PrivateSearchCV(tree, {"max_depth": [1, 1]}, 3, mean_runs=97, ledger=ledger)
        with use_noise(SomeRuns(runs, 97)):
            found.fit(table)
        yield str([path.read_text("utf-8"), ledger.certificate(), found.certificate_, sorted(vars(found))])


def test_nothing_shows_how_many_runs_there_were(tmp_path: Path, capfd: Any, caplog: Any) -> None:
    one, seven = journals(tmp_path)
    assert one == seven
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_runs_on_the_books_are_caught(tmp_path: Path, monkeypatch: Any) -> None:
    """The same check, where each run pays from the search's own account."""
    honest = RandomStopping.__init__

    def init(self: Any, account: Ledger, epsilon: Any, **rest: Any) -> None:
        honest(self, account, Fraction(epsilon) / 2, **rest)
        self.account = account

    def each(self: Any) -> Iterator[Run]:
        for run in honest_iter(self):
            self.account.charge(Fraction(1, 100), "one more run")
            yield run

    honest_iter = RandomStopping.__iter__
    monkeypatch.setattr(stopping.RandomStopping, "__init__", init)
    monkeypatch.setattr(stopping.RandomStopping, "__iter__", each)
    one, seven = journals(tmp_path)
    assert one != seven
