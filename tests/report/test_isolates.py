"""On every page each name and value from right to left stands in an isolate of its own, and no control is raw."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from privet.bidi import END, ISOLATE, isolated
from privet.markup import tag, with_elements
from privet.models.additive import Additive, Part
from privet.models.forest import Forest
from privet.models.model import Model
from privet.models.render import export_graphviz, export_mermaid, export_text
from privet.models.tree import Tree
from privet.privacy.ledger import Ledger
from privet.report.chart import Limit
from privet.report.evaluation_page import _page
from privet.report.page import model_page
from privet.schema import Categorical, Numeric, Schema, Unit
from privet.structure.splits import Multiway, OneCategory, Threshold

RLO = "\u202e"
NAMES = [f"{RLO}שם{place}" for place in range(4)]
VALUES = ["قيمة", f"ערך{RLO}", "ج"]
LABELS = ["לא", f"نعم{RLO}"]
TITLE, UNIT = "מפקד", "مريض"
PLANTED = {isolated(text) for text in (*NAMES, *VALUES, *LABELS, TITLE, UNIT)}
SCHEMA = Schema(
    (
        Numeric(NAMES[0], 0, 100, thresholds=(30.0, 60.5), missing="?"),
        Categorical(NAMES[1], VALUES),
        Numeric(NAMES[2], 0, 80, integer=True, bins=4),
        Categorical(NAMES[3], ("a", "b")),
    ),
    Categorical("\u05de\u05e6\u05d1", LABELS),
    name=TITLE,
    title=TITLE,
)
PLANTED.add(isolated(SCHEMA.label.name))


class Page(HTMLParser):
    """The texts of a page and its attributes, with ``<bdi>`` written as the characters that it stands for."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = [""]
        self.scripts: list[str] = []
        self.inside = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, name: str, given: Any) -> None:
        self.inside = name
        if name == "bdi":
            self.texts[-1] += ISOLATE
            return
        self.texts += [value or "" for _, value in given] + [""]

    def handle_endtag(self, name: str) -> None:
        self.inside = ""
        if name == "bdi":
            self.texts[-1] += END
        else:
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts.append(data)
        else:
            self.texts[-1] += data


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


def loose(text: str) -> str:
    """What of a text is in no isolate that holds a planted name alone, or its beginning where it was cut."""

    def known(match: re.Match[str]) -> str:
        cut = match[0].removesuffix(END).removesuffix("…")
        return (
            "" if match[0] in PLANTED or ("…" in match[0] and any(one.startswith(cut) for one in PLANTED)) else match[0]
        )

    return re.sub(f"{ISOLATE}[^{ISOLATE}{END}]*{END}", known, text)


def faults(page: str) -> list[str]:
    read = Page(page)
    said = [*read.texts, *(text for block in read.scripts if block[:1] == "{" for text in strings(json.loads(block)))]
    return [text for text in said if re.search(f"[\u0590-\u06ff{RLO}{ISOLATE}{END}]", loose(text))]


def certificate() -> dict[str, Any]:
    ledger = Ledger(1)
    ledger.charge(0.25, "leaf class counts", mechanism="discrete Laplace", scale=4)
    found = replace(ledger.certificate(), unit=Unit(UNIT, 3))
    return found.to_dict()


def tree() -> Tree:
    tests = [Threshold(0, 0), Multiway(1), OneCategory(1, 0), None, None, None, None, None]
    counts = np.array([[160, 340], [100, 140], [60, 200], [90, 10], [2, 3], [8, 127], [55, 15], [5, 185]], float)
    first, label = [1, 3, 6, -1, -1, -1, -1, -1], [1, 1, 1, 0, 1, 1, 0, 1]
    proba = counts / counts.sum(axis=1, keepdims=True)
    return Tree.build(SCHEMA, tests, first, label, proba=proba, counts=counts, draws=np.ones(8, np.int32))


def additive() -> Additive:
    rng = np.random.default_rng(0)
    parts = [Part((a,), (np.arange(n),), rng.normal(size=(n, 1)), 0.1) for a, n in enumerate(SCHEMA.arities)]
    parts.append(Part((0, 1), (np.array([0, 0, 1, 1]), np.array([0, 1, 1])), rng.normal(size=(4, 1)), 0.2))
    return Additive(SCHEMA, tuple(parts), np.zeros(1))


def model_of(trees: Any) -> str:
    return model_page(Model("exact", trees, {}, certificate(), (), {"privet": "1"}))


PAGES: dict[str, Callable[[], str]] = {
    "tree": lambda: model_of(tree()),
    "forest": lambda: model_of(Forest(SCHEMA, (tree(), tree()), "proba")),
    "additive": lambda: model_of(additive()),
    "evaluation": lambda: _page(
        SCHEMA,
        [],
        [Limit("commonest", 0.5, floor=True)],
        promise="",
        private=False,
        strength="warning",
        how="",
        head=(),
        rows=[],
        spending=(),
    ),
}


@pytest.mark.parametrize("kind", PAGES)
def test_every_name_of_a_page_is_in_an_isolate(kind: str) -> None:
    page = PAGES[kind]()
    assert RLO not in page
    assert "<bdi>" in page
    assert faults(page) == []


def test_the_search_for_faults_finds_a_name_that_is_not_alone() -> None:
    """Planted: a template that isolates the sentence and not the name, and one that isolates nothing."""
    assert faults(with_elements(tag("p", f"{NAMES[0]} <= 5")))
    assert faults(f"<p>{VALUES[0]} is more</p>")
    assert faults(f'<p title="{VALUES[0]}">x</p>')
    assert not faults(with_elements(tag("p", f"{isolated(NAMES[0])} <= 5")))


@pytest.mark.parametrize("export", [export_text, export_mermaid, export_graphviz])
def test_no_control_is_raw_in_text(export: Callable[[Tree], str]) -> None:
    told = export(tree())
    assert RLO not in told
    assert "u202e" in told


def test_a_picture_by_matplotlib_has_no_control() -> None:
    pytest.importorskip("matplotlib")
    from privet.report.figures import plot_tree

    written = [text.get_text() for text in plot_tree(tree()).texts]
    assert any("\\u202e" in text for text in written)
    assert not any(set(text) & {RLO, ISOLATE, END} for text in written)
