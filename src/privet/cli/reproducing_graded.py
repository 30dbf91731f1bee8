"""``privet reproduce``, last part: ranking, graded probabilities, and which learner to take when."""

from __future__ import annotations

from typing import Annotated

import typer

from privet.cli.options import Json
from privet.cli.output import print_json, progress, shout
from privet.cli.reproducing_forests import Folds, Quick

GRADED = "Example: privet reproduce additive --table adult --epsilon 1 --folds 5"
RELIABILITY = "Example: privet reproduce reliability --table adult"
WHICH = "Example: privet reproduce which-learner --table vote --table adult"

Tables = Annotated[
    list[str] | None, typer.Option("--table", metavar="T", help="A table of PRIVET_DATA; may be repeated.")
]
Recipes = Annotated[list[str] | None, typer.Option("--recipe", "-r", metavar="R", help="A method; may be repeated.")]
Epsilons = Annotated[
    list[float] | None, typer.Option("--epsilon", "-e", metavar="E", help="A budget; may be repeated.")
]


def additive(
    table: Tables = None,
    recipe: Recipes = None,
    epsilon: Epsilons = None,
    delta: Annotated[
        list[float] | None, typer.Option("--delta", metavar="D", help="0 or a small number; may be repeated.")
    ] = None,
    folds: Folds = None,
    references: Annotated[bool, typer.Option("--references/--no-references", help="Learners without noise.")] = True,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """AUC, log-loss and accuracy of the additive model, with standard errors. NOT PRIVATE: every fold is a fit.

    The tables are read from the directory that the environment variable PRIVET_DATA names.
    """
    from privet.experiments import graded as experiment
    from privet.experiments.evaluation import WARNING

    shout("NOT PRIVATE", WARNING)
    with progress("cross-validating") as advance:
        result = experiment.run(
            table or (("vote",) if quick else experiment.TABLES),
            recipe or experiment.RECIPES,
            epsilon or experiment.EPSILONS,
            deltas=delta or ((0.0,) if quick else (0.0, 1e-6)),
            references=experiment.REFERENCES if references else (),
            folds=folds or (experiment.QUICK_FOLDS if quick else experiment.FOLDS),
            progress=advance,
        )
    if as_json:
        print_json(result.to_dict())
        return
    print(f"epsilon {' / '.join(f'{e:g}' for e in epsilon or experiment.EPSILONS)}; {result.folds} folds\n")
    print("\n\n".join(result.to_markdown(measure) for measure in ("auc", "log_loss", "accuracy")))


def reliability(
    table: Tables = None,
    recipe: Annotated[str, typer.Option("--recipe", "-r", metavar="R", help="A method.")] = "additive",
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", metavar="E", help="A budget.")] = 1.0,
    folds: Folds = None,
    as_json: Json = False,
) -> None:
    """Predicted against observed probability in ten groups of records. NOT PRIVATE: every fold is a fit."""
    from privet.experiments import reliability as experiment
    from privet.experiments.evaluation import WARNING

    shout("NOT PRIVATE", WARNING)
    with progress("cross-validating"):
        result = experiment.run(table or experiment.TABLES, recipe, epsilon, folds=folds or experiment.FOLDS)
    if as_json:
        print_json(result.to_dict())
    else:
        print(f"predicted / observed %, {recipe} at epsilon {epsilon:g}\n\n{result.to_markdown()}")


def which_learner(
    table: Tables = None,
    recipe: Recipes = None,
    epsilon: Epsilons = None,
    folds: Folds = None,
    as_json: Json = False,
) -> None:
    """Which learner when: the recommended ones on many tables, by records times epsilon. NOT PRIVATE."""
    from privet.experiments import which_learner as experiment
    from privet.experiments.evaluation import WARNING

    shout("NOT PRIVATE", WARNING)
    with progress("cross-validating") as advance:
        result = experiment.run(
            table, recipe or experiment.RECIPES, epsilon or experiment.EPSILONS,
            folds=folds or experiment.FOLDS, progress=advance,
        )  # fmt: skip
    if as_json:
        print_json(result.to_dict())
    else:
        print(result.to_markdown())


def register(papers: typer.Typer) -> None:
    """Hang these commands on the tree."""
    papers.command("additive", epilog=GRADED)(additive)
    papers.command("reliability", epilog=RELIABILITY)(reliability)
    papers.command("which-learner", epilog=WHICH)(which_learner)
