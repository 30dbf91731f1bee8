"""``privet fit``: grow a model from private records."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import (
    RESERVED,
    Json,
    MaxDepth,
    SchemaFile,
    Seed,
    Settings,
    Table,
    Variant,
    parse_epsilon,
    parse_settings,
)
from privet.cli.output import print_json, progress
from privet.errors import ModelFileError, ParameterError, RecipeError

if TYPE_CHECKING:
    from privet.estimators.base import PrivateClassifier
    from privet.privacy.ledger import Ledger
    from privet.schema import Schema

EXAMPLE = "Example: privet fit clinic.csv --schema clinic.schema.json --recipe diffpc45 --epsilon 0.5 -o tree.json"


def fit(
    table: Table,
    schema: SchemaFile,
    recipe: Annotated[str, typer.Option("--recipe", "-r", metavar="R", help="The method; see `privet recipes`.")],
    epsilon: Annotated[
        Fraction, typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="What the fit may spend.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Where to write the model (JSON).")],
    variant: Variant = "sound",
    max_depth: MaxDepth = None,
    settings: Settings = None,
    neighbours: Annotated[
        str | None, typer.Option("--neighbours", metavar="N", help="add-remove (the default) or replace-one.")
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option("--journal", metavar="FILE", help="Spend from the budget that this file keeps; new if missing."),
    ] = None,
    budget: Annotated[
        Fraction | None,
        typer.Option(
            "--budget",
            metavar="B",
            parser=parse_epsilon,
            help="The cap of a new journal, for all fits together; this fit's epsilon if left out.",
        ),
    ] = None,
    public: Annotated[
        Path | None,
        typer.Option(
            "--public", metavar="TABLE", help="Unlabelled records that are public, for a recipe that learns from them."
        ),
    ] = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Grow a model from private records and write it, with its certificate, to a file."""
    from privet.cli.tables import read_table
    from privet.schema import Schema

    if budget is not None and journal is None:
        raise ParameterError("--budget is the cap of a journal; give --journal FILE too")
    facts = Schema.from_json(schema)
    params = make_params(recipe, max_depth, settings)
    if public is not None:
        _check_takes_public(recipe)
        params["public"] = read_table(public, facts, with_label=False)
    classifier = _classifier(recipe, facts, epsilon=epsilon, variant=variant, random_state=seed, **params)
    _check_writable(output)
    columns = read_table(table, facts, with_label=True)
    # The journal comes last: from here on a mistake can cost budget.
    if journal is not None:
        ledger = _open_journal(journal, budget, epsilon, neighbours)
        classifier.set_params(ledger=ledger, neighbours=ledger.neighbours.value)
    elif neighbours is not None:
        classifier.set_params(neighbours=neighbours)
    with progress(f"growing {recipe}") as advance:
        classifier.fit(columns, columns[facts.label.name], progress=advance)
    try:
        classifier.save(output)
    except ModelFileError as error:
        raise ModelFileError(f"{error}. The model is lost, and what was charged for it stays charged") from error
    _report(classifier, recipe, output, as_json)


def make_params(recipe: str, max_depth: int | None, settings: list[str] | None) -> dict[str, Any]:
    """The parameters of a recipe that the command line gives, known to exist."""
    from privet.estimators.registry import classifier_class

    params = parse_settings(settings or [])
    offered = set(classifier_class(recipe)().get_params())
    for name in params:
        if name not in offered:
            others = ", ".join(sorted(offered - set(RESERVED)))
            raise RecipeError(f"recipe {recipe!r} has no parameter {name!r}; with --set it takes {others}")
    return params if max_depth is None else params | {"max_depth": max_depth}


def _check_takes_public(recipe: str) -> None:
    from privet.estimators.registry import CLASSIFIERS, classifier_class

    if "public" not in classifier_class(recipe)().get_params():
        able = ", ".join(name for name in CLASSIFIERS if "public" in classifier_class(name)().get_params())
        raise RecipeError(f"recipe {recipe!r} learns nothing from public records; --public is for {able}")


def _classifier(recipe: str, schema: Schema, **params: Any) -> PrivateClassifier:
    from privet.estimators.registry import make_classifier
    from privet.privacy.budget import epsilon as check_epsilon

    classifier = make_classifier(recipe, schema=schema, **params)
    # What is wrong with the parameters is said before a table is read or a journal opened.
    check_epsilon(params["epsilon"])
    classifier.recipe()
    return classifier


def _open_journal(path: Path, budget: Fraction | None, epsilon: Fraction, neighbours: str | None) -> Ledger:
    from privet.privacy.ledger import Ledger

    is_new = not path.exists()
    # An existing journal keeps its own cap and neighbours; what is said about them must agree.
    return Ledger((budget or epsilon) if is_new else budget, neighbours=neighbours, journal=path)


def _check_writable(path: Path) -> None:
    """Before anything is charged: a model that cannot be written would be budget thrown away."""
    folder = path.absolute().parent
    reason = None
    if path.is_dir():
        reason = "it is a directory"
    elif not folder.is_dir():
        reason = f"there is no directory {str(folder)!r}"
    elif not os.access(folder, os.W_OK):
        reason = "permission denied"
    if reason is not None:
        raise ModelFileError(f"cannot write the model file {str(path)!r}: {reason}; nothing was charged")


def _report(classifier: PrivateClassifier, recipe: str, output: Path, as_json: bool) -> None:
    from privet.cli.showing import size_of, size_words

    size = size_of(classifier)
    if as_json:
        facts = {"model": str(output), "recipe": recipe, "variant": classifier.variant, **size}
        print_json(facts | {"certificate": classifier.certificate_.to_dict()})
        return
    print(f"{output}: {recipe} ({classifier.variant}), {size_words(size)}")
    print(classifier.certificate_)


def register(app: typer.Typer) -> None:
    """Hang this command on the tree."""
    app.command(epilog=EXAMPLE)(fit)
