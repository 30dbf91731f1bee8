"""The sampled audit as a whole: power, false alarms, both relations, resuming, Ctrl-C, limits, processes."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import FIVE, FOUR, ONE_PAIR, NoisyCount, Shards, planted, sharp_count, unseeded_count

from privet.audit import TablePair, sample, table_pairs
from privet.audit.sampling import effort, fits, run
from privet.audit.sampling.run import watch
from privet.errors import ParameterError

ALONE = {"function": True, "search": False}


# Each of these is missed with a probability below 1e-6 (the bound passes the claim by more than five deviations).
@pytest.mark.parametrize(
    ("kind", "loss", "fits"),
    [("count", 1.7, 8_000), ("choice", 3.0, 8_000), ("reals", 2.0, 8_000), ("votes", 4.0, 8_000)],
)
def test_planted_losses_are_caught(kind: str, loss: float, fits: int) -> None:
    found = sample(planted(kind, loss, 1), ONE_PAIR, 1, max_fits=fits, **ALONE)
    assert found.verdict == "violated", found
    assert 1 < found.bound <= loss
    assert found.fits <= fits
    assert found.best is not None
    assert found.best.hits / found.best.tries > found.best.other_hits / found.best.other_tries
    if kind == "votes":  # no single vote shows it
        assert "score" in found.event or "sum" in found.event


def test_a_true_claim_is_not_refuted() -> None:
    """Ten audits at alpha 1e-7 each: one false alarm has a probability of 1e-6 at most. The bounds come close."""
    bounds = []
    for seed in range(10):
        found = sample(planted("count", 1.0, seed), ONE_PAIR, 1, alpha=1e-7, max_fits=2_000, **ALONE)
        assert found.verdict == "not refuted"
        bounds.append(found.bound)
    assert np.mean(bounds) > 0.3


def test_delta_is_taken_off() -> None:
    """A release of the exact number with probability 0.05 breaks every epsilon, and keeps (1, 0.05)."""
    random = np.random.default_rng(3)
    count = planted("count", 1.0, 4)

    def sometimes(X: Any, y: Any) -> Any:
        return f"exactly {len(X)}" if random.random() < 0.05 else count(X, y)

    assert sample(sometimes, ONE_PAIR, 1, max_fits=6_000, **ALONE).verdict == "violated"
    assert sample(sometimes, ONE_PAIR, 1, delta=0.05, alpha=1e-6, max_fits=6_000, **ALONE).verdict == "not refuted"


def test_the_pair_that_shows_it_is_found() -> None:
    """A leak of a label that one pair alone has."""
    random = np.random.default_rng(0)

    def leaks(X: Any, y: Any) -> Any:
        return 2 in y if random.random() < 0.8 else random.random() < 0.5

    found = sample(leaks, table_pairs(), 1, max_fits=12_000, function=True)
    assert found.verdict == "violated"
    assert found.pair.startswith("an undeclared label leaves")
    assert found.event in ("value = 1", "value = 0", "value at least 1", "value at most 0")
    assert max(found.screened, key=lambda one: one[1])[0].startswith("an undeclared label leaves")


# Facts read from the records: a range, the labels that occur. Sound noise beside them does not help.
@pytest.mark.parametrize(
    ("read", "pair"),
    [
        (lambda X, y: float(np.min(X)), "spread numbers, without the first"),
        (lambda X, y: float(np.max(X)), "spread numbers, without the last"),
        (lambda X, y: len(set(y.tolist())), "the only record of a label leaves"),
    ],
    ids=["smallest", "largest", "labels"],
)
def test_facts_of_the_data_are_found_among_the_pairs_without_odd_values(read: Any, pair: str) -> None:
    random = np.random.default_rng(0)
    made = lambda X, y: (read(X, y), len(X) + random.laplace())  # noqa: E731
    found = sample(made, table_pairs(odd=False), 1, max_fits=6_000, function=True)
    assert found.verdict == "violated"
    assert found.pair.startswith(pair)


def test_relations_are_reported_apart() -> None:
    X, y = FIVE
    replaced = TablePair("replaced", FIVE, (X, np.array([1, 0, 0, 0, 0])))
    rows = TablePair("three rows", FIVE, (X[3:], y[3:]))
    found = sample(planted("count", 1.0, 0), [*ONE_PAIR, replaced, rows], 1, max_fits=6_000, **ALONE)
    apart = {one.relation: one for one in found.apart}
    assert {relation: one.claimed for relation, one in apart.items()} == {
        "add-remove": 1.0, "replace-one": 2.0, "3 rows": 3.0,
    }  # fmt: skip
    assert apart["replace-one"].bound == 0.0
    assert apart["3 rows"].bound > apart["add-remove"].bound > 0.5
    assert sum(one.alpha for one in found.apart) == pytest.approx(1e-3)
    assert found.verdict == "not refuted"


def test_an_object_with_fit() -> None:
    found = sample(NoisyCount, ONE_PAIR, 1, max_fits=8_000, search=False)
    assert found.verdict == "violated"
    assert found.event.startswith("count_ ")


def test_the_result_has_all_facts() -> None:
    found = sample(planted("count", 3.0, 1), ONE_PAIR, 1, name="counts", repeat="run it", max_fits=4_000, **ALONE)
    text = str(found)
    for part in ("violated", "five against four", "value", "fits on the", "run it"):
        assert part in text
    assert json.loads(json.dumps(found.to_dict()))["verdict"] == "violated"


def test_an_audit_without_fits_reports_it() -> None:
    found = sample(planted("count", 3.0, 1), table_pairs(), 1, max_fits=100, function=True)
    assert found.bound == 0.0
    assert any("allow more" in one.note for one in (found, *found.apart))


def test_a_seed_is_noticed() -> None:
    found = sample(lambda X, y: planted("count", 1.0, 7)(X, y), ONE_PAIR, 1, max_fits=1_200, **ALONE)
    assert "seeded" in found.note


class Interrupts:
    """A mechanism that somebody stops after some fits."""

    def __init__(self, after: int) -> None:
        self.count, self.left, self.calls = planted("count", 2.0, 9), after, 0

    def __call__(self, X: Any, y: Any) -> int:
        self.left -= 1
        self.calls += 1
        if self.left == 0:
            raise KeyboardInterrupt
        return int(self.count(X, y))


def test_ctrl_c_keeps_what_was_fitted_and_an_audit_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    stopped = Interrupts(after=3_000)
    seen = []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(watch(stopped, ONE_PAIR, 3, max_fits=8_000, resume=folder, **ALONE))
    assert seen[-1].looks, "a look was complete: its bound holds"
    assert not list(folder.glob("*.part"))
    again = Interrupts(after=0)
    resumed = sample(again, ONE_PAIR, 3, max_fits=8_000, resume=folder, **ALONE)
    assert resumed.looks[: len(seen[-1].looks)] == seen[-1].looks, "the same fits, the same events, the same bounds"
    assert len(resumed.looks) > len(seen[-1].looks)
    assert again.calls < resumed.fits - 2_000, "kept fits were not made again"
    finished = Interrupts(after=1)  # would stop at the first fit
    assert sample(finished, ONE_PAIR, 3, max_fits=8_000, resume=folder, **ALONE).looks == resumed.looks
    with pytest.raises(ParameterError, match="another audit"):
        sample(again, ONE_PAIR, 2, resume=folder, **ALONE)
    (folder / "fits-000000.npz").write_bytes(b"torn")
    with pytest.raises(ParameterError, match="cannot be used"):
        sample(again, ONE_PAIR, 3, resume=folder, **ALONE)
    with pytest.raises(ParameterError, match="something else"):
        sample(again, ONE_PAIR, 3, resume=tmp_path, **ALONE)


class Clock:
    """A clock that only a test moves, in place of those that an audit reads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        for module, name in ((effort, "monotonic"), (fits, "perf_counter")):
            monkeypatch.setattr(module.time, name, lambda: self.now)


