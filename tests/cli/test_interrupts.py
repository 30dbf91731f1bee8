"""Ctrl-C in the middle of a compiled fit: no crash, books that agree, and nothing half-written.

As a test it interrupts a handful of commands; ``make interrupts`` presses Ctrl-C 300 times. Each command is a process
of its own, forked from one that has imported everything: starting Python would take longer than the fit. Four in five
are forked where compiled code is loaded too, so that Ctrl-C meets it at work; the others have to load it first.
"""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet
from privet import Categorical, Numeric, Schema
from privet.cli.app import INTERRUPTED, INTERRUPTION
from privet.privacy.ledger import Ledger

INTERRUPTS = int(os.environ.get("PRIVET_INTERRUPTS", "4"))
RECORDS = 20_000
EPSILON, CAP = Fraction(1, 100), Fraction(100)


# ---- in a process of its own ----------------------------------------------------------------------------------------


def make_table(folder: Path) -> None:
    """Like the census's: numbers and categories, 79 tests."""
    dice = np.random.default_rng(0)
    attributes = [Numeric(f"x{i}", 0, 1, bins=12) for i in range(4)]
    attributes += [Categorical(f"c{i}", tuple("abcdefg")) for i in range(5)]
    schema = Schema(tuple(attributes), Categorical("class", ("no", "yes")))
    schema.to_json(folder / "schema.json")
    columns = [dice.random(RECORDS).round(3) for _ in range(4)]
    columns += [dice.choice(list("abcdefg"), RECORDS) for _ in range(5)]
    columns.append(np.where((columns[0] > 0.4) ^ (columns[4] > "d") ^ (dice.random(RECORDS) < 0.2), "yes", "no"))
    with open(folder / "table.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*schema.names, "class"])
        writer.writerows(zip(*(column.tolist() for column in columns), strict=True))


def fit(folder: Path, place: Path) -> int:
    """Start ``privet fit`` in a child; its number. Only the parent comes back."""
    place.mkdir()
    Ledger(CAP, journal=place / "journal")  # there already, so that its growth shows the charge
    if child := os.fork():
        return child
    said = os.open(place / "said", os.O_WRONLY | os.O_CREAT)
    os.dup2(said, 1)
    os.dup2(said, 2)
    facts = f"--schema {folder}/schema.json --recipe exact --max-depth 4 --epsilon {EPSILON}".split()
    sys.argv = ["privet", "fit", f"{folder}/table.csv", *facts, "--journal", f"{place}/journal", "-o", f"{place}/model"]
    from privet.cli import main

    raise SystemExit(main())  # through all frames, so that Python ends as it ends after a command


def charge_of(child: int, place: Path) -> float:
    """Wait for the charge and say when it came; compiled code is at work from here on.

    The lines before it tie the journal to the data set and its schema, and cost nothing.
    """
    while b'"what"' not in (place / "journal").read_bytes():
        assert os.waitpid(child, os.WNOHANG) == (0, 0), (place / "said").read_text()
        time.sleep(0.001)
    return time.perf_counter()


def interrupt(folder: Path, place: Path, delay: float) -> dict[str, Any]:
    """Start a fit, press Ctrl-C so long after its charge, and look at what is left."""
    child = fit(folder, place)
    charge_of(child, place)
    time.sleep(delay)
    pressed = time.perf_counter()
    os.kill(child, signal.SIGINT)  # a child that has ended waits for waitpid: this reaches nobody else
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    answered = time.perf_counter() - pressed
    left = sorted({path.name for path in place.iterdir()} - {"journal", "model", "said"})
    model = (place / "model").exists()
    if model:
        privet.load_model(place / "model")
    ledger = Ledger(journal=place / "journal")
    spent = ledger.spent
    ledger.charge(CAP - spent, "all that is left")  # the journal is in order: exactly the rest can be spent
    facts = {"code": code, "said": (place / "said").read_text(), "spent": str(spent), "model": model, "left": left}
    return facts | {"delay": round(delay, 3), "answered": round(answered, 3)}


def interrupt_many(folder: Path, loaded: bool, count: int, seed: int) -> None:
    """Prints the outcome of each as a line of JSON."""
    import privet.engines.joint_counts
    import privet.estimators.registry
    import privet.privacy.samplers.tree_weights
    from privet.cli import main  # noqa: F401
    from privet.tables.files import read_table

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background work with Ctrl-C ignored
    make_table(folder)
    schema = Schema.from_json(folder / "schema.json")
    table = read_table(folder / "table.csv", schema)
    if loaded:
        privet.ExactTreeClassifier(schema, EPSILON, 4).fit(table)
    first, lengths = folder / "first", []
    for place in (first, folder / "second"):  # the first of all may have to compile
        child = fit(folder, place)
        charged = charge_of(child, place)
        while not (place / "model").exists():
            assert os.waitpid(child, os.WNOHANG) == (0, 0), (place / "said").read_text()
            time.sleep(0.001)
        lengths.append(time.perf_counter() - charged)
        assert os.waitpid(child, 0)[1] == 0, (place / "said").read_text()
    clock = random.Random(seed)
    for number in range(count):
        print(json.dumps(interrupt(folder, folder / str(number), clock.uniform(0, 0.9 * min(lengths)))), flush=True)


# ---- the tests ------------------------------------------------------------------------------------------------------


def start(folder: Path, loaded: bool, count: int, seed: int) -> subprocess.Popen[str]:
    folder.mkdir()
    source = Path(privet.__file__).parents[1]
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", __file__, str(folder), json.dumps([loaded, count, seed])],
        env={**os.environ, "PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_interrupted_fits_do_not_crash_and_charge_correctly(tmp_path: Path) -> None:
    seed, loading = int(os.environ.get("PRIVET_INTERRUPTS_SEED", "0")), INTERRUPTS // 5 if INTERRUPTS > 5 else 0
    half = (INTERRUPTS - loading) // 2 if loading else 0
    shares = [loading, half, INTERRUPTS - loading - half]
    crews = [(tmp_path / str(i), i > 0, count, seed + i) for i, count in enumerate(shares) if count]
    outcomes = []
    for pair in (crews[-2:], crews[:-2]):  # two at a time
        working = [start(*crew) for crew in pair]
        for crew in working:
            told, _ = crew.communicate()
            assert crew.returncode == 0
            outcomes += [json.loads(line) for line in told.splitlines()]
    assert len(outcomes) == INTERRUPTS
    heard = [outcome for outcome in outcomes if outcome["code"] == INTERRUPTED]
    codes = {code: [o["code"] for o in outcomes].count(code) for code in {o["code"] for o in outcomes}}
    slowest = max((outcome["answered"] for outcome in heard), default=0)
    print(f"{INTERRUPTS} interrupts, exit codes {codes}, the slowest answered after {slowest} s")
    for outcome in outcomes:
        # What a tree is planned by, the tree and its leaves are paid one after the other.
        assert 0 < Fraction(outcome["spent"]) <= EPSILON, outcome
        assert outcome["left"] == [], outcome
        if outcome["code"] == INTERRUPTED:
            assert INTERRUPTION in outcome["said"], outcome
            assert "Traceback" not in outcome["said"], outcome
            continue
        # It was done before Ctrl-C (-SIGINT: Python was closing down), or Python swallowed Ctrl-C in a destructor of
        # OpenDP's. A crash has another code, and leaves no model.
        assert outcome["code"] in (0, -signal.SIGINT), outcome
        assert outcome["model"], outcome
    assert len(heard) >= INTERRUPTS // 3, codes


@pytest.mark.parametrize("recipe", ["exact", "diffpc45", "embedded", "random-forest", "smooth-forest", "greedy-forest"])
def test_no_python_runs_inside_compiled_code(recipe: str) -> None:
    """What crashed: numba wraps a returned array by calling Python, where a KeyboardInterrupt can come up.

    Nor is compiled code loaded in the main thread, where Ctrl-C could be lost.
    """
    from privet.datasets.clinic import clinic
    from privet.estimators.registry import make_classifier

    schema, table = clinic(300)
    seen: list[str] = []

    def watch(frame: Any, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name in ("_numba_unpickle", "_compile_for_args"):
            seen.append(frame.f_code.co_name)

    sys.setprofile(watch)
    try:
        make_classifier(recipe, schema=schema, epsilon=1, max_depth=3).fit(table).predict(table)
    finally:
        sys.setprofile(None)
    assert seen == []


if __name__ == "__main__":
    interrupt_many(Path(sys.argv[1]), *json.loads(sys.argv[2]))
