"""``privet reproduce``: experiments of the papers and our own, run again and judged."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json
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
    from privet_experiments.experiment import Experiment, Row
    from privet_experiments.outcome import Outcome
    from privet_experiments.registry import Entry, Form
    from privet_experiments.runner import Run, Worked


Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="NAME", help="Of these experiments only; may be repeated.")
]


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
    only: Only = None,
    papers: Annotated[bool, typer.Option("--papers", help="Without privet's own experiments.")] = False,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", min=0, metavar="N", help="Begin no job after so long; the same command goes on."),
    ] = None,
    out: Out = DEFAULT_OUT,
    fresh: Fresh = False,
    processes: Processes = None,
    as_json: Json = False,
) -> None:
    """All experiments: the first repeat of each, from the cheapest on, then the second of those with statements that
    are not settled, and so on. It can be cut after any job; `privet reproduce pages` writes what is kept so far."""
    from privet.evaluation.cross_validation import WARNING
    from privet_experiments.runner import n_repeats

    form = form_of(quick, full, smoke)
    chosen = sorted(_chosen(only, papers=papers), key=lambda one: one.hours)
    shout("NOT PRIVATE", WARNING)
    if form == "full":
        say(f"The full form of all takes about {sum(one.hours for one in chosen):.0f} hours on two cores.")
    until = None if minutes is None else time.monotonic() + 60 * minutes
    open_forms = [(one, grid, n_repeats(grid)) for one in chosen for grid in [one.form(form)]]
    repeat = 1
    while open_forms:
        part = {"fresh": fresh and repeat == 1, "repeats": repeat, "until": until}
        worked = [_work(one, form, grid, out=out, processes=processes, **part) for one, grid, _ in open_forms]
        open_forms = [
            form_ for form_, did in zip(open_forms, worked, strict=True) if form_[2] > repeat and not did.settled
        ]
        repeat += 1
    ran = _recalled(chosen, form, out)
    if as_json:
        print_json([run.to_dict() for _, run in ran if run is not None])
    else:
        rows = tuple((e.name, e.source, "not run" if run is None else run.outcome.verdict) for e, run in ran)
        print_rich(_grid(Table("Experiments", ("name", "source", "verdict"), rows)))


def pages(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the pages and their pictures go.")],
    quick: Quick = False,
    full: Full = False,
    smoke: Smoke = False,
    only: Only = None,
    out: Out = DEFAULT_OUT,
    force: Force = False,
) -> None:
    """Write a page for each paper from the results that are kept in --out. Nothing is run: an experiment without
    results is listed as not run, and of one that was cut the whole repeats are judged."""
    from privet_experiments.page import INDEX, reproduction_pages

    form = form_of(quick, full, smoke)
    refuse(folder / INDEX, "the page of all papers", force=force)
    named = "".join(f" --only {name}" for name in only or ())
    command = f"privet reproduce pages {folder}{'' if form == 'full' else f' --{form}'}{named} --out {out}"
    for name, text in reproduction_pages(_recalled(_chosen(only, papers=True), form, out), command).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        say(f"wrote {_write(folder / name, text, 'the page', force=force)}")


def _chosen(only: list[str] | None, *, papers: bool) -> Sequence[Entry]:
    from privet_experiments.registry import ENTRIES, entry

    named = [entry(name) for name in only] if only else ENTRIES
    return [one for one in named if one.of_a_paper or not papers]


def _recalled(chosen: Sequence[Entry], form: Form, out: Path) -> list[tuple[Entry, Run | None]]:
    from privet_experiments.runner import recall

    return [(one, recall(one.name, form, one.form(form), out)) for one in chosen]


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


def _work(entry: Entry, form: Form, grid: Experiment, *, out: Path, **how: Any) -> Worked:
    """Run an experiment to its end, or as far as Ctrl-C or a limit lets it."""
    from privet_experiments import runner

    try:
        with progress(entry.name, time_left=True) as advance:
            return runner.work(entry.name, form, grid, out=out, progress=advance, **how)
    except KeyboardInterrupt:
        say(f"What is done is kept in {str(out)!r}; the same command goes on from there.")
        raise


def finish(entry: Entry, form: Form, grid: Experiment, *, out: Path, **how: Any) -> Run:
    """Run an experiment to its end, and conclude."""
    from privet_experiments import runner

    resumed = _work(entry, form, grid, out=out, **how).resumed
    found = runner.recall(entry.name, form, grid, out)
    assert found is not None
    if resumed:
        say(f"{entry.name}: {resumed} of {len(found.rows)} jobs were done before; --fresh does all of them again.")
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
    papers.command("all", epilog="Example: privet reproduce all --full --minutes 60 --out results")(everything)
    papers.command("pages", epilog="Example: privet reproduce pages docs --out results")(pages)
    for entry in ENTRIES:
        papers.command(entry.name)(stub(entry))
    app.add_typer(papers, name="reproduce", help="Run experiments of the papers again, and our own.")
