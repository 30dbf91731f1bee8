"""``privet reproduce``: experiments of the papers and our own, run again and judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json, Markdown
from privet.cli.output import print_json, print_rich, progress, say, shout
from privet.cli.writing import Force, put, refuse, writing
from privet_experiments.options import (
    DEFAULT_OUT,
    Experiments,
    Fresh,
    Full,
    Out,
    Processes,
    Quick,
    Smoke,
    changed,
    form_of,
    stub,
)
from privet_experiments.outcome import Table

if TYPE_CHECKING:
    from privet_experiments.experiment import Row
    from privet_experiments.outcome import Outcome
    from privet_experiments.registry import Entry
    from privet_experiments.runner import Run


PAGE, INDEX = "reproduction.html", "reproduction.md"


def reproduce(
    entry: Entry,
    changes: dict[str, Any],
    *,
    quick: bool,
    full: bool,
    smoke: bool,
    out: Path,
    fresh: bool,
    processes: int | None,
    plots: Path | None,
    csv: Path | None,
    force: bool,
    markdown: bool,
    as_json: bool,
) -> None:
    """One experiment: run what is not there yet, and print what it comes to."""
    form = form_of(quick, full, smoke)
    grid = changed(entry, form, changes)
    if not grid.invented:
        from privet.evaluation.cross_validation import WARNING

        shout("NOT PRIVATE", WARNING)
    if form == "full" and not changes:
        say(f"The full form takes about {entry.hours:g} hours on two cores; --quick takes minutes.")
    if plots is not None:  # what would stop the pictures is said before the work
        refuse(_picture(plots, entry.name, 1), "the picture", force=force)
        plots.mkdir(parents=True, exist_ok=True)
    if csv is not None:
        refuse(csv, "the raw results", force=force)
    found = finish(entry, form, grid, out=out, fresh=fresh, processes=processes)
    if csv is not None:
        say(f"wrote {_write(csv, to_csv(found.rows), 'the raw results', force=force)}")
    if plots is not None:
        say(f"wrote {', '.join(map(str, _draw(found, plots, force=force)))}")
    if as_json:
        print_json(found.to_dict())
    elif markdown:
        print(to_markdown(found.outcome))
    else:
        print_rich(*(_grid(table) for table in _tables(found.outcome)), *found.outcome.notes)
        print(f"verdict: {found.outcome.verdict}")


def everything(
    quick: Quick = False,
    full: Full = False,
    smoke: Smoke = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="Of these experiments only; may be repeated.")
    ] = None,
    out: Out = DEFAULT_OUT,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="DIR", help="Also write one HTML page of all of it there.")
    ] = None,
    pages: Annotated[
        Path | None, typer.Option("--pages", metavar="DIR", help="Also write Markdown pages there: one a paper.")
    ] = None,
    markdown: Markdown = False,
    force: Force = False,
    fresh: Fresh = False,
    processes: Processes = None,
    as_json: Json = False,
) -> None:
    """All experiments, one after the other; with --report one page of all tables, figures and verdicts."""
    from privet.evaluation.cross_validation import WARNING
    from privet_experiments.page import reproduction_markdown, reproduction_page, reproduction_pages
    from privet_experiments.registry import ENTRIES, entry

    form = form_of(quick, full, smoke)
    chosen = [entry(name) for name in only] if only else ENTRIES
    shout("NOT PRIVATE", WARNING)
    if form == "full":
        say(f"The full form of all takes about {sum(e.hours for e in chosen):.0f} hours on two cores.")
    if report is not None:
        refuse(report / PAGE, "the page", force=force)
        report.mkdir(parents=True, exist_ok=True)
    if pages is not None:
        refuse(pages / INDEX, "the page of all papers", force=force)
        pages.mkdir(parents=True, exist_ok=True)
    named = "".join(f" --only {name}" for name in only or ())
    ran = []
    for one in chosen:
        ran.append((one, finish(one, form, one.form(form), out=out, fresh=fresh, processes=processes)))
        say(f"{one.name}: {ran[-1][1].outcome.verdict}; {ran[-1][1].seconds / 60:.1f} minutes")

    if report is not None:
        say(f"wrote {_write(report / PAGE, reproduction_page(ran), 'the page', force=force)}")
    if pages is not None:
        written = reproduction_pages(ran, f"privet reproduce all --{form}{named} --pages {pages}")
        for name, text in written.items():
            (pages / name).parent.mkdir(exist_ok=True)
            say(f"wrote {_write(pages / name, text, 'the page', force=force)}")
    if as_json:
        print_json([run.to_dict() for _, run in ran])
    elif markdown:
        print(reproduction_markdown(ran, f"privet reproduce all --{form}{named} --markdown"))
    else:
        rows = tuple((e.name, e.source, run.outcome.verdict) for e, run in ran)
        print_rich(_grid(Table("Experiments", ("name", "source", "verdict"), rows)))


def _draw(found: Run, folder: Path, *, force: bool) -> list[Path]:
    from privet.report.chart import figure_chart, standalone

    drawn = {
        _picture(folder, found.name, number): standalone(figure_chart(figure))
        for number, figure in enumerate(found.outcome.figures, 1)
    }
    return [_write(path, text, "the picture", force=force) for path, text in drawn.items()]


def _picture(folder: Path, name: str, number: int) -> Path:
    return folder / f"{name}-{number}.svg"


def _write(path: Path, text: str, what: str, *, force: bool) -> Path:
    with writing(path, what, force=force) as draft:
        return put(draft, text, what, force=force)


def finish(entry: Entry, form: Any, grid: Any, *, out: Path, fresh: bool = False, processes: int | None = None) -> Run:
    """Run an experiment to its end, or as far as Ctrl-C lets it; what is done is kept."""
    from privet_experiments import runner

    try:
        with progress(entry.name, time_left=True) as advance:
            found = runner.run(entry.name, form, grid, out=out, fresh=fresh, processes=processes, progress=advance)
    except KeyboardInterrupt:
        say(f"What is done is kept in {str(out)!r}; the same command goes on from there.")
        raise
    if found.resumed:
        say(
            f"{entry.name}: {found.resumed} of {len(found.rows)} jobs were done before; --fresh does all of them again."
        )
    return found


def to_csv(rows: Sequence[Row]) -> str:
    """Rows as CSV, with a column for every name; lists and the like as JSON.

    >>> to_csv([{"fold": 0, "epsilon": 1.0}, {"fold": 1, "sizes": [2, 3]}]).splitlines()
    ['fold,epsilon,sizes', '0,1.0,', '1,,"[2, 3]"']
    """
    import csv
    import io
    import json

    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        plain = {name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in row.items()}
        writer.writerow(plain)
    return text.getvalue()


def to_markdown(outcome: Outcome) -> str:
    """The tables and notes as the docs have them."""
    parts = [f"{table.title}\n\n{table.to_markdown()}" for table in _tables(outcome)]
    return "\n\n".join([*parts, *outcome.notes, f"verdict: {outcome.verdict}"])


def _tables(outcome: Outcome) -> list[Table]:
    from privet_experiments.outcome import statement_table

    return [*outcome.tables, *([statement_table(outcome.statements)] if outcome.statements else [])]


def _grid(table: Table) -> Any:
    from rich.markup import escape
    from rich.table import Table as Grid

    grid = Grid(*map(escape, table.columns), title=escape(table.title))
    for row in table.rows:
        grid.add_row(*map(escape, row))
    return grid


def _overview(
    list_: Annotated[bool, typer.Option("--list", help="What there is, and how long it takes.")] = False,
) -> None:
    """Run experiments of the papers again, and our own."""
    if not list_:
        return
    from privet_experiments.registry import ENTRIES

    rows = tuple((e.name, e.source, e.title, f"{e.hours:g}") for e in ENTRIES)
    print_rich(_grid(Table("Experiments", ("name", "source", "title", "hours of the full form"), rows)))


def register(app: typer.Typer) -> None:
    """Hang these commands on the tree."""
    from privet_experiments.registry import ENTRIES

    papers = typer.Typer(cls=Experiments, invoke_without_command=True, no_args_is_help=True)
    papers.callback()(_overview)
    papers.command("all", epilog="Example: privet reproduce all --quick --report pages")(everything)
    for entry in ENTRIES:
        papers.command(entry.name)(stub(entry))
    app.add_typer(papers, name="reproduce", help="Run experiments of the papers again, and our own.")
