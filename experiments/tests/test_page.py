"""The pages of the papers: every verdict and its chance of a flip stand in them, and what was not run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree

from privet.evaluation.figure import Figure, Point, Series
from privet.report.chart import figure_chart, standalone
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.outcome import Outcome, Statement, Table
from privet_experiments.page import PAPERS, paper_of, reproduction_pages
from privet_experiments.pictures import COUNTS
from privet_experiments.registry import ENTRIES, Entry
from privet_experiments.runner import run

EVIL = "</script><b>"
LINES = Figure(
    "Lines",
    "records",
    "accuracy %",
    (
        Series("first", (Point(1.0, 60.0, 5.0), Point(10.0, 70.0), Point(100.0, 80.0))),
        Series(f"second {EVIL}", (Point(1.0, 50.0),), dashed=True),
    ),
    logarithmic=True,
)
BARS = Figure("Bars", "table", "index", (Series("one", (Point("vote", 0.2), Point("car", 0.8, 0.1))),))


@dataclass(frozen=True)
class Small(Experiment):
    numbers: tuple[int, ...] = axis((1, 2), "A number.")

    def jobs(self) -> list[Job]:
        return [{"number": number} for number in self.numbers]

    def run(self, job: Job) -> Found:
        return {"double": 2 * job["number"]}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        cells = tuple((str(row["number"]), str(row["double"])) for row in rows)
        statements = (
            Statement("A Fig. 1", "twice one is two", "2", str(rows[0]["double"]), "reproduced", flip=0.025),
            Statement("A Fig. 2", f"twice two is five {EVIL}", "5", str(rows[1]["double"]), "differs", "it is four"),
            Statement("A Fig. 3", "by a lost program", "7", "-", "not recomputable", "the program is lost"),
        )
        return Outcome((Table("Doubles", ("number", "double"), cells),), (LINES, BARS), statements, ("A note.",))


def entry(name: str) -> Entry:
    return Entry(name, "FS Fig. 0", "Doubling | halving", "papers.nowhere:F", 0.5, {}, {}, {})


def ran() -> list[tuple[Entry, Any]]:
    return [(entry("small"), run("small", "quick", Small(), processes=1)), (entry("never"), None)]


def places(chart: str, kind: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(rf'cx="([\d.]+)" cy="([\d.]+)" r="4" class="{kind}"', chart)]


def test_lines_are_to_scale() -> None:
    chart = figure_chart(LINES)
    (x1, y1), (x2, y2), (x3, y3) = places(chart, "c0")[:3]
    assert abs((x2 - x1) - (x3 - x2)) < 0.3  # logarithmic
    assert abs((y1 - y2) - (y2 - y3)) < 0.3
    assert 'class="curve c1 dashed"' in chart
    assert EVIL not in chart


def test_bars_are_to_scale() -> None:
    heights = [float(h) for h in re.findall(r'<rect[^>]* height="([\d.]+)"', figure_chart(BARS))]
    assert abs(heights[1] / heights[0] - 4) < 0.05


def test_a_picture_alone_is_a_file_of_svg() -> None:
    for figure in (LINES, BARS, Figure("None", "x", "y", ())):
        root = ElementTree.fromstring(standalone(figure_chart(figure)))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_every_verdict_stands_in_the_pages() -> None:
    pages = reproduction_pages(ran(), "privet reproduce pages docs")
    counts = "Statements judged: 2. Reproduced: 1. Differing: 1. Too few runs to judge: 0. Not recomputable: 1."
    for page in (pages["reproduction.md"], pages["reproduction/friedman-schuster.md"]):
        text = " ".join(page.split())
        assert f"{counts} Not run: never." in text
        assert "| small | FS Fig. 0 | 1 | 1 | 0 | 1 | 1 of 1 | 0.0 |" in text
        assert "| never | FS Fig. 0 | - | - | - | - | not run | 0 of about 60 |" in text
        assert "`privet reproduce pages docs`" in text
        assert all(len(line) <= 120 or line.startswith("|") for line in page.splitlines())
    before, _, folded = page.partition("<details")
    assert "| A Fig. 1 | twice one is two | 2 | 2 | reproduced | 2.5 % |" in before
    assert "| A Fig. 3 | by a lost program | 7 | - | not recomputable | - |" in before
    assert "differs. it is four" in before
    assert "| 2 | 4 |" not in before
    for told in ("numbers 1, 2", "A note.", "| 2 | 4 |"):
        assert told in folded
    assert "\n## never" not in page


@dataclass(frozen=True)
class Unsure(Small):
    def conclude(self, rows: Sequence[Row]) -> Outcome:
        agree, apart, _ = super().conclude(rows).statements
        return Outcome(statements=(replace(agree, verdict="too few runs"), apart))


def test_statements_that_more_runs_of_a_form_cannot_settle_are_counted() -> None:
    whole = run("small", "quick", Unsure(), processes=1)
    pages = [
        reproduction_pages([(entry("small"), one)], "a command") for one in (whole, replace(whole, wanted=2, repeats=1))
    ]
    told = [" ".join(page["reproduction.md"].split()) for page in pages]
    assert "Too few runs to judge: 1, 1 of them in forms that were run to the end. Not recomputable: 0." in told[0]
    assert "Too few runs to judge: 1. Not recomputable: 0. Not run to the end: small (1 of 2 repeats)." in told[1]


def test_a_rule_without_words_is_not_listed() -> None:
    page = reproduction_pages(ran(), "a command")["reproduction/friedman-schuster.md"]
    assert "A Fig. 1:" not in page


def test_pictures_are_written_beside_their_page() -> None:
    pages = reproduction_pages(ran(), "a command")
    drawn = re.findall(r"\]\(([^)]+\.svg)\)", pages["reproduction/friedman-schuster.md"])
    assert drawn == ["friedman-schuster.svg", "small-1.svg"]
    assert all(pages[f"reproduction/{name}"].startswith("<svg") for name in drawn)
    assert "](reproduction/counts.svg)" in pages["reproduction.md"]
    assert pages["reproduction/counts.svg"].count("<rect") == len(COUNTS)


def test_every_experiment_has_a_paper() -> None:
    assert {paper_of(one) for one in ENTRIES if one.of_a_paper} == PAPERS.keys()
