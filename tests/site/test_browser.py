"""The site in a real browser: nothing is asked of others, no fault for a screen reader, no page wider than a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from page_reader import axe_faults

PAGES = (
    "",
    "tutorial/",
    "guide/start/",
    "guide/sources/",
    "guide/server/",
    "reference/commands/",
    "reference/api/learners/",
    "recipes/exact/",
    "explanation/privacy/",
    "proofs/selection/",
    "proofs/perturbed_fit/",
    "experiments/comparison/",
)
PHONE = {"width": 360, "height": 740}
# What a stranger types, and the page that comes first. Where one fails, mend the titles and headings of the pages.
SEARCHES = {
    "how much budget is left": "guide/budgets/",
    "postgres table": "guide/sources/",
    "export to ONNX": "guide/exports/",
    "is epsilon 1 safe": "guide/choosing-epsilon/",
    "which model is most accurate": "guide/which-learner/",
    "spark cluster": "guide/spark/",
    "missing values": "guide/values/",
    "choosing epsilon": "guide/choosing-epsilon/",
    "run a server": "guide/server/",
    "BudgetExceeded": "reference/errors/",
    "install": "tutorial/",
    "cross validation leaks": "guide/tuning/",
    "config file defaults": "guide/configure/",
    "random_state reproducible": "guide/estimators/",
    "budget used up": "guide/budgets/",
    "synthetic data": "guide/publishing/",
    "multiple rows per person": "guide/sources/",
    "large csv out of memory": "guide/sources/",
    "How much epsilon do I need?": "guide/choosing-epsilon/",
    "How do I know it is private?": "explanation/privacy/",
    "python version": "tutorial/",
    "expot to onnx": "guide/exports/",  # a word that no page has
}


@pytest.mark.parametrize("colours", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_pages_have_no_fault_and_load_no_other_host(browser: Any, address: str, colours: str) -> None:
    page = browser.new_page(color_scheme=colours)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    wrong = {}
    for name in PAGES:
        page.goto(f"{address}/{name}")
        wrong[name] = axe_faults(page)
    page.close()
    assert {name: found for name, found in wrong.items() if found} == {}
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


@pytest.mark.parametrize("all_pages", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_no_page_is_wider_than_a_phone(browser: Any, address: str, site: Path, all_pages: bool) -> None:
    found = (file.parent.relative_to(site).as_posix() for file in sorted(site.rglob("index.html")))
    page = browser.new_page(viewport=PHONE)
    too_wide = {}
    for name in [name for name in found if not name.startswith("source/")] if all_pages else PAGES:
        page.goto(f"{address}/{name}")
        width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        too_wide |= {name: width} if width > 0 else {}
    page.close()
    assert too_wide == {}


def test_searches_end_on_the_right_page(browser: Any, address: str) -> None:
    """The page that the site's own search lists first."""
    page = browser.new_page()
    found = {}
    for words in SEARCHES:
        page.goto(f"{address}/explanation/limits/")
        page.locator(".md-search__button").click()
        page.locator("input[aria-autocomplete=list]").first.fill(words)
        links = page.locator("a[href*='?h=']")
        links.first.wait_for(timeout=20_000)
        found[words] = urlsplit(links.first.get_attribute("href")).path.strip("/") + "/"
    page.close()
    assert found == SEARCHES
