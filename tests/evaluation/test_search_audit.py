"""The exact audit of a search over two settings, and of searches that break its promise.

A search tosses coins until one says stop, so its transcripts have no end, and they show more than a search does: all
runs, where it releases one. So the audit has two halves. The distribution of one run is walked whole, on the real code,
for every way in which coins can deal the records. And what a search makes of runs is a formula, which the real loop is
shown to obey. Together they give the chance of everything that a search can release, exactly.
"""

from __future__ import annotations

import itertools
import logging
import math
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
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
from privet.estimators.faces import classifier_from
from privet.evaluation import private_search as search
from privet.evaluation.predictions import noisy_cells
from privet.evaluation.private_search import Found, Parts, best_run
from privet.fitting import fit
from privet.privacy.counting import ROOT
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.privacy.level import Level
from privet.privacy.noise import current_source
from privet.privacy.samplers import stopping
from privet.privacy.samplers.stopping import PRICE, RandomStopping, Run
from privet.recipes import provenance as stamps
from privet.recipes.ours.exact import ExactTree
from privet.recipes.papers.diffpid3 import DiffPID3
from privet.schema import Categorical, Schema
from privet.tables.encoding import Codes
from privet.tables.frozen import freeze
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
    def exact(data: PrivateDataset, cells: Any, count: int, epsilon: object, what: str) -> Any:
        data.ledger.charge(epsilon, what).redeem()
        return np.bincount(cells, minlength=count)

    monkeypatch.setattr(search, "noisy_cells", exact)
    all_runs.cache_clear()
    assert math.isinf(loss(*PAIR, geometric))
    all_runs.cache_clear()


# ---- units of four rows -------------------------------------------------------------------------------------------

OF_UNITS = 2 * EPSILON  # a row has a quarter of it, and few noisy counts should be possible
BY_UNIT = replace(SCHEMA, unit=privet.Unit("who", 4))


def one_run_by_unit(rows: list[tuple[str, str, int]], throw: tuple[int, ...]) -> Distribution:
    """As ``all_runs``, of a search whose ledger was bound to a unit, for rows of (x, y, who)."""
    sides = [[row for row, side in zip(rows, throw, strict=True) if side == s] for s in (0, 1)]
    train, test = (freeze(BY_UNIT, dict(zip(("x", "y", "who"), zip(*part, strict=True), strict=True))
                   if part else {"x": [], "y": [], "who": []}) for part in sides)  # fmt: skip
    parts = Parts(MemoryEngine(BY_UNIT, train.codes(BY_UNIT), train), test)

    def release() -> Hashable:
        account = Ledger(OF_UNITS)
        PrivateDataset(parts.train, account)
        run = next(iter(RandomStopping(account, OF_UNITS, settings=1, mean_runs=MEAN, what="search")))
        found = parts.run(ExactTree(max_depth=0, leaf_share=0), run)
        return found.score, (found.setting, canonical(found.model.trees))

    return output_distribution(release, window=(0, 4), tail=0.05)[0]


def loss_of_a_unit() -> float:
    """One unit of four rows more: dealt to one part, to the other, and half to each."""
    worst, newcomer = 0.0, [("v", "no", 2)] * 4
    for side, *others in ((0, 1, 1, 1, 1), (1, 0, 0, 0, 0), (1, 0, 0, 1, 1)):
        with_it = one_run_by_unit([("u", "yes", 1), *newcomer], (side, *others))
        without = one_run_by_unit([("u", "yes", 1)], (side,))
        worst = max(worst, largest_log_ratio(best_of(without, geometric), best_of(with_it, geometric))[0])
    return worst


def test_a_search_by_unit_keeps_its_promise() -> None:
    found = loss_of_a_unit()
    assert found <= OF_UNITS + 1e-9
    assert found > OF_UNITS / PRICE


def as_if_a_unit_were_a_row(data: PrivateDataset, cells: Any, count: int, epsilon: Any, what: str) -> Any:
    """A ledger that knows of no unit pays for the counts, as that of a run once did."""
    unbound = PrivateDataset(
        MemoryEngine(SCHEMA, Codes(np.zeros((1, 0), np.uint8), np.zeros(0, np.uint8))), Ledger(epsilon)
    )
    return noisy_cells(unbound, cells, count, epsilon, what)


