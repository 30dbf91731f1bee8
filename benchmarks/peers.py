"""Other libraries' private learners on the folds of ``privet reproduce comparison``, each in an environment of its own.

    PRIVET_DATA=tables python benchmarks/peers.py [--quick | --full] [--table adult] [--epsilon 1] [--out peers.jsonl]
    PRIVET_DATA=tables privet reproduce comparison --quick --peers peers.jsonl
    python benchmarks/peers.py --probe

The environments are made on first use, in ``.venv-rivals``, and need a package index. Every learner on a table at an
epsilon is a line, kept as soon as it is there; the same command goes on where it was stopped. ``--probe`` sets all
environments up and says what cannot be installed or imported, and why. NOT PRIVATE, like every evaluation.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from _peers import PEERS, Peer, ask_peer, peer_columns
from _rivals import RivalError, probe


def measure(peer: Peer, given: dict[str, np.ndarray], train: np.ndarray, epsilons: list[float]) -> dict[float, Any]:
    """What the comparison keeps of a learner, by epsilon: a list with a value for every fold, or a note."""
    from privet.measures.scores import balanced_accuracy, log_loss, macro_auc

    if peer.two_classes and int(given["classes"]) != 2:
        return {e: {"note": f"{peer.name} is for two classes", "private": False, "seconds": 0.0} for e in epsilons}
    found: dict[float, Any] = {}
    answers = ask_peer(peer, given, train, epsilons)
    for epsilon in epsilons:
        mine = [answer for answer in answers if answer[0] == epsilon]
        refused = [why for _, _, proba, why in mine if proba is None]
        seconds = [cpu for _, cpu, _, _ in mine]
        told: dict[str, Any] = {"delta": peer.delta, "private": not refused, "seconds": sum(seconds)}
        if refused:
            told["note"] = refused[0]
        else:
            told |= {"accuracy": [], "balanced_accuracy": [], "auc": [], "log_loss": [], "jaccard": None}
            told["fit_seconds"] = float(np.mean(seconds))
            for row, (_, _, proba, _) in zip(train, mine, strict=True):
                assert proba is not None
                labels = given["y"][~row]
                told["accuracy"].append(float((proba.argmax(axis=1) == labels).mean()))
                told["balanced_accuracy"].append(balanced_accuracy(labels, proba.argmax(axis=1)))
                told["auc"].append(macro_auc(labels, proba))
                told["log_loss"].append(log_loss(labels, proba))
        found[epsilon] = told
    return found


def run(grid: Any, path: Path, form: str) -> dict[str, str]:
    """All that is not in the file yet; the peers that could not be asked, and why."""
    from privet.experiments.comparison import PEERS as KIND
    from privet.experiments.comparison import dealt, folds_of
    from privet.experiments.cross_validation import frozen_table
    from privet.experiments.experiment import key_of
    from privet.experiments.runner import Lines

    lines = Lines(path, {"experiment": KIND, "form": form})
    done = lines.open({"folds": grid.folds, "seed": grid.seed})
    failed: dict[str, str] = {}
    for table in grid.tables:
        frozen = frozen_table(type(grid).load, table)
        given = peer_columns(frozen)
        for repeat in range(grid.repeats):
            train = folds_of(frozen.labels, grid.folds, grid.seed + repeat)[: grid.tried or None]
            name = dealt(frozen.labels, grid.folds, grid.seed + repeat)
            for peer in PEERS:
                jobs = {
                    e: {"table": table, "learner": peer.name, "epsilon": e, "repeat": repeat} for e in grid.epsilons
                }
                waiting = [epsilon for epsilon, job in jobs.items() if key_of(job) not in done]
                if not waiting or peer.environment in failed:
                    continue
                try:
                    found = measure(peer, given, train, waiting)
                except RivalError as error:
                    failed[peer.environment] = str(error)
                    continue
                for epsilon, told in found.items():
                    seconds = told.pop("seconds")
                    lines.append({"job": jobs[epsilon], "found": told | {"dealt": name}, "seconds": round(seconds, 3)})
                    mean = f"{100 * np.mean(told['accuracy']):.1f} %" if "accuracy" in told else told["note"]
                    print(f"{table:16} {peer.name:20} epsilon {epsilon:<5g} {mean}  {seconds:.1f} CPU s", flush=True)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--quick", action="store_const", dest="form", const="quick", default="quick")
    forms.add_argument("--full", action="store_const", dest="form", const="full")
    parser.add_argument("--table", action="append", dest="tables", help="instead of the form's; may be repeated")
    parser.add_argument("--epsilon", action="append", dest="epsilons", type=float)
    parser.add_argument("--folds", type=int)
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--out", type=Path, default=Path("privet-experiments/peers.jsonl"))
    parser.add_argument("--probe", action="store_true", help="only see what installs")
    asked = parser.parse_args()
    if asked.probe:
        probe()
        return 0
    from privet.experiments.registry import entry
    from privet.experiments.runner import with_axes

    axes = ("tables", "epsilons", "folds", "repeats", "seed")
    said = {name: getattr(asked, name) for name in axes if getattr(asked, name) is not None}
    grid = with_axes(
        entry("comparison").forms()[asked.form],
        {name: tuple(value) if isinstance(value, list) else value for name, value in said.items()},
    )
    grid.check()
    failed = run(grid, asked.out, asked.form)
    for environment, why in failed.items():
        print(f"{environment} could not be asked: {why}", file=sys.stderr)
    print(f"wrote {asked.out}; now: privet reproduce comparison --{asked.form} --peers {asked.out}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