def test_time_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of its own, which a fit moves by a tenth of a second: no test waits here."""
    clock = Clock(monkeypatch)

    def slow(X: Any, y: Any) -> int:
        clock.now += 0.1
        return int(unseeded_count(X, y))

    found = sample(slow, ONE_PAIR, 5, seconds=100, **ALONE)
    assert 500 < found.fits <= 1_010
    assert clock.now <= 110
    assert found.seconds == pytest.approx(clock.now)


def test_slow_fits_of_many_pairs_stay_in_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six seconds for a fit, eighteen pairs, a first fit that takes a minute: screening has its share and no more."""
    clock = Clock(monkeypatch)
    tables = []

    def slow(X: Any, y: Any) -> int:
        tables.append(len(X))
        clock.now += 6 if len(tables) > 1 else 60
        return len(X)

    found = sample(slow, table_pairs(), 1, seconds=600, function=True)
    assert clock.now <= 660
    assert {one.relation for one in found.apart} == {"add-remove", "replace-one"}
    assert all(one.looks for one in found.apart)


def test_learning_is_within_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learning that takes ten milliseconds for each fit, when fits take one."""
    clock = Clock(monkeypatch)
    learn = run.learn_event

    def slowly(ours: Any, *rest: Any, **options: Any) -> Any:
        clock.now += 0.01 * len(ours)
        return learn(ours, *rest, **options)

    def count(X: Any, y: Any) -> int:
        clock.now += 0.001
        return int(unseeded_count(X, y, 1.0))

    monkeypatch.setattr(run, "learn_event", slowly)
    found = sample(count, ONE_PAIR, 1, alpha=1e-6, seconds=60, **ALONE)
    assert 30 < clock.now <= 66
    assert len(found.looks) > 2


def test_a_broken_promise_leaves_little_time_to_other_relations(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    def exact(X: Any, y: Any) -> int:
        clock.now += 0.01
        return len(X)

    replaced = TablePair("replaced", FIVE, (FIVE[0], np.array([1, 0, 0, 0, 0])))
    found = sample(exact, [*ONE_PAIR, replaced], 1, seconds=10_000, **ALONE)
    assert [one.verdict for one in found.apart] == ["violated", "not refuted"]
    assert clock.now < 60


def test_other_processes() -> None:
    found = sample(sharp_count, ONE_PAIR, 1, max_fits=4_000, processes=2, **ALONE)
    assert found.verdict == "violated"
    assert found.cpu_seconds > 0
    with pytest.raises(ParameterError, match="set processes to 1"):
        sample(lambda X, y: 0, ONE_PAIR, 1, processes=2, **ALONE)


def test_progress_shows_the_bound() -> None:
    stages: list[str] = []

    class Bar:
        def __call__(self, done: int, total: int) -> None:
            assert 0 < done <= total

        def stage(self, what: str) -> None:
            stages.append(what)

    sample(planted("count", 2.0, 1), ONE_PAIR, 3, max_fits=4_000, progress=Bar(), **ALONE)
    assert any("look 2, bound so far 0.9" in stage or "look 2, bound so far 1" in stage for stage in stages), stages


def broken(X: Any, y: Any) -> None:
    raise RuntimeError("no licence")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"make": broken}, "fails on both tables of every pair: raises 'no licence'"),
        ({"function": False}, "set function to True"),
        ({"make": 7}, "must be callable"),
        ({"pairs": []}, "is empty"),
        ({"claimed": 0}, "claimed must lie"),
        ({"neighbours": "replace-one"}, "differ in size"),
        ({"processes": 0}, "processes must be"),
        ({"max_fits": 1}, "max_fits must be"),
        ({"progress": 7}, "progress must be"),
    ],
)
def test_mistakes(change: dict[str, Any], says: str) -> None:
    arguments: dict[str, Any] = {
        "make": partial(unseeded_count),
        "pairs": [("p", FIVE, FOUR)],
        "max_fits": 2_000,
        "function": True,
    } | change
    with pytest.raises(ParameterError, match=says):
        sample(**arguments)


def raises_below_five(X: Any, y: Any) -> int:
    if len(X) < 5:
        raise ValueError("too few")
    return int(unseeded_count(X, y, 1.0))


def sometimes_raises(X: Any, y: Any) -> int:
    found = unseeded_count(X, y, 1.0)
    if found % 2:
        raise ValueError("odd")
    return found


# Releases that are no numbers, or not always the same ones. Without noise where it is "violated": none is missed.
@pytest.mark.parametrize(
    ("make", "verdict", "note"),
    [
        (raises_below_five, "violated", "every fit of a table raises 'too few'"),
        (sometimes_raises, "not refuted", ""),
        (lambda X, y: float("nan"), "not refuted", "is something seeded?"),
        (lambda X, y: float("nan") if len(X) < 5 else 1.0, "violated", "is something seeded?"),
        (lambda X, y: 7, "not refuted", "is something seeded?"),
        (lambda X, y: object(), "not refuted", "no fit released anything"),
        (lambda X, y: list(np.random.default_rng().laplace(size=len(X))), "violated", ""),
        (lambda X, y: f"{len(X)} records, {np.random.default_rng().laplace()}", "violated", ""),
    ],
    ids=["raises on one", "raises at times", "nan", "nan on one", "constant", "nothing", "other tokens", "text"],
)
def test_odd_releases(make: Any, verdict: str, note: str) -> None:
    found = sample(make, ONE_PAIR, 1, alpha=1e-6, max_fits=1_600, **ALONE)
    assert found.verdict == verdict
    assert note in found.note


@pytest.mark.parametrize(("shards", "verdict"), [(10, "violated"), (1, "not refuted")])
def test_few_fits_find_the_pair_on_which_shards_by_position_show(shards: int, verdict: str) -> None:
    """Among fifteen pairs or more, by ten fits of each table at first. On many of them nothing shows."""
    pairs = [pair for pair in table_pairs(odd=False) if pair.relation == "add-remove"]
    assert len(pairs) >= 15
    random = np.random.default_rng(0)
    found = sample(lambda: Shards(random, shards), pairs, 1, max_fits=4_000, seconds=1e6, processes=1)
    assert found.verdict == verdict
