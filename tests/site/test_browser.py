"""The site in a real browser: nothing is asked of others, no fault for a screen reader, no page wider than a phone."""

from __future__ import annotations

from typing import Any

import pytest

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
    "experiments/comparison/",
)
PHONE = {"width": 360, "height": 740}
# What a stranger types, and the page where it should end.
SEARCHES = {
    "spark cluster": "guide/spark/",
    "missing values": "guide/values/",
    "choosing epsilon": "guide/choosing-epsilon/",
    "run a server": "guide/server/",
    "BudgetExceeded": "reference/errors/",
}


def faults(page: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['help']} ({one['nodes'][0]['html'][:120]})" for one in found]


@pytest.mark.parametrize("colours", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_pages_have_no_fault_and_ask_nobody(browser: Any, address: str, colours: str) -> None:
    page = browser.new_page(color_scheme=colours)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    wrong = {}
    for name in PAGES:
        page.goto(f"{address}/{name}")
        wrong[name] = faults(page)
    page.close()
    assert {name: found for name, found in wrong.items() if found} == {}
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


def test_no_page_is_wider_than_a_phone(browser: Any, address: str) -> None:
    page = browser.new_page(viewport=PHONE)
    widths = {}
    for name in PAGES:
        page.goto(f"{address}/{name}")
        widths[name] = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert {name: width for name, width in widths.items() if width > PHONE["width"]} == {}


def test_five_searches_end_on_the_right_page(browser: Any, address: str) -> None:
    page = browser.new_page()
    ends = {}
    for words in SEARCHES:
        page.goto(f"{address}/explanation/limits/")
        page.locator(".md-search__button").click()
        field = page.locator("input[aria-autocomplete=list]").first
        field.fill(words)
        ends[words] = page.locator("a[href*='?h=']").first.get_attribute("href", timeout=20_000)
    page.close()
    wrong = {words: ends[words] for words, place in SEARCHES.items() if f"/{place}?" not in str(ends[words])}
    assert wrong == {}
