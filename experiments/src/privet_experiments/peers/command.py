"""``privet peers``: other libraries' private learners on the folds of ``privet reproduce comparison``.

Every learner on a table at an epsilon is a line, kept as soon as it is there; the same command goes on where it was
stopped. NOT PRIVATE, like every evaluation.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.output import say
from privet.errors import ParameterError
from privet_experiments.options import DEFAULT_OUT, Full, Quick, form_of

if TYPE_CHECKING:
    from privet_experiments.peers.learners import Array, Peer


def measure(
    peer: Peer, given: dict[str, Array], train: Array, epsilons: list[float], minutes: float | None = None
) -> dict[float, Any]:
    """What the comparison keeps of a learner, by epsilon: a list with a value for every fold, or a note."""
    import numpy as np

    from privet.evaluation.metrics import balanced_accuracy, log_loss, macro_auc
    from privet_experiments.peers.learners import ask_peer

    if peer.two_classes and int(given["classes"]) != 2:
        return without(f"{peer.name} is for two classes", epsilons)
    found: dict[float, Any] = {}
    answers = ask_peer(peer, given, train, epsilons, minutes)
    for epsilon in epsilons:
        mine = [answer for answer in answers if answer[0] == epsilon]
        refused = [why for _, _, proba, why in mine if proba is None]
        seconds = [cpu for _, cpu, _, _ in mine]
        told: dict[str, Any] = {"delta": peer.delta, "private": not refused, "seconds": sum(seconds)}
        if refused:
            told["note"] = refused[0]
        else:
            told |= {"accuracy": [], "balanced_accuracy": [], "auc": [], "log_loss": [], "jaccard": None}
            told["cpu_seconds"] = float(np.mean(seconds))
            for row, (_, _, proba, _) in zip(train, mine, strict=True):
                assert proba is not None
                labels = given["y"][~row]
                told["accuracy"].append(float((proba.argmax(axis=1) == labels).mean()))
                told["balanced_accuracy"].append(balanced_accuracy(labels, proba.argmax(axis=1)))
                told["auc"].append(macro_auc(labels, proba))
                told["log_loss"].append(log_loss(labels, proba))
        found[epsilon] = told
    return found


def without(note: str, epsilons: list[float]) -> dict[float, Any]:
    """No results, and why."""
    return {epsilon: {"note": note, "private": False, "seconds": 0.0} for epsilon in epsilons}


def run(grid: Any, path: Path, form: str, names: Collection[str] = (), minutes: float | None = None) -> dict[str, str]:
    """All that is not in the file yet; the peers that could not be asked, and why.

    With a limit of ``minutes`` of processor time each learner is asked alone for a table and an epsilon, the smallest
    first; one that takes longer is noted, and not asked for larger ones, where such learners take longer still.
    """
    import numpy as np

    from privet_experiments.experiment import key_of
    from privet_experiments.folds import frozen_table
    from privet_experiments.ours.comparison import PEERS as KIND
    from privet_experiments.ours.comparison import dealt, folds_of
    from privet_experiments.peers.environments import RivalError, RivalTooSlow
    from privet_experiments.peers.learners import PEERS, peer_columns
    from privet_experiments.store import Lines

    lines = Lines(path, {"experiment": KIND, "form": form, "grid": {"folds": grid.folds, "seed": grid.seed}})
    done = lines.open()
    failed: dict[str, str] = {}
    for table in grid.tables:
        frozen = frozen_table(type(grid).load, table)
        given = peer_columns(frozen)
        for repeat in range(grid.repeats):
            train = folds_of(frozen.labels, grid.folds, grid.seed + repeat)[: grid.tried or None]
            name = dealt(frozen.labels, grid.folds, grid.seed + repeat)
            for peer in (one for one in PEERS if not names or one.name in names):
                jobs = {
                    e: {"table": table, "learner": peer.name, "epsilon": e, "repeat": repeat} for e in grid.epsilons
                }
                waiting = [epsilon for epsilon, job in jobs.items() if key_of(job) not in done]
                if not waiting or peer.environment in failed:
                    continue
                too_slow = ""
                for asked in [waiting] if minutes is None else [[epsilon] for epsilon in sorted(waiting)]:
                    try:
                        found = without(too_slow, asked) if too_slow else measure(peer, given, train, asked, minutes)
                    except RivalTooSlow as slow:
                        too_slow = str(slow)
                        found = without(too_slow, asked)
                    except RivalError as error:
                        failed[peer.environment] = str(error)
                        break
                    for epsilon, told in found.items():
                        seconds = told.pop("seconds")
                        line = {"job": jobs[epsilon], "found": told | {"dealt": name}, "seconds": round(seconds, 3)}
                        lines.append(line)
                        mean = f"{100 * np.mean(told['accuracy']):.1f} %" if "accuracy" in told else told["note"]
                        print(
                            f"{table:16} {peer.name:20} epsilon {epsilon:<5g} {mean}  {seconds:.1f} CPU s", flush=True
                        )
    return failed


def peers(
    quick: Quick = False,
    full: Full = False,
    experiment: Annotated[
        str, typer.Option("--for", metavar="NAME", help="comparison or which-learner: the one with this grid.")
    ] = "comparison",
    table: Annotated[list[str] | None, typer.Option("--table", metavar="NAME", help="Instead of the form's.")] = None,
    epsilon: Annotated[list[float] | None, typer.Option("--epsilon", "-e", metavar="X", help="So too.")] = None,
    folds: Annotated[int | None, typer.Option("--folds", min=2, metavar="N", help="Stratified folds.")] = None,
    repeats: Annotated[int | None, typer.Option("--repeats", min=1, metavar="N", help="With other folds.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, metavar="N", help="Deals the folds.")] = None,
    tried: Annotated[int | None, typer.Option("--tried", min=0, metavar="N", help="Only so many of the folds.")] = None,
    learner: Annotated[list[str] | None, typer.Option("--learner", metavar="NAME", help="Only these learners.")] = None,
    minutes: Annotated[
        float | None, typer.Option("--minutes", min=0, metavar="N", help="CPU time for a learner, table, epsilon.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A line for every result.")] = DEFAULT_OUT
    / "peers.jsonl",
    probe: Annotated[bool, typer.Option("--probe", help="Only see which libraries can be installed.")] = False,
) -> None:
    """Run private learners of other libraries on the folds of `privet reproduce comparison` (or which-learner), for its
    --peers."""
    from privet_experiments.ours.comparison import Comparison
    from privet_experiments.peers import environments
    from privet_experiments.peers.learners import PEERS
    from privet_experiments.registry import entry
    from privet_experiments.runner import with_axes

    if unknown := sorted({*(learner or ())} - {peer.name for peer in PEERS}):
        known = ", ".join(peer.name for peer in PEERS)
        raise ParameterError(
            parameter="learner", problem=f"no peer is called {unknown[0]!r}", fix=f"choose among {known}"
        )
    if probe:
        environments.probe()
        return
    form = form_of(quick, full, False)
    said: dict[str, Any] = {"tables": table and tuple(table), "epsilons": epsilon and tuple(epsilon)}
    said |= {"folds": folds, "repeats": repeats, "seed": seed, "tried": tried}
    grid = with_axes(entry(experiment).form(form), {name: value for name, value in said.items() if value is not None})
    if not isinstance(grid, Comparison):
        raise ParameterError(
            parameter="for", problem=f"{experiment} has no peers", fix="choose comparison or which-learner"
        )
    grid.check()
    failed = run(grid, out, form, learner or (), minutes)
    for environment, why in failed.items():
        say(f"{environment} could not be asked: {why}")
    say(f"wrote {out}; now: privet reproduce {experiment} --{form} --peers {out}")
    if failed:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Hang this command on the tree."""
    app.command("peers", epilog="Example: privet peers --quick --out peers.jsonl")(peers)
