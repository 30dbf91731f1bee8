"""``privet reproduce``: experiments of the papers, run again and judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import (
    reproducing_bai,
    reproducing_forecast,
    reproducing_forests,
    reproducing_graded,
    reproducing_knowledge,
    reproducing_shapes,
)
from privet.cli.options import Json
from privet.cli.output import print_json, print_rich, progress

if TYPE_CHECKING:
    from privet.experiments.fs_table1 import Cell, Table1

EXAMPLE = "Example: privet reproduce fs-table1 --quick"


def fs_table1(
    quick: Annotated[bool, typer.Option("--quick", help="200 runs a cell instead of 5000.")] = False,
    runs: Annotated[int | None, typer.Option("--runs", min=2, metavar="N", help="Runs a cell, if neither.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seeds the training sets. Noise is never seeded.")] = 0,
    as_json: Json = False,
) -> None:
    """Friedman & Schuster's Table 1: one split, ten binary attributes, B = 0.1.

    Prints the table as published, each cell judged against the paper's, the table of the sound forms, which must not
    be worse, and privet's exact tree, which is judged against targets at 200 records and more.
    """
    from privet.experiments import fs_table1 as experiment

    wanted = runs or (experiment.QUICK if quick else experiment.FULL)
    with progress("running Table 1") as advance:
        table = experiment.run(wanted, seed=seed, progress=advance)
    if as_json:
        print_json(table.to_dict())
        return
    print_rich(
        _grid("As published: accuracy % ± sd, the paper's below", table.as_published, _judged),
        _grid("Sound: one-sided constant", table.sound, _plain),
        _grid("Drawn exactly, max_depth=1", table.exact, _aimed),
        _conclusion(table),
    )


def _grid(title: str, cells: tuple[Cell, ...], text: Any) -> Any:
    from rich.table import Table

    methods = list(dict.fromkeys(cell.method for cell in cells))
    grid = Table("records", *methods, title=title, show_lines=True)
    for records in dict.fromkeys(cell.records for cell in cells):
        row = {cell.method: text(cell) for cell in cells if cell.records == records}
        grid.add_row(str(records), *(row[method] for method in methods))
    return grid


def _judged(cell: Cell) -> str:
    colour = "green" if cell.verdict == "reproduced" else "red"
    distance = "" if cell.z is None else f", z {cell.z:.1f}"
    return f"{_plain(cell)}\n{cell.published_mean:g} ± {cell.published_sd:g}{distance}\n[{colour}]{cell.verdict}[/]"


def _aimed(cell: Cell) -> str:
    from privet.experiments.fs_table1 import TARGETS

    colour = "green" if cell.verdict == "reached" else "red"
    return f"{_plain(cell)}\nat least {TARGETS[cell.records]:g}: [{colour}]{cell.verdict}[/]"


def _plain(cell: Cell) -> str:
    return f"{cell.mean:.2f} ± {cell.sd:.1f}"


def _conclusion(table: Table1) -> str:
    apart = [f"{cell.method} at {cell.records}" for cell in table.as_published if cell.verdict != "reproduced"]
    behind = [f"{cell.method} at {cell.records}" for cell in table.sound if cell.verdict != "dominates"]
    lines = [f"verdict: {table.verdict}" + (f" ({', '.join(apart)})" if apart else f" ({table.runs} runs a cell)")]
    lines.append(f"sound forms fall behind: {', '.join(behind)}" if behind else "sound forms dominate: yes")
    missed = [f"at {cell.records}" for cell in table.exact if cell.verdict != "reached"]
    lines.append(
        f"exact tree misses its target: {', '.join(missed)}" if missed else "exact tree reaches its targets: yes"
    )
    return "\n".join(lines)


def register(app: typer.Typer) -> None:
    """Hang these commands on the tree."""
    papers = typer.Typer(help="Run experiments of the papers again.", no_args_is_help=True)
    papers.command("fs-table1", epilog=EXAMPLE)(fs_table1)
    reproducing_bai.register(papers)
    reproducing_forests.register(papers)
    reproducing_forecast.register(papers)
    reproducing_knowledge.register(papers)
    reproducing_graded.register(papers)
    reproducing_shapes.register(papers)
    app.add_typer(papers, name="reproduce")
