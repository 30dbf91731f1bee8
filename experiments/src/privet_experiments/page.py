"""All experiments on one page, or in one Markdown text: what was run, its tables and figures, and every verdict."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from privet.evaluation.cross_validation import WARNING
from privet.report.chart import figure_chart
from privet.report.page import render
from privet_experiments.outcome import Statement, Table, count_verdicts, statement_table
from privet_experiments.registry import ENTRIES, Entry
from privet_experiments.runner import Run

TITLE = "The papers, reproduced"
Ran = Sequence[tuple[Entry, Run]]


def reproduction_page(ran: Ran) -> str:
    """One file of HTML."""
    return render(
        "reproduction.html",
        package=__package__,
        title=TITLE,
        warning=WARNING,
        summary=_summary(ran),
        overview=_overview(ran),
        statements=statement_table(_statements(ran), "Every statement"),
        parts=[_part(entry, run) for entry, run in ran],
    )


def reproduction_markdown(ran: Ran, command: str) -> str:
    """The same as a page of the docs, without pictures."""
    lines = [f"# {TITLE}", "", *_wrapped(f"Written by `{command}`; another run differs by its noise."), ""]
    lines += [*_wrapped(WARNING), "", *_wrapped(_summary(ran)), "", _overview(ran).to_markdown(), ""]
    apart = [one for one in _statements(ran) if one.verdict != "reproduced"]
    if apart:
        lines += ["## What differs, or cannot be recomputed", "", statement_table(apart).to_markdown(), ""]
    for entry, run in ran:
        lines += _section(entry, run)
    return "\n".join(lines)


def reproduction_pages(ran: Ran, command: str) -> dict[str, str]:
    """The same as several pages: one of all papers, and one for each paper, by the names of their files."""
    head = [*_wrapped(f"Written by `{command}`; another run differs by its noise."), "", *_wrapped(WARNING), ""]
    papers: dict[str, list[tuple[Entry, Run]]] = {}
    for entry, run in ran:
        papers.setdefault(paper_of(entry), []).append((entry, run))
    pages = {"reproduction.md": "\n".join([f"# {TITLE}", "", *head, *_wrapped(_summary(ran)), "", *_links(papers)])}
    for slug, part in papers.items():
        lines = [f"# {PAPERS[slug]}", "", *head]
        lines += [line for entry, run in part for line in _section(entry, run)]
        pages[f"reproduction/{slug}.md"] = "\n".join(lines)
    return pages


def paper_of(entry: Entry) -> str:
    """The page of an experiment, by whose figures it repeats: those of the thesis that are about forests are apart."""
    first = entry.source.partition(" ")[0].rstrip(",")
    if first == "TH":
        return "thesis-forests" if entry.name.startswith(FORESTS) else "thesis"
    return "worked-examples" if entry.source.count(",") > 1 and first == "FS" else SOURCES.get(first, "others")


SOURCES = {"FS": "friedman-schuster", "BAI": "bai", "privet": "privet"}
FORESTS = ("fletcher-fig6", "fletcher-fig7", "fletcher-fig8", "fletcher-leaves", "fletcher-fig93", "fletcher-instances")
PAPERS = {
    "friedman-schuster": "Friedman and Schuster, reproduced",
    "bai": "Bai et al., reproduced",
    "thesis": "Fletcher's thesis, reproduced",
    "thesis-forests": "The forests of Fletcher's thesis, reproduced",
    "privet": "privet's own experiments",
    "worked-examples": "Worked examples of the sources",
    "others": "Other sources, reproduced",
}


def _links(papers: dict[str, list[tuple[Entry, Run]]]) -> Iterator[str]:
    """For each paper a link to its page and the table of its experiments."""
    for slug, part in papers.items():
        yield from (f"## [{PAPERS[slug]}](reproduction/{slug}.md)", "", _overview(part).to_markdown(), "")


def _section(entry: Entry, run: Run) -> list[str]:
    lines = [f"## {entry.name}: {entry.title}", "", *_wrapped(_what(entry, run)), ""]
    for note in run.outcome.notes:
        lines += [*_wrapped(note), ""]
    for table in _tables(run):
        lines += [*_wrapped(f"{table.title}:"), "", table.to_markdown(), ""]
    return lines


def _summary(ran: Ran) -> str:
    minutes = sum(run.seconds for _, run in ran) / 60
    forms = "/".join(dict.fromkeys(run.form for _, run in ran))
    told = f"{len(ran)} experiments in their {forms} form, {minutes:.0f} minutes of one processor core in all: "
    told += f"{count_verdicts(_statements(ran))}."
    left_out = [one.name for one in ENTRIES if one.name not in {entry.name for entry, _ in ran}]
    return told + (f" Not run here: {', '.join(left_out)}." if left_out else "")


def _overview(ran: Ran) -> Table:
    rows = tuple((e.name, e.source, run.outcome.verdict, f"{run.seconds / 60:.1f}", f"{e.hours:g}") for e, run in ran)
    columns = ("experiment", "source", "verdict", "minutes of this form", "hours of the full form")
    return Table("Experiments", columns, rows)


def _statements(ran: Ran) -> list[Statement]:
    return [statement for _, run in ran for statement in run.outcome.statements]


def _part(entry: Entry, run: Run) -> dict[str, Any]:
    return {
        "name": entry.name,
        "title": f"{entry.name}: {entry.title}",
        "what": _what(entry, run),
        "notes": run.outcome.notes,
        "charts": [{"title": one.title, "picture": figure_chart(one)} for one in run.outcome.figures],
        "tables": _tables(run),
    }


def _tables(run: Run) -> list[Table]:
    judged = [statement_table(run.outcome.statements)] if run.outcome.statements else []
    return [*run.outcome.tables, *judged]


def _what(entry: Entry, run: Run) -> str:
    """What was run, in a sentence for each axis that the grid has."""
    axes = "; ".join(f"{axis.name.replace('_', ' ')} {_told(getattr(run.grid, axis.name))}" for axis in run.grid.axes())
    return f"{entry.source}, the {run.form} form: {axes}. {run.outcome.verdict[0].upper()}{run.outcome.verdict[1:]}."


def _told(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(_told(one) for one in value) or "all"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _wrapped(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)
