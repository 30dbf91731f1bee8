"""The page of a model, opened in a real browser: what it shows, how it works, and that it asks nobody."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_reader import axe_faults
from sklearn.exceptions import NotFittedError

import privet
from privet.cli import app
from privet.errors import ParameterError
from privet.models.additive import Additive, Part
from privet.models.model import Model
from privet.models.tree import Tree
from privet.report.page import model_page
from privet.report.picture import SHRINKS
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, Threshold

EVIL = '</script><script>alert("x")</script>'


# ---- without a browser --------------------------------------------------------------------------------------------


def test_the_page_is_one_file_with_a_policy(tree_model: Model) -> None:
    page = model_page(tree_model)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in html.unescape(policy[1])
    assert policy[1].count("sha256-") == 2
    assert not re.search(r'(?:src|href)="(?!#|data:,)', page)
    assert " style=" not in page
    assert " onclick=" not in page


def test_everything_is_said(tree_model: Model) -> None:
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", model_page(tree_model)))
    for words in (
        "nothing in it is more than 1.65 times as likely with the record as without it",
        "right at most 62.3 times in 100",
        "epsilon = 0.5",
        "2026-11-17 09:30 UTC",
        "diffpid3: DiffPID3",
        "fingerprint",
        "privet 1.0, python 3.12",
        "the table with and without any one record",
        "one record (one row of the table)",
        "95 of 100 draws lie within ±13",
        "140 108 to 172",
        "shown as one: 4 stand for 5",
        "fewer than 30",
        "1 more rule: fewer than 30 records, which noise alone could have made",
        "No causes.",
        "Empty does not mean nobody.",
        "Noise is not sampling error.",
        "Greyed: 1 leaf",
        "a note",
    ):
        assert words in page, words


def test_a_non_private_model_is_marked_first(tree_model: Model, make_certificate: Any) -> None:
    caveat = "it looked <everywhere>"
    page = model_page(replace(tree_model, certificate=make_certificate(caveat=caveat, voids=True)))
    assert "This is NOT differentially private" in page
    assert "it looked &lt;everywhere&gt;" in page
    assert "times as likely" not in page


def test_no_text_of_a_schema_becomes_markup(tree_model: Model) -> None:
    page = model_page(tree_model)
    assert EVIL not in page
    assert "yes <b>" not in page
    assert page.count("<script") == 2  # the data and the code


def test_a_tree_without_counts_shows_no_numbers(tree_model: Model, make_certificate: Any) -> None:
    bare = Tree.build(tree_model.schema, [Threshold(0, 0), None, None], [1, -1, -1], [0, 0, 1])
    page = model_page(replace(tree_model, trees=bare, certificate=make_certificate(counts=False)))
    assert "This method buys no counts" in page
    assert "with equal weight for every branch" in page


def test_a_lone_leaf_is_a_page_too(tree_model: Model) -> None:
    page = model_page(replace(tree_model, trees=Tree.build(tree_model.schema, [None], [-1], [1])))
    assert "always" in page
    assert 'id="case"' not in page


def test_a_file_of_an_older_version(tree_model: Model) -> None:
    tree = replace(tree_model.trees, draws=np.zeros(8, np.int32))
    page = model_page(replace(tree_model, trees=tree, made={}, recipe="of another package"))
    assert "How much noise is in these counts is not known" in page
    assert "<dd>of another package</dd>" in page


def chain(leaves: int) -> Tree:
    """A balanced tree of so many leaves, with counts and names as long as people write them."""
    schema = Schema(
        tuple(Numeric(f"laboratory value number {a}", 0, 1000, bins=50) for a in range(20)),
        Categorical("class", ("discharged home", "moved to another ward")),
    )
    rng, tests, first_child = np.random.default_rng(0), [None] * (2 * leaves - 1), [-1] * (2 * leaves - 1)
    for node in range(leaves - 1):
        tests[node], first_child[node] = Threshold(int(rng.integers(20)), int(rng.integers(49))), 2 * node + 1
    counts = rng.integers(0, 9999, (len(tests), 2)).astype(float)
    label = counts.argmax(axis=1)
    return Tree.build(schema, tests, first_child, label, counts=counts, draws=np.ones(len(tests), np.int32))


def test_a_hundred_leaves_are_less_than_300_kb(tree_model: Model) -> None:
    page = model_page(replace(tree_model, trees=chain(100)))
    assert len(page.encode()) < 300_000
    width = re.search(r'class="tree[^"]*" viewBox="0 0 (\d+) ', page)
    assert width is not None
    assert int(width[1]) <= SHRINKS  # the first levels, as far as a screen shows them without scrolling
    assert "The picture shows the first levels" in page


def test_ten_curves_and_three_pairs_are_a_small_page(make_sum: Any) -> None:
    """As many, and as long ones, as a table of ten numbers has."""
    rng, cuts = np.random.default_rng(1), tuple((np.arange(1, 251) / 251).tolist())
    numbers = tuple(Numeric(f"number {i}", 0, 1, thresholds=cuts) for i in range(10))
    model = make_sum()
    schema = replace(model.trees.schema, attributes=numbers)
    walk = [rng.normal(size=(schema.arities[a], 1)).cumsum(axis=0) / 8 for a in range(10)]
    coarse = np.arange(schema.arities[0]) // 16
    sides = int(coarse.max()) + 1
    parts = [Part((a,), (np.arange(schema.arities[a]),), walk[a], 0.1) for a in range(10)]
    parts += [Part((0, a), (coarse, coarse), rng.normal(size=(sides**2, 1)), 0.1) for a in (1, 2, 3)]
    page = model_page(replace(model, trees=Additive(schema, tuple(parts), np.zeros(1), None)))
    assert len(page.encode()) < 300_000


def test_a_page_is_written_from_python(tree_model: Model, tmp_path: Path) -> None:
    page = privet.write_report(tree_model, tmp_path / "tree.html")
    assert page.read_text("utf-8") == model_page(tree_model)
    with pytest.raises(NotFittedError):
        privet.write_report(privet.ExactTreeClassifier(), tmp_path / "none.html")
    with pytest.raises(ParameterError, match="a fitted classifier or a model, not str"):
        privet.write_report("tree.json", tmp_path / "none.html")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"cannot write the page .*: No such file or directory"):
        privet.write_report(tree_model, tmp_path / "nowhere" / "tree.html")
    assert [path.name for path in tmp_path.iterdir()] == ["tree.html"]


def test_a_page_of_a_huge_tree_stays_a_page(tree_model: Model) -> None:
    page = model_page(replace(tree_model, trees=chain(5_000)))
    assert len(page.encode()) < 600_000
    assert "leaves, not shown" in page
    assert "more rules are not listed" in page


def test_the_curves_of_a_sum(make_sum: Any) -> None:
    model = make_sum(2)
    page = model_page(model)
    assert "an additive model for “rich”" in page
    assert page.count('class="shape" viewBox') == 5  # one for each attribute, and a pair
    value = model.trees.parts[3].table[0, 0]
    factor = f"× {np.exp(value):.2g}" if value >= 0 else f"÷ {np.exp(-value):.2g}"
    assert f'<tr><th scope="row">a</th><td class="number">{factor}</td></tr>' in page
    assert "<h4>age and job &amp; co</h4>" in page
    assert EVIL not in page
    assert 'id="rules"' not in page


def test_a_curve_that_noise_alone_could_have_made_is_grey(make_sum: Any) -> None:
    model = make_sum(2)
    parts = tuple(replace(part, deviation=50.0) for part in model.trees.parts)
    page = model_page(replace(model, trees=replace(model.trees, parts=parts)))
    assert page.count('class="shape faint"') == 4


# ---- in a browser -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tree", "forest", "void", "sum", "sum of three"])
def test_no_faults_are_found(
    kind: str, reader: Any, tree_model: Model, forest_model: Model, make_certificate: Any, make_sum: Any
) -> None:
    models = {"forest": forest_model, "sum": make_sum(2, leaf=True), "sum of three": make_sum(3)}
    model = models.get(kind, tree_model)
    if kind == "void":
        model = replace(model, certificate=make_certificate(caveat="it looked", voids=True))
    page = reader.open(model_page(model))
    for width, scheme in ((1280, "light"), (360, "dark")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 740})
        assert axe_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
    assert (reader.complaints, reader.outside()) == ([], [])


def test_a_planted_fault_is_found(reader: Any) -> None:
    assert any("image-alt" in fault for fault in axe_faults(reader.open('<html lang="en"><img src="data:,"></html>')))


def test_the_two_themes_differ(reader: Any, tree_model: Model) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        reader.page.emulate_media(color_scheme=scheme)
        page = reader.open(model_page(tree_model))
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(set(grounds)) == 2


def test_the_policy_is_in_force(reader: Any, tree_model: Model) -> None:
    """A script that somebody changed does not run, and the browser says so: the tests above could have failed."""
    page = reader.open(model_page(tree_model).replace('"use strict";', '"use strict"; '))
    assert page.locator("#case-form").is_hidden()
    assert any("Content Security Policy" in complaint for complaint in reader.complaints)
    reader.open(model_page(tree_model).replace("<h1>", '<img src="https://example.org/x.png" alt=""><h1>'))
    assert reader.complaints


def test_a_case_is_followed(reader: Any, tree_model: Model) -> None:
    page = reader.open(model_page(tree_model))
    page.fill("#field-0", "30")
    page.select_option("#field-1", label="clerk")
    assert page.inner_text("#case-result .verdict") == "The model says no"
    assert page.locator("#case-result li").all_inner_texts() == ["age ≤ 30", "job & co = clerk"]
    page.fill("#field-0", "30.01")
    assert page.locator("#case-result li").all_inner_texts() == ["age > 30 or is missing", "job & co = clerk"]
    page.select_option("#field-1", label="smith")
    assert page.inner_text("#case-result .verdict") == "The model says yes <b>"
    assert page.locator("svg .on").count() == 5  # three boxes and the two branches between them
    assert page.locator("#t0-7").get_attribute("class") == "on"
    page.fill("#field-0", "")  # missing goes right
    assert page.locator("#case-result li").all_inner_texts()[0] == "age > 30 or is missing"
    assert reader.complaints == []


def test_a_case_is_followed_past_a_test_that_is_not_shown(reader: Any, tree_model: Model) -> None:
    """Its only answer leads to the root of what is shown, which is no step of the case."""
    schema = replace(tree_model.schema, attributes=(Categorical("one", ("a",)), *tree_model.schema.attributes))
    tests, labels = [Multiway(0), Threshold(1, 0), None, None], [0, 0, 0, 1]
    page = reader.open(model_page(replace(tree_model, trees=Tree.build(schema, tests, [1, 2, -1, -1], labels))))
    page.fill("#field-1", "30")
    assert page.inner_text("#case-result .verdict") == "The model says no"
    assert page.locator("#case-result li").all_inner_texts() == ["age ≤ 30"]
    assert reader.complaints == []


def test_by_keyboard_alone(reader: Any, tree_model: Model) -> None:
    page = reader.open(model_page(tree_model))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    met = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        met.add(page.evaluate("document.activeElement.tagName + '#' + document.activeElement.id"))
        if page.evaluate("document.activeElement.tagName") == "SUMMARY" and "folded" not in met:
            page.keyboard.press("Enter")
            met.add("folded")
            assert page.locator("#t0-0").get_attribute("open") is None
            page.keyboard.press("Enter")
    assert {"folded", "BUTTON#", "INPUT#field-0", "SELECT#field-1", "DIV#"} <= met


def test_folding_and_printing(reader: Any, tree_model: Model) -> None:
    page = reader.open(model_page(tree_model))
    page.click("[data-fold=close]")
    assert page.locator(".tree details[open]").count() == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".tree details[open]").count() == 0
    page.click("[data-fold=open]")
    assert page.locator(".tree details:not([open])").count() == 0
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator("#certificate").is_visible()
    assert page.pdf().startswith(b"%PDF")


# ---- the command --------------------------------------------------------------------------------------------------


def run(*arguments: object) -> Any:
    from typer.testing import CliRunner

    return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="privet")


def test_the_command_writes_the_page(tree_model: Model, tmp_path: Path) -> None:
    model, page = tmp_path / "model.json", tmp_path / "page.html"
    tree_model.save(model)
    result = run("report", model, "-o", page)
    assert result.exit_code == 0, result.stderr
    assert page.read_text("utf-8") == model_page(tree_model)
    assert f"{page}: " in result.stdout
    again = run("report", model, "-o", page)
    assert again.exit_code == 1
    assert "it is there already" in again.stderr
    forced = run("report", model, "-o", page, "--force", "--json")
    assert json.loads(forced.stdout) == {"page": str(page), "bytes": page.stat().st_size}


def test_the_command_keeps_its_input(tree_model: Model, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    tree_model.save(model)
    before = model.read_bytes()
    assert "an input of this command" in run("report", model, "-o", model, "--force").stderr
    assert model.read_bytes() == before
    missing = run("report", tmp_path / "none.json", "-o", tmp_path / "page.html")
    assert missing.exit_code == 1
    assert "cannot read the model file" in missing.stderr
    assert not (tmp_path / "page.html").exists()
