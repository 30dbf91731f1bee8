"""``privet fit``: grow a model from private records."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import (
    RESERVED,
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
    mind_epsilon,
    parse_epsilon,
    parse_settings,
    with_unit,
)
from privet.cli.output import print_json, progress, say
from privet.cli.writing import Force, why, writing
from privet.errors import ModelFileError, ParameterError, PrivetError, RecipeError
from privet.recipes.registry import DEFAULT

if TYPE_CHECKING:
    from privet.estimators.base import PrivateClassifier
    from privet.privacy.ledger import Ledger
    from privet.privacy.losses import Loss
    from privet.schema import Schema
    from privet.trees.drafts import Draft

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
        Path | None,
        typer.Option(
            "--public", metavar="TABLE", help="Unlabelled records that are public, for a recipe that learns from them."
        ),
    ] = None,
    seed: Seed = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Grow a model from private records and write it, with its certificate, to a file."""
    if budget is not None and journal is None:
        raise ParameterError("--budget is the cap of a journal; give --journal FILE too")
    if output.suffix.lower() in (".html", ".htm"):
        raise ParameterError("--output is the model file, which is JSON: call it .json; `privet report` makes its page")
    mind_epsilon(epsilon)
    ledger = None
    with progress("starting") as bar:
        from privet.engines.opening import header_of
        from privet.engines.sources import open_source
        from privet.schema import Schema
        from privet.schema.declared import refuse_source
        from privet.schema.files import read_table

        facts = with_unit(Schema.from_json(schema), unit, max_rows)
        params = make_params(recipe, max_depth, settings)
        params |= {"variant": variant, "expected_records": expect, "random_state": seed}
        params["neighbours"] = neighbours or "add-remove"  # until a journal says otherwise
        if public is not None:
            _check_takes_public(recipe)
            params["public"] = read_table(public, facts, with_label=False, quoted_line_breaks=quoted_line_breaks)
        classifier = _classifier(recipe, facts, epsilon=epsilon, **params)
        inputs = (Path(table), schema, journal, public)
        # A model that cannot be written would be budget thrown away: its file is opened before anything is charged.
        with writing(output, "the model file", inputs=inputs, force=force, room=ROOM) as draft:
            source = open_source(table, quoted_line_breaks=quoted_line_breaks)
            assert source is not None  # a text is never a table itself
            refuse_source(facts, header_of(source, facts), with_label=True)
            # The journal comes last: from here on a mistake can cost budget.
            if journal is not None:
                ledger = open_journal(journal, budget, classifier.recipe().loss(epsilon), neighbours, facts.name)
                classifier.set_params(ledger=ledger, neighbours=ledger.neighbours.value)
            try:
                classifier.fit(source, progress=bar)
            except PrivetError:
                if ledger is not None:
                    ledger.discard_unused()  # what was refused before any charge leaves no new journal behind
                raise
            written = _publish(classifier, draft, output, force)
    _report(classifier, recipe, written, ledger, journal, as_json)


def make_params(recipe: str, max_depth: int | None, settings: list[str] | None) -> dict[str, Any]:
    """The parameters of a recipe that the command line gives, known to exist."""
    from privet.estimators.classifiers import classifier_class

    params = parse_settings(settings or [])
    offered = set(classifier_class(recipe)().get_params())
    for name in params:
        if name not in offered:
            others = ", ".join(sorted(offered - set(RESERVED)))
            raise RecipeError(f"recipe {recipe!r} has no parameter {name!r}; with --set it takes {others}")
    return params if max_depth is None else params | {"max_depth": max_depth}


def _check_takes_public(recipe: str) -> None:
    from privet.recipes.registry import recipe_class, recipe_classes

    if "public" not in recipe_class(recipe).__dataclass_fields__:
        able = ", ".join(name for name, kind in recipe_classes().items() if "public" in kind.__dataclass_fields__)
        raise RecipeError(f"recipe {recipe!r} learns nothing from public records; --public is for {able}")


def _classifier(recipe: str, schema: Schema, **params: Any) -> PrivateClassifier:
    from privet.estimators.registry import make_classifier
    from privet.privacy.budget import Neighbours
    from privet.privacy.budget import epsilon as check_epsilon
    from privet.recipes.usable import count_price

    classifier = make_classifier(recipe, schema=schema, **params)
    # What is wrong with the parameters is said before a table is read or a journal opened.
    epsilon = check_epsilon(params["epsilon"])
    classifier.recipe()
    if params["expected_records"] is not None:
        count_price(epsilon, params["expected_records"], Neighbours.parse(params["neighbours"]).steps)
    return classifier


def open_journal(
    path: Path, budget: Fraction | None, price: Fraction | Loss, neighbours: str | None, dataset: str
) -> Ledger:
    """The budget that a file keeps, or a new one, which a charge that cannot fit does not leave behind.

    A new one has the delta that this command needs, and no more.
    """
    from privet.privacy.ledger import Ledger
    from privet.privacy.losses import Loss

    loss = price if isinstance(price, Loss) else Loss(price)

    if path.exists():  # it keeps its own cap and neighbours; what is said about them must agree
        ledger = Ledger(budget, neighbours=neighbours, journal=path)
        ledger.account("this command", loss)  # refused here, it does not tie the journal to a data set
        return ledger
    cap = loss.epsilon if budget is None else budget
    Ledger(cap, loss.delta, neighbours=neighbours).account("this command", loss)  # refused here, no file is left behind
    return Ledger(cap, loss.delta, neighbours=neighbours, journal=path, dataset=dataset or None)


def _publish(classifier: PrivateClassifier, draft: Draft, output: Path, force: bool) -> Path:
    """Write the model and say where it is; a failure here is a loss, and the message says of what."""
    from privet.trees.codec import to_text

    where = f"cannot write the model file {str(output)!r}"
    try:
        draft.write(to_text(classifier.model_, where))
        place = draft.publish(replace=force)
    except (OSError, ModelFileError) as error:
        reason = str(error) if isinstance(error, ModelFileError) else f"{where}: {why(error)}"
        spent = classifier.certificate_.epsilon
        raise ModelFileError(f"{reason}. The model is lost, and epsilon {spent} stays charged for it") from error
    if place == draft.path:
        return output
    say(f"{output} was written by somebody else meanwhile and stays; the model is in {place}")
    return place


def _report(
    classifier: PrivateClassifier, recipe: str, output: Path, ledger: Ledger | None, journal: Path | None, as_json: bool
) -> None:
    from privet.cli.showing import size_of, size_words
    from privet.privacy.losses import brief

    size = size_of(classifier.model_)
    if as_json:
        left = None if ledger is None else {"epsilon": ledger.left.epsilon, "delta": ledger.left.delta}
        facts = {"model": str(output), "recipe": recipe, "variant": classifier.variant, **size, "left": left}
        print_json(facts | {"certificate": classifier.certificate_.to_dict()})
        return
    print(f"{output}: {recipe} ({classifier.variant}), {size_words(size)}")
    print(classifier.certificate_)
    if ledger is None:
        print("No journal: nothing adds up what is learned from this table. --journal FILE --budget B keeps count.")
    else:
        delta = f", delta {brief(ledger.left.delta)}" if ledger.left.delta else ""
        print(f"Left of the budget in {journal}: epsilon {brief(ledger.left.epsilon)}{delta}")
    print(f"Next: privet show {output}")


def register(app: typer.Typer) -> None:
    """Hang this command on the tree."""
    app.command(epilog=EXAMPLE)(fit)
