"""Text, page, picture, plot and rules of fitted models all have the same numbers."""

from __future__ import annotations

import re
from typing import Any

import pytest

import privet
from privet.datasets.clinic import clinic
from privet.report.page import model_page

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

COUNT = r"([\d,]+|fewer than [\d,]+|about 0)"
LIMITS: list[dict[str, Any]] = [{}, {"max_leaves": 4}, {"min_support": 150}]


@pytest.fixture(scope="module", params=["exact", "greedy-forest", "diffpid3", "random-forest"])
def fitted(request: pytest.FixtureRequest) -> Any:
    schema, table = clinic(1500, seed=3)
    return privet.make_classifier(request.param, schema=schema, epsilon=0.4, max_depth=2).fit(table)


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_the_numbers_are_the_same_everywhere(fitted: Any, limits: dict[str, Any]) -> None:
    from matplotlib import pyplot

    shown = fitted.shown(**limits)
    expected = sorted(leaf.counts.total.words() for leaf in shown.leaves)
    labels = "|".join(re.escape(str(value)) for value in fitted.schema_.label.values)
    page = model_page(fitted.model_, **limits)
    listed = page[page.index('<div class="tree">') :]
    listed = listed[: listed.index('<section id="rules"')].split("<h3>Tree 2</h3>")[0]
    picture = page[page.index('<svg role="img" class="tree') :]
    picture = picture[: picture.index("</svg>")]
    table = page[page.index('<section id="rules"') :].split("<h3>Tree 2</h3>")[0]
    drawn = [text.get_text() for text in privet.plot_tree(fitted, **limits).texts]
    pyplot.close("all")
    ways = {
        "text": re.findall(rf"support {COUNT}[,)]", str(shown)),
        "rules": [re.findall(rf"support {COUNT}[,)]", str(rule))[0] for rule in shown.rules],
        "list": re.findall(rf'</strong> <span class="remark">{COUNT} records', listed),
        "picture": re.findall(rf'<tspan class="answer">{COUNT}</tspan>', picture),
        "table": re.findall(rf'data-head="records">{COUNT}', table),
        "plot": [found[1] for text in drawn if (found := re.fullmatch(rf"(?:mostly )?(?:{labels}) {COUNT}", text))],
    }
    for way, found in ways.items():
        assert sorted(count.replace(",", "") for count in found) == expected, way


def test_the_rules_of_the_model_have_them_too(fitted: Any) -> None:
    leaves = {leaf.node: leaf for leaf in fitted.shown().leaves if leaf.leaves == 1}
    first = fitted.model_.trees.trees[0] if hasattr(fitted.model_.trees, "trees") else fitted.tree_
    nodes = [node for node, _ in first.walk() if first.is_leaf[node]]
    met = [(leaves[node], rule) for node, rule in zip(nodes, fitted.rules_, strict=False) if node in leaves]
    assert met or not leaves
    merged = any(leaf.leaves > 1 for leaf in fitted.shown().leaves)  # then bounds follow from the merged family
    for leaf, rule in met:
        assert rule.support == leaf.support
        assert merged or rule.below == leaf.counts.total.below
