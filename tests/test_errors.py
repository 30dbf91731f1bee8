"""Errors carry facts; a message is made of them, in the words of Python or of a command."""

from __future__ import annotations

import pickle
from fractions import Fraction

import typer

from privet.cli.failures import spelling
from privet.errors import BudgetExceeded, ParameterError, Setting

ERROR = ParameterError(
    parameter="max_depth",
    problem=("must be 1 with ", Setting("search", "exhaustive")),
    fix=("lower ", Setting("max_depth"), " or use ", Setting("tests", "binary")),
)


def command() -> object:
    app = typer.Typer(add_completion=False)

    @app.command()
    def fit(max_depth: int = 1, settings: list[str] = typer.Option([], "--set")) -> None:  # noqa: B008
        """A command with an option of its own for the depth, and --set for the rest."""

    return typer.main.get_command(app)


def test_the_same_facts_in_two_spellings() -> None:
    assert str(ERROR) == "max_depth must be 1 with search='exhaustive'; lower max_depth or use tests='binary'"
    assert ERROR.text(spelling(command())) == (
        "--max-depth must be 1 with --set search=exhaustive; lower --max-depth or use --set tests=binary"
    )


def test_a_sentence_stays_a_sentence() -> None:
    error = ParameterError("the table is empty", parameter="table", fix="give one with records")
    assert str(error) == error.text(spelling(command())) == "the table is empty; give one with records"


def test_errors_survive_pickle() -> None:
    for error in (ERROR, BudgetExceeded(Fraction(1), Fraction(1, 4), "the budget", "a count")):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.parameter, again.problem, again.fix) == (
            str(error), error.parameter, error.problem, error.fix,
        )  # fmt: skip
        assert again.text(spelling(command())) == error.text(spelling(command()))
