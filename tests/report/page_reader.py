"""A real browser. Without one the tests that need it skip, and say what to do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
AXE = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .map(({id, help, nodes}) => ({id, help, nodes: nodes.map(({html}) => html)}))"""
HOW = "install one (as root: apt-get install chromium) and `pip install -e '.[browser]'`, or set PRIVET_BROWSER=path"


_STARTED: list[Any] = []  # the product's tests and those of experiments share one: playwright starts once a process


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless browser with a new, empty profile."""
    path = os.environ.get("PRIVET_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"NO BROWSER, SO NO PAGE WAS OPENED: {HOW}")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip(f"NO PLAYWRIGHT, SO NO PAGE WAS OPENED: {HOW}")
    if not _STARTED:
        player = sync_playwright().start()
        _STARTED.extend((player.chromium.launch(executable_path=path, args=FLAGS), player))
    yield _STARTED[0]
    if _STARTED:
        started, player = _STARTED
        _STARTED.clear()
        started.close()
        player.stop()


def axe_faults(page: Any) -> list[str]:
    """What axe finds wrong with a page as it is now: the rule, what it asks for, and the first elements."""
    from axe_playwright_python.base import AXE_SCRIPT

    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(AXE)
    return [f"{one['id']}: {one['help']}: {'; '.join(html[:120] for html in one['nodes'][:3])}" for one in found]


class Reader:
    """Somebody who opens pages, and remembers what the browser complained about and whom it asked."""

    def __init__(self, browser: Any, folder: Path, **options: Any) -> None:
        self.page = browser.new_page(**({"viewport": {"width": 1280, "height": 900}} | options))
        self.folder = folder
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, html: str) -> Any:
        path = self.folder / "page.html"
        path.write_text(html, encoding="utf-8")
        self.requests.clear()
        self.complaints.clear()
        self.page.goto(path.as_uri())
        return self.page

    def outside(self) -> list[str]:
        """What was asked for besides the page itself."""
        return [url for url in self.requests if not url.startswith((self.folder.as_uri(), "data:"))]


@pytest.fixture
def reader(browser: Any, tmp_path: Path) -> Iterator[Reader]:
    somebody = Reader(browser, tmp_path)
    yield somebody
    somebody.page.close()
