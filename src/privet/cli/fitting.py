"""``privet fit``: grow a model from private records."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import (
    Budget,
    JournalFile,
    Json,
    MaxDepth,
    MaxRows,
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
from privet.cli.spending import Analyst, Purse
from privet.cli.writing import Force, refuse_kind, why, writing
from privet.errors import ModelFileError, ParameterError, RecipeError
from privet.recipes.registry import DEFAULT, refuse_unknown

if TYPE_CHECKING:
    from privet.estimators.base import PrivateClassifier
    from privet.models.drafts import Draft
    from privet.privacy.reservations import Reservation
    from privet.schema import Schema

ROOM = 2**20  # bytes of the disk kept for the model while it grows; only large forests take more
EXAMPLE = "Example: privet fit patients.csv --schema patients.schema.json --epsilon 1 -o tree.json"


def fit(
    table: Source,
    schema: SchemaFile,
    epsilon: Annotated[
        Fraction, typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="What the fit may spend.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Where to write the model (JSON).")],
    recipe: Annotated[
        str, typer.Option("--recipe", "-r", metavar="R", help="The method; see `privet recipes`.")
    ] = DEFAULT,
    variant: Variant = "sound",
    max_depth: MaxDepth = None,
    settings: Settings = None,
    neighbours: Annotated[
        str | None, typer.Option("--neighbours", metavar="N", help="add-remove (the default) or replace-one.")
    ] = None,
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
            help="About how many usable records there are, a public number: buy a noisy count of them first, and stop "
            "if it is below a quarter of N.",
        ),
    ] = None,
    public: Annotated[
        str | None,
        typer.Option(
            "--public", metavar="TABLE", help="Unlabelled records that are public, for a recipe that learns from them."
        ),
    ] = None,
    seed: Seed = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Grow a model from private records and write it, with its certificate, to a file."""
    refuse_unknown([recipe])
    purse = Purse(journal, budget, analyst)
    if output.suffix.lower() in (".html", ".htm"):
        raise ParameterError("--output is the model file, which is JSON: call it .json; `privet report` makes its page")
    refuse_kind(output, "the model file, JSON,", ".json")
    mind_epsilon(epsilon)
    with progress("starting") as bar:
        from privet.engines.opening import header_of
        from privet.engines.sources import open_source
        from privet.engines.sources.loading import load_table
        from privet.schema import Schema
        from privet.tables.declared import refuse_source

        facts = with_unit(Schema.from_json(schema), unit, max_rows)
        params = make_params(recipe, max_depth, settings)
        params |= {"variant": variant, "expected_records": expect, "random_state": seed}
        params["neighbours"] = neighbours or "add-remove"  # until a journal says otherwise
        if public is not None:
            _check_takes_public(recipe)
            params["public"] = load_table(public, facts, with_label=False, quoted_line_breaks=quoted_line_breaks)
        classifier = _classifier(recipe, facts, epsilon=epsilon, **params)
        inputs = (Path(table), schema, journal, None if public is None else Path(public))
        # A model that cannot be written would be budget thrown away: its file is opened before anything is charged.
        with writing(output, "the model file", inputs=inputs, force=force, room=ROOM) as draft:
            source = open_source(table, quoted_line_breaks=quoted_line_breaks)
            assert source is not None  # a text is never a table itself
            check_unit(table, facts, unit)
            refuse_source(facts, header_of(source, facts), with_label=True)
            # The journal comes last. Its reservation ends when the model stands in its place, with the model's hash.
            with _reserved(purse, classifier, facts, neighbours) as work:
                classifier.fit(source, progress=bar)
                written, content = _publish(classifier, draft, output, force)
                if work is not None:
                    work.end(hashlib.sha256(content).hexdigest())
    _report(classifier, recipe, written, purse, work, as_json)


def make_params(recipe: str, max_depth: int | None, settings: list[str] | None) -> dict[str, Any]:
    """The parameters of a recipe that the command line gives, known to exist."""
    from privet.estimators.classifiers import classifier_class

    params = parse_settings(settings or [])
    offered = set(classifier_class(recipe)().get_params())
    refuse_settings(f"recipe {recipe!r}", params, offered)
    return params if max_depth is None else params | {"max_depth": max_depth}


def _check_takes_public(recipe: str) -> None:
    from privet.recipes.registry import recipe_class, recipe_classes

    if "public" not in recipe_class(recipe).__dataclass_fields__:
        able = ", ".join(name for name, kind in recipe_classes().items() if "public" in kind.__dataclass_fields__)
        raise RecipeError(f"recipe {recipe!r} learns nothing from public records; --public is for {able}")


def _classifier(recipe: str, schema: Schema, **params: Any) -> PrivateClassifier:
    from privet.estimators.registry import make_classifier
    from privet.growing.prelude import count_price
    from privet.privacy.budget import Neighbours
    from privet.privacy.budget import epsilon as check_epsilon

    classifier = make_classifier(recipe, schema=schema, **params)
    # What is wrong with the parameters is said before a table is read or a journal opened.
    epsilon = check_epsilon(params["epsilon"])
    classifier.recipe()
    if params["expected_records"] is not None:
        count_price(epsilon, params["expected_records"], Neighbours.parse(params["neighbours"]).steps)
    return classifier


@contextmanager
def _reserved(
    purse: Purse, classifier: PrivateClassifier, facts: Schema, neighbours: str | None
) -> Iterator[Reservation | None]:
    """What the fit spends from; without a journal the classifier has a budget of its own."""
    from privet.fitting import work_of

    if purse.journal is None:
        yield None
        return
    recipe = classifier.recipe()
    with purse.reserve(recipe.loss(classifier.epsilon), work_of(recipe), facts, neighbours) as work:
        classifier.set_params(ledger=work, neighbours=work.neighbours.value)
        yield work


def _publish(classifier: PrivateClassifier, draft: Draft, output: Path, force: bool) -> tuple[Path, bytes]:
    """Write the model and say where it is, and its bytes; a failure here is a loss, and the message says of what."""
    from privet.models.codec import to_text

    where = f"cannot write the model file {str(output)!r}"
    try:
        content = to_text(classifier.model_, where).encode()
        draft.write(content)
        place = draft.publish(replace=force)
    except (OSError, ModelFileError) as error:
        reason = str(error) if isinstance(error, ModelFileError) else f"{where}: {why(error)}"
        spent = classifier.certificate_.epsilon
        raise ModelFileError(f"{reason}. The model is lost, and epsilon {spent} stays charged for it") from error
    if place == draft.path:
        return output, content
    say(f"{output} was written by somebody else meanwhile and stays; the model is in {place}")
    return place, content


def _report(
    classifier: PrivateClassifier, recipe: str, output: Path, purse: Purse, work: Reservation | None, as_json: bool
) -> None:
    from privet.cli.showing import size_words

    size = classifier.model_.trees.size
    if as_json:
        facts = {"model": str(output), "recipe": recipe, "variant": classifier.variant, **size, **purse.facts(work)}
        print_json(facts | {"certificate": classifier.certificate_.to_dict()})
        return
    print(f"{output}: {recipe} ({classifier.variant}), {size_words(size)}")
    print(classifier.certificate_)
    purse.print_rest(work)
    print(f"Next: privet show {output}")


def register(app: typer.Typer) -> None:
    """Hang this command on the tree."""
    app.command(epilog=EXAMPLE)(fit)
