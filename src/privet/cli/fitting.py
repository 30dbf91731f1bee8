"""``privet fit``: fit a model to private records."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import (
    RESERVED,
    Budget,
    Delta,
    JournalFile,
    Json,
    MaxDepth,
    MaxRows,
    Neighbours,
    QuotedLineBreaks,
    SchemaFile,
    Seed,
    Settings,
    Source,
    Unit,
    Variant,
    check_unit,
    mind_epsilon,
    parse_epsilon,
    parse_settings,
    refuse_settings,
    with_unit,
)
from privet.cli.output import print_json, progress, say
from privet.cli.spending import Analyst, check_journal, print_rest, rest_of
from privet.cli.writing import Force, refuse_kind, writing
from privet.errors import ParameterError, RecipeError, TableError
from privet.recipes.registry import DEFAULT, DEFAULT_NUMBERS, default_recipe, refuse_unknown

if TYPE_CHECKING:
    from privet.models.model import Model
    from privet.work import Purse

EXAMPLE = "Example: privet fit patients.csv --schema patients.schema.json --epsilon 1 -o tree.json"


def fit(
    table: Source,
    schema: SchemaFile,
    epsilon: Annotated[
        Fraction, typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="The budget of the fit.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Where to write the model (JSON).")],
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            "-r",
            metavar="R",
            help=f"The method; see `privet recipes`. Without it {DEFAULT}, or {DEFAULT_NUMBERS} for a number.",
            show_default=False,
        ),
    ] = None,
    variant: Variant = "sound",
    delta: Delta = None,
    max_depth: MaxDepth = None,
    settings: Settings = None,
    neighbours: Neighbours = None,
    unit: Unit = None,
    max_rows: MaxRows = None,
    journal: JournalFile = None,
    budget: Budget = None,
    analyst: Analyst = None,
    quoted_line_breaks: QuotedLineBreaks = False,
    expect: Annotated[
        int | None,
        typer.Option(
            "--expect",
            metavar="N",
            min=1,
            help="The rough number of usable records, which must be public: buy a noisy count first, and stop "
            "if it is below a quarter of N.",
        ),
    ] = None,
    public: Annotated[
        str | None,
        typer.Option(
            "--public", metavar="TABLE", help="Public unlabelled records, for a recipe that learns from them."
        ),
    ] = None,
    seed: Seed = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Fit a model to private records and write it, with its certificate, to a file."""
    refuse_unknown([] if recipe is None else [recipe])
    check_journal(journal, budget, analyst)
    if output.suffix.lower() in (".html", ".htm"):
        raise ParameterError("--output is the model file, which is JSON: call it .json; `privet report` makes its page")
    refuse_kind(output, "the model file, JSON,", ".json")
    mind_epsilon(epsilon)
    with progress("starting") as bar:
        import numpy as np

        from privet.engines.opening import load_table
        from privet.fitting import Request, fit_to_file, public_random, threads_of
        from privet.recipes.registry import recipe_class
        from privet.schema import Schema
        from privet.schema.identifiers import unit_hint
        from privet.structure.compiled import threads
        from privet.work import ROOM, Purse

        facts = with_unit(Schema.from_json(schema), unit, max_rows)
        if hint := unit_hint(facts):
            say(f"note: {hint}")
        recipe = recipe or default_recipe(facts)
        params = make_params(recipe, max_depth, settings, delta) | {"variant": variant}
        jobs = threads_of(params.pop("n_jobs", None))
        if public is not None:
            _check_takes_public(recipe)
            params["public"] = load_table(public, facts, with_label=False, quoted_line_breaks=quoted_line_breaks)
        purse = Purse(journal, budget, analyst, neighbours)
        request = Request(
            recipe_class(recipe)(**params),
            table,
            epsilon,
            facts,
            ledger=None if journal is None else purse,
            neighbours=neighbours,
            random=public_random(np.random.RandomState(seed)),
            progress=bar,
            expected_records=expect,
            quoted_line_breaks=quoted_line_breaks,
        )
        inputs = (Path(table), schema, journal, None if public is None else Path(public))
        with threads(jobs), writing(output, "the model file", inputs=inputs, force=force, room=ROOM) as draft:
            try:
                saved = fit_to_file(request, draft, replace=force)
            except TableError:
                check_unit(table, facts, unit)
                raise
    if saved.place != output:
        say(f"{output} was written by another program meanwhile and is kept; the model is in {saved.place}")
    _report(saved.model, saved.place, purse, as_json)


def make_params(
    recipe: str, max_depth: int | None, settings: list[str] | None, delta: float | None = None
) -> dict[str, Any]:
    """The parameters of a recipe from the command line, checked to exist."""
    from privet.recipes.registry import recipe_class

    options = {"max_depth": max_depth, "delta": delta}
    params = parse_settings(settings or []) | {name: value for name, value in options.items() if value is not None}
    own = {field.name for field in fields(recipe_class(recipe))}
    offered = own | (RESERVED.keys() - {"public", "max_depth"}) | {"n_jobs"}
    refuse_settings(f"recipe {recipe!r}", params, offered)
    return params


def _check_takes_public(recipe: str) -> None:
    from privet.recipes.registry import recipe_class, recipe_classes

    if "public" not in recipe_class(recipe).__dataclass_fields__:
        able = ", ".join(name for name, kind in recipe_classes().items() if "public" in kind.__dataclass_fields__)
        raise RecipeError(f"recipe {recipe!r} learns nothing from public records; --public is for {able}")


def _report(model: Model, output: Path, purse: Purse, as_json: bool) -> None:
    from privet.cli.showing import size_words
    from privet.privacy.certificate import Certificate

    size, variant = model.trees.size, model.params["variant"]
    if as_json:
        facts = {"model": str(output), "recipe": model.recipe, "variant": variant, **size, **rest_of(purse)}
        print_json(facts | {"certificate": model.certificate})
        return
    print(f"{output}: {model.recipe} ({variant}), {size_words(size)}")
    print(Certificate.from_dict(model.certificate))
    print_rest(purse)
    print(f"Next: privet show {output}")


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(fit)