def test_scores_that_are_paid_by_the_row_are_caught(monkeypatch: Any) -> None:
    monkeypatch.setattr(search, "noisy_cells", as_if_a_unit_were_a_row)
    assert loss_of_a_unit() > OF_UNITS


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_both_ledgers_of_a_run_are_bound_to_the_unit(neighbours: str) -> None:
    account = Ledger(OF_UNITS, neighbours=neighbours)
    bound = MemoryEngine(BY_UNIT, Codes(np.zeros((1, 0), np.uint8), np.zeros(0, np.uint8), unit=BY_UNIT.unit))
    PrivateDataset(bound, account)
    run = next(iter(RandomStopping(account, OF_UNITS, settings=1, mean_runs=MEAN, what="search")))
    assert run.fitting.steps == run.scoring.steps == account.steps == 4 * account.neighbours.steps
    assert run.fitting.certificate().unit == run.scoring.certificate().unit == BY_UNIT.unit


def test_records_cannot_be_counted_on_a_ledger_of_another_unit() -> None:
    """A count by hand, on a ledger that no data set was opened with."""
    codes = Codes(np.zeros((1, 3), np.uint8), np.zeros(3, np.uint8), unit=BY_UNIT.unit)
    with pytest.raises(privet.PrivacyError, match="different units"):
        Level(MemoryEngine(BY_UNIT, codes), ROOT, Ledger(1))


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


@dataclass(frozen=True)
class Talkative(DiffPID3):
    """Says in every fit that it fits."""

    def grow(self, data: Any, epsilon: Any, random: Any, progress: Any = None) -> Any:
        warnings.warn("fitted", stacklevel=1)
        logging.getLogger("talkative").critical("fitted")
        print("fitted")
        print("fitted", file=sys.stderr)
        return super().grow(data, epsilon, random, progress)


def journals(folder: Path, tree: type[Any] = privet.papers.DiffPID3Classifier) -> Iterator[str]:
    """What is on disk, in the model and on the certificate after a search of 1 run, and of 7; a minute a fit."""
    schema, table = clinic(300, seed=5)
    folder.mkdir(exist_ok=True)
    for runs in (1, 7):
        path = folder / f"{runs}.journal"
        ledger = Ledger(3, journal=path)
        found = privet.PrivateSearch(tree(schema, max_depth=1), {"max_depth": [1, 1]}, 3, mean_runs=97, ledger=ledger)
        minutes = itertools.count()
        with use_noise(SomeRuns(runs, 97)), pytest.MonkeyPatch.context() as clock:
            clock.setattr(stamps, "this_minute", lambda minutes=minutes: f"2026-01-01T00:{next(minutes):02}Z")
            found.fit(table)
        found.save(folder / "model.json")
        books = path.read_text("utf-8"), ledger.certificate(), found.certificate_, sorted(vars(found))
        yield str([*books, (folder / "model.json").read_text("utf-8")])


def test_nothing_shows_how_many_runs_there_were(tmp_path: Path, capfd: Any, caplog: Any) -> None:
    one, seven = journals(tmp_path)
    assert one == seven
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


@pytest.mark.filterwarnings("ignore:fitted")
def test_output_of_the_runs_is_suppressed(tmp_path: Path, capfd: Any, caplog: Any) -> None:
    said = []
    for _ in journals(tmp_path, classifier_from(Talkative)):
        said.append((capfd.readouterr(), len(caplog.records)))
        caplog.clear()
    assert said[0] == said[1]
    assert said[0][1] == 4, "the rehearsals of two settings, of which there are as many in every search"


def test_the_date_of_the_best_run_is_caught(tmp_path: Path, monkeypatch: Any) -> None:
    """The same check, where the model keeps the minute in which its run began, and a later run is better."""
    runs = itertools.count()
    monkeypatch.setattr(search, "noisy_share", lambda hits, misses: next(runs))

    def kept(recipe: Any, trees: Any, params: Any, certificate: Any, notes: Any, made: Any) -> Any:
        return replace(fitted[-1], certificate=certificate, notes=notes)

    fitted: list[Any] = []
    monkeypatch.setattr(search, "fit", lambda *args, **how: fitted.append(fit(*args, **how)) or fitted[-1])
    honest = [one.partition("2026-01-01T")[2][:6] for one in journals(tmp_path / "honest")]
    assert honest[0] == honest[1]
    monkeypatch.setattr(search, "Model", kept)
    one, seven = (text.partition("2026-01-01T")[2][:6] for text in journals(tmp_path / "planted"))
    assert one != seven


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
