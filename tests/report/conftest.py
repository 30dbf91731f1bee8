"""A real browser, and models to write pages of. Without a browser the tests that need one skip, and say what to do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet.privacy.ledger import Ledger
from privet.schema import Categorical, Numeric, Schema
from privet.structure.routes import Routes
from privet.structure.splits import Multiway, OneCategory, Threshold
from privet.trees.additive import Additive, Part
from privet.trees.codec import Model
from privet.trees.forest import Forest
from privet.trees.tree import Tree

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
HOW = "install one (as root: apt-get install chromium) and `pip install -e '.[browser]'`, or set PRIVET_BROWSER=path"
EVIL = '</script><script>alert("x")</script>'


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
    with sync_playwright() as player:
        started = player.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


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


SCHEMA = Schema(
    (
        Numeric("age", 0, 100, thresholds=(30.0, 60.5), missing="?"),
        Categorical("job & co", ("clerk", EVIL, "smith")),
        Numeric("hours", 0, 80, integer=True, bins=4),
        Categorical("unused", ("a", "b")),
    ),
    Categorical("rich", ("no", "yes <b>")),
    name="census",
    title="A census",
)
MADE = {"date": "2026-11-17T09:30Z", "privet": "1.0", "python": "3.12"}


def small_tree(shift: int = 0) -> Tree:
    """Five leaves; one of them so small that noise hides it, one an aggregate of three noisy counts."""
    tests = [Threshold(0, 0), Multiway(1), OneCategory(1, 0), None, None, None, None, None]
    counts = (
        np.array([[160, 340], [100, 140], [60, 200], [90, 10], [2, 3], [8, 127], [55, 15], [5, 185]], float) + shift
    )
    draws = np.array([5, 3, 2, 1, 1, 3, 1, 1])
    proba = np.clip(counts, 1, None) / np.clip(counts, 1, None).sum(axis=1, keepdims=True)
    label = [1, 1, 1, 0, 1, 1, 0, 1]
    return Tree.build(SCHEMA, tests, [1, 3, 6, -1, -1, -1, -1, -1], label, proba=proba, counts=counts, draws=draws)


def certificate(*, counts: bool = True, caveat: str | None = None, voids: bool = False) -> dict[str, Any]:
    ledger = Ledger(1).allow_nonprivate()
    ledger.charge(0.25, "choice of tests", mechanism="exponential", scale=8)
    if counts:
        ledger.charge(0.25, "leaf class counts", mechanism="discrete Laplace", scale=4)
    if caveat is not None:
        ledger.add_caveat(caveat, voids=voids)
    return ledger.certificate().to_dict()


@pytest.fixture
def make_certificate() -> Callable[..., dict[str, Any]]:
    return certificate


@pytest.fixture
def tree_model() -> Model:
    return Model("diffpid3", small_tree(), {"max_depth": 2, "variant": "sound"}, certificate(), ("a note",), MADE)


def sum_model(classes: int = 2, *, leaf: bool = False, seed: int = 0) -> Model:
    """An additive model with a curve for each attribute, a table of a pair and, if asked, a small tree."""
    schema = replace(SCHEMA, label=Categorical("rich", ("no", "yes <b>", "very")[:classes]))
    rng, columns = np.random.default_rng(seed), 1 if classes == 2 else classes
    parts = [
        Part((a,), (np.arange(schema.arities[a]),), rng.normal(size=(schema.arities[a], columns)), 0.1)
        for a in range(len(schema.attributes))
    ]
    coarse = (np.array([0, 0, 1, 1]), np.array([0, 1, 1]))  # levels of two attributes
    parts.append(Part((0, 1), coarse, rng.normal(size=(4, columns)), 0.2))
    routes = None
    if leaf:
        routes = Routes.in_level_order(schema, [Threshold(0, 1), None, OneCategory(1, 2), None, None])
        parts.append(Part((), (), rng.normal(size=(3, columns)), 0.1))
    model = Additive(schema, tuple(parts), rng.normal(size=columns), routes)
    return Model("additive", model, {}, certificate(counts=False), (), MADE)


@pytest.fixture
def make_sum() -> Callable[..., Model]:
    return sum_model


@pytest.fixture
def forest_model() -> Model:
    forest = Forest(SCHEMA, tuple(small_tree(7 * i) for i in range(5)), "proba")
    return Model("random-forest", forest, {}, certificate(), (), MADE)
