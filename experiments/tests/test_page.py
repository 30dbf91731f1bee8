"""The page of all experiments: every verdict stands in it, figures are to scale, and a browser finds no fault."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from privet.evaluation.figure import Figure, Point, Series
from privet.report.chart import figure_chart, standalone
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.outcome import Outcome, Statement, Table
from privet_experiments.page import PAPERS, paper_of, reproduction_markdown, reproduction_page, reproduction_pages
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
            Statement("A Fig. 1", "twice one is two", "2", str(rows[0]["double"]), "reproduced"),
            Statement("A Fig. 2", f"twice two is five {EVIL}", "5", str(rows[1]["double"]), "differs", "it is four"),
            Statement("A Fig. 3", "by a lost program", "7", "-", "not recomputable", "the program is lost"),
        )
        return Outcome((Table("Doubles", ("number", "double"), cells),), (LINES, BARS), statements, ("A note.",))


def ran() -> list[tuple[Entry, Any]]:
    return [
        (
            Entry("small", "A", "Doubling | halving", "nowhere:F", 0.5, {}, {}, {}),
            run("small", "quick", Small(), processes=1),
        )
    ]


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


def test_every_verdict_stands_in_the_page_and_in_the_text() -> None:
    page = reproduction_page(ran())
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    text = reproduction_markdown(ran(), "privet reproduce all")
    for told in (words, text):
        assert "1 of 2 statements reproduced; 1 differs; 1 not recomputable" in told
        assert "A note." in told
        assert "it is four" in told
        assert "numbers 1, 2" in told
    assert EVIL not in page
    assert "| small | A | 1 of 2 statements" in text
    first, _, rest = text.partition("## What differs")
    assert "twice one" not in first + rest.partition("## small")[0]
    assert all(len(line) <= 120 or line.startswith("|") for line in text.splitlines())


def test_no_faults_are_found(reader: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened = reader.open(reproduction_page(ran()))
    found = Axe().run(opened)
    assert [fault["id"] for fault in found.response["violations"]] == []
    assert opened.locator("svg").count() == 2
    assert opened.locator("h2").all_inner_texts() == ["All statements", "small: Doubling | halving"]
    assert (reader.complaints, reader.outside()) == ([], [])


def test_a_page_for_each_paper() -> None:
    pages = reproduction_pages(ran(), "privet reproduce all")
    assert "reproduction.md" in pages
    for entry, _ in ran():
        (page,) = (text for name, text in pages.items() if f"## {entry.name}:" in text)
        assert page.count(f"\n## {entry.name}:") == 1
        assert f"(reproduction/{paper_of(entry)}.md)" in pages["reproduction.md"]
        assert f"| {entry.name} |" in pages["reproduction.md"]


def test_every_experiment_has_a_paper() -> None:
    assert {paper_of(entry) for entry in ENTRIES} == PAPERS.keys() - {"others"}
