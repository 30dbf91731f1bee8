"""``privet reproduce``, third part: what an analyst learns, from rules and from published tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli.options import Json
from privet.cli.output import print_json, print_rich, progress, say, shout
from privet.cli.reproducing_forests import Folds, Markdown, Quick
from privet.cli.writing import Force, refuse

TABLE43 = "Example: privet reproduce fletcher-table43 --quick"
FIG91 = "Example: privet reproduce fletcher-fig91 --quick --plots pictures"
RETENTION = "Example: privet reproduce fletcher-retention --quick"
CONTEST = "Example: privet reproduce publish-or-grow --quick --plots pictures"

Tables = Annotated[
    list[str] | None, typer.Option("--table", metavar="T", help="A table of PRIVET_DATA; may be repeated.")
]
Plots = Annotated[Path | None, typer.Option("--plots", metavar="DIR", help="Also writes the picture there, as PNG.")]


def fletcher_table43(
    table: Tables = None, folds: Folds = None, quick: Quick = False, markdown: Markdown = False, as_json: Json = False
) -> None:
    """Fletcher's Table 4.3: rules of scikit-learn's trees by Gini index and by information gain. NOT PRIVATE."""
    from privet.experiments import rule_similarity as experiment

    tables = tuple(table or (experiment.QUICK_TABLES if quick else experiment.TABLE_43))
    _warn()
    with progress("comparing rules") as advance:
        result = experiment.run_table43(tables, folds=_folds(experiment, folds, quick), progress=advance)
    _print(result, markdown, as_json)


def fletcher_fig91(
    table: Tables = None,
    folds: Folds = None,
    quick: Quick = False,
    plots: Plots = None,
    force: Force = False,
    markdown: Markdown = False,
    as_json: Json = False,
) -> None:
    """Fletcher's Figures 9.1 and 9.2: private trees' rules and accuracy beside CART's. NOT PRIVATE."""
    from privet.experiments import knowledge_pictures as pictures
    from privet.experiments import rule_similarity as experiment

    tables = tuple(table or (experiment.FIG_TABLES[:1] if quick else experiment.FIG_TABLES))
    if plots is not None:
        _prepare(plots, pictures.picture_of_similarity(plots), force)
    _warn()
    with progress("comparing rules") as advance:
        result = experiment.run_fig91(tables, folds=_folds(experiment, folds, quick), progress=advance)
    if plots is not None:
        say(f"wrote {pictures.plot_similarity(result, plots)}")
    _print(result, markdown, as_json)


def fletcher_retention(
    table: Tables = None, folds: Folds = None, quick: Quick = False, markdown: Markdown = False, as_json: Json = False
) -> None:
    """Fletcher's section 5.7: what each anonymiser leaves of a table's patterns. NOT PRIVATE."""
    from privet.experiments import anonymising as experiment

    tables = tuple(table or (experiment.QUICK_TABLES if quick else experiment.RETENTION_TABLES))
    _warn()
    with progress("anonymising") as advance:
        result = experiment.run_retention(tables, folds=_folds(experiment, folds, quick), progress=advance)
    _print(result, markdown, as_json)


def publish_or_grow(
    table: Tables = None,
    folds: Folds = None,
    quick: Quick = False,
    plots: Plots = None,
    force: Force = False,
    markdown: Markdown = False,
    as_json: Json = False,
) -> None:
    """Trees from published tables against trees grown privately from the records, at one epsilon. NOT PRIVATE."""
    from privet.experiments import anonymising as experiment
    from privet.experiments import knowledge_pictures as pictures

    tables = tuple(table or (experiment.QUICK_TABLES if quick else experiment.CONTEST_TABLES))
    if plots is not None:
        _prepare(plots, pictures.picture_of_contest(plots), force)
    _warn()
    with progress("publishing and growing") as advance:
        result = experiment.run_contest(tables, folds=_folds(experiment, folds, quick), progress=advance)
    if plots is not None:
        say(f"wrote {pictures.plot_contest(result, plots)}")
    _print(result, markdown, as_json)


def _folds(experiment: Any, folds: int | None, quick: bool) -> int:
    return int(folds or (experiment.QUICK_FOLDS if quick else experiment.FOLDS))


def _warn() -> None:
    from privet.experiments.evaluation import WARNING

    shout("NOT PRIVATE", WARNING)


def _prepare(plots: Path, picture: Path, force: bool) -> None:
    """What would stop a picture is said before the work, not after it."""
    from privet.experiments.bai_pictures import check_matplotlib

    check_matplotlib()
    refuse(picture, "the picture", force=force)
    plots.mkdir(parents=True, exist_ok=True)


def _print(result: Any, markdown: bool, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
        return
    if markdown:
        print(result.to_markdown())
        return
    from rich.table import Table as Grid

    heads, _, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in result.to_markdown().split("\n")
    )
    grid = Grid(*heads)
    for row in rows:
        grid.add_row(*row)
    print_rich(grid)


def register(papers: typer.Typer) -> None:
    """Hang these commands on ``reproduce``."""
    papers.command("fletcher-table43", epilog=TABLE43)(fletcher_table43)
    papers.command("fletcher-fig91", epilog=FIG91)(fletcher_fig91)
    papers.command("fletcher-retention", epilog=RETENTION)(fletcher_retention)
    papers.command("publish-or-grow", epilog=CONTEST)(publish_or_grow)
