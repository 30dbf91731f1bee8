"""The pages of the papers: what each says, what we found, a picture and a table an experiment, details folded.

They are written from kept results. An experiment that was not run is listed as such; of one that was cut, the whole
repeats are judged.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from privet.evaluation.cross_validation import WARNING
from privet.evaluation.figure import Figure
from privet.report.chart import figure_chart, standalone
from privet_experiments.outcome import Statement, Table, statement_table, tally
from privet_experiments.pictures import COUNTS, figures_of, verdicts
from privet_experiments.registry import Entry
from privet_experiments.runner import Run
from privet_experiments.settling import DRAWS, LEAST_RUNS, MOST_FLIPS

Ran = Sequence[tuple[Entry, Run | None]]
"""Experiments and what is kept of them; None where there is not one whole repeat."""
TITLE, INDEX, FOLDER = "The papers, reproduced", "reproduction.md", "reproduction"
FLIPS = f"""A verdict counts only if other runs would hardly give another. The runs behind each number (folds, or
training sets) are drawn again {DRAWS} times, and every statement is judged anew. Its chance of a flip is the share of
draws with another verdict. Above {100 * MOST_FLIPS:.0f} %, or with fewer than {LEAST_RUNS} runs, it has too few runs
to be judged. Where nothing is drawn, there is no chance. A form is run repeat by repeat, and ends when no statement has
too few runs: then it is settled, and its other repeats are not needed. It ends at the first look that settles it, so
the chances of such a form are a little too small."""


class Paper(NamedTuple):
    """A page: its title, and what the work says."""

    title: str
    says: str


PAPERS = {
    "friedman-schuster": Paper(
        "Friedman and Schuster, reproduced",
        "Friedman and Schuster (KDD 2010) grow a tree whose every split is drawn by the exponential mechanism. "
        "They say that the score with the lowest sensitivity, Max, does best where records or budget are few, that "
        "accuracy rises with both, and that with many records Max is limited by the depth and the others pass it.",
    ),
    "bai": Paper(
        "Bai et al., reproduced",
        "Bai et al. (Science China 2017) draw several levels of a tree at once. They say that a tree drawn level by "
        "level loses accuracy as it gets deeper, since each level gets less of the budget, and that whole trees lose "
        "less.",
    ),
    "thesis": Paper(
        "Fletcher's thesis, reproduced",
        "Fletcher's thesis (2017) asks what private trees still say: how alike the rules of two trees are (chapter 4), "
        "what anonymisers leave of patterns (chapter 5), and how near private trees come to CART (chapter 9).",
    ),
    "thesis-forests": Paper(
        "The forests of Fletcher's thesis, reproduced",
        "Chapters 6 to 8 of Fletcher's thesis (2017) propose three private forests: a greedy one with local "
        "sensitivity, one that weighs signal against noise, and random trees with smooth sensitivity. Each is said to "
        "be ahead of the forests and trees before it.",
    ),
    "worked-examples": Paper(
        "Worked examples of the sources",
        "What the three works compute on paper: formulas, examples and tables, computed again. Nothing is drawn.",
    ),
}
SOURCES = {"FS": "friedman-schuster", "BAI": "bai"}
FORESTS = ("fletcher-fig6", "fletcher-fig7", "fletcher-fig8", "fletcher-leaves", "fletcher-fig93", "fletcher-instances")


def paper_of(entry: Entry) -> str:
    """The page of an experiment, by whose figures it repeats: those of the thesis that are about forests are apart."""
    first = entry.source.partition(" ")[0].rstrip(",")
    if first == "TH":
        return "thesis-forests" if entry.name.startswith(FORESTS) else "thesis"
    return "worked-examples" if entry.name == "worked-examples" else SOURCES[first]


def reproduction_pages(ran: Ran, command: str) -> dict[str, str]:
    """The page of all papers, one for each paper, and their pictures, by the names of the files."""
    head = [*_wrapped(f"Written by `{command}` from kept results; nothing is run for it."), "", *_wrapped(WARNING), ""]
    papers: dict[str, list[tuple[Entry, Run | None]]] = {}
    for entry, run in ran:
        papers.setdefault(paper_of(entry), []).append((entry, run))
    counted = verdicts({slug: _statements(part) for slug, part in papers.items()}, "work")
    lines = [f"# {TITLE}", "", *head, *_wrapped(_found(ran)), "", *_picture(f"{FOLDER}/counts", counted)]
    lines += [*_wrapped(FLIPS), ""]
    drawn = {"counts": counted}
    written = {}
    for slug, part in papers.items():
        lines += [f"## [{PAPERS[slug].title}]({FOLDER}/{slug}.md)", "", *_wrapped(_found(part)), ""]
        lines += [_overview(part).to_markdown(), ""]
        page = [f"# {PAPERS[slug].title}", "", *_wrapped(PAPERS[slug].says), "", *_wrapped(_found(part)), ""]
        drawn[slug] = verdicts(_groups(part), "experiment" if len(part) > 1 else "work")
        page += [*_picture(slug, drawn[slug]), _overview(part).to_markdown(), "", *head]
        for entry, run in part:
            if run is not None:
                figures = {f"{entry.name}-{i}": one for i, one in enumerate(figures_of(run.outcome), 1)}
                page += _section(entry, run, figures)
                drawn |= figures
        written[f"{FOLDER}/{slug}.md"] = _text(page)
    pictures = {f"{FOLDER}/{name}.svg": standalone(figure_chart(figure)) for name, figure in drawn.items()}
    return {INDEX: _text(lines), **written, **pictures}


# ---- what was found ----------------------------------------------------------------------------------------------


def _found(ran: Ran) -> str:
    """All verdicts in a sentence, and what was not run."""
    agree, apart, few, closed = tally(_statements(ran))
    told = f"**What we found.** Statements judged: {agree + apart}. Reproduced: {agree}. Differing: {apart}. "
    ended = tally(_statements([(entry, run) for entry, run in ran if run is not None and not run.cut]))[2]
    told += f"Too few runs to judge: {few}" + (f", {ended} of them in forms that were run to the end" if ended else "")
    told += f". Not recomputable: {closed}."
    missing = [entry.name for entry, run in ran if run is None]
    cut = [f"{entry.name} ({_left(run)})" for entry, run in ran if run is not None and run.cut]
    told += f" Not run: {', '.join(missing)}." if missing else ""
    return told + (f" Not run to the end: {', '.join(cut)}." if cut else "")


def _left(run: Run) -> str:
    """What a form has more than was run."""
    return f"without {', '.join(run.left)}" if run.left else f"{run.repeats} of {run.wanted} repeats"


def _overview(ran: Ran) -> Table:
    columns = ("experiment", "source", *COUNTS, "repeats", "CPU minutes")
    return Table("Experiments", columns, tuple((e.name, e.source, *_cells(e, run)) for e, run in ran))


def _cells(entry: Entry, run: Run | None) -> tuple[str, ...]:
    if run is None:
        return (*("-" for _ in COUNTS), "not run", f"0 of about {120 * entry.hours:.0f}")
    whole = 7200 * entry.hours if run.left else run.seconds / run.repeats * run.wanted
    cost = f"{run.seconds / 60:.1f}" + (f" of about {whole / 60:.0f}" if run.cut else "")
    counts = tally(run.outcome.statements) if run.outcome.statements else ("-" for _ in COUNTS)
    return (*map(str, counts), _done(run), cost)


def _done(run: Run) -> str:
    """How many repeats there are, and what that leaves."""
    if run.left:
        return f"{run.repeats} of {run.wanted}, without {', '.join(run.left)}"
    return f"{run.repeats} of {run.wanted}" + (", settled" if run.settled and run.repeats < run.wanted else "")


def _groups(part: Ran) -> dict[str, list[Statement]]:
    """The statements of a page by experiment, or by work where the page has one experiment only."""
    if len(part) > 1:
        return {entry.name.removeprefix("fletcher-"): _statements([(entry, run)]) for entry, run in part}
    groups: dict[str, list[Statement]] = {}
    for one in _statements(part):
        groups.setdefault(one.source.partition(" ")[0], []).append(one)
    return groups


def _statements(ran: Ran) -> list[Statement]:
    return [statement for _, run in ran if run is not None for statement in run.outcome.statements]


# ---- an experiment -----------------------------------------------------------------------------------------------


def _section(entry: Entry, run: Run, figures: dict[str, Figure]) -> Iterator[str]:
    outcome = run.outcome
    yield from (f"## {entry.name}: {entry.title}", "")
    yield from (*_wrapped(f"{entry.source}. {outcome.verdict[0].upper()}{outcome.verdict[1:]}."), "")
    for name, figure in figures.items():
        yield from _picture(name, figure)
    if outcome.statements:
        yield from (statement_table(outcome.statements, why=False).to_markdown(), "")
    apart = [one for one in outcome.statements if one.verdict in ("differs", "not recomputable")]
    for one in apart:
        yield from _item(f"{one.says}: {one.verdict}. {one.reason}")
    yield from ("",) if apart else ()
    shown, folded = ([], outcome.tables) if outcome.statements else (outcome.tables[:1], outcome.tables[1:])
    for table in shown:
        yield from _table(table)
    yield from ('<details markdown="1">', "<summary>How it was run and judged, and all numbers</summary>", "")
    yield from (*_wrapped(_what(run)), "")
    for note in outcome.notes:
        yield from (*_wrapped(note), "")
    agree = [one for one in outcome.statements if one.verdict == "reproduced" and one.reason]
    rules = dict.fromkeys(f"{one.source}: {one.reason}" for one in agree)
    for rule in rules:
        yield from _item(rule)
    yield from ("",) if rules else ()
    for table in folded:
        yield from _table(table)
    yield from ("</details>", "")


def _picture(path: str, figure: Figure) -> tuple[str, ...]:
    return (f"![{figure.title}]({path}.svg)", "", f"*{figure.title}.*", "")


def _table(table: Table) -> tuple[str, ...]:
    return (*_wrapped(f"{table.title}:"), "", table.to_markdown(), "")


def _what(run: Run) -> str:
    """What was run: the values on each axis of the grid."""
    axes = "; ".join(f"{axis.name.replace('_', ' ')} {_told(getattr(run.grid, axis.name))}" for axis in run.grid.axes())
    runs = f"; {run.grid.n_runs} runs behind each number" if run.grid.n_runs else ""
    return f"The {run.form} form, {run.repeats} of {run.wanted} repeats{runs}: {axes}."


def _told(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(_told(one) for one in value) or "all"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _item(text: str) -> Iterator[str]:
    first, *others = _wrapped(text, 118)
    yield from (f"- {first}", *(f"  {line}" for line in others))


def _wrapped(text: str, width: int = 120) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"
