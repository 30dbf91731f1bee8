"""The site as files: every link leads somewhere, nothing comes from elsewhere, and every page has its place."""

from __future__ import annotations

import ast
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

import privet

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """What a page links to, what it loads, and which anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[key] for key in ("id", "name") if key in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in LOADED and found.get("rel") not in ("canonical", "prev", "next", "sitemap"):
            self.loads += [found[key] for key in (LOADED[tag],) if key in found]


def faults(site: Path) -> list[str]:
    """Every link to a file or an anchor that the site does not have, and everything loaded from another host."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}
    found = []
    for path, page in pages.items():
        here = path.relative_to(site)
        found += [f"{here} loads {url}" for url in page.loads if urlsplit(url).netloc]
        for url in page.links + page.loads:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            name = unquote(parts.path)
            target = (site / name.lstrip("/") if name.startswith("/") else path.parent / name).resolve()
            target = (target / "index.html" if target.is_dir() else target) if name else path
            if not target.is_relative_to(site) or not target.exists():
                found.append(f"{here} links to {url}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{here} links to {url}: there is no such anchor")
    return found


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    assert len(list(site.rglob("*.html"))) > 100
    assert faults(site) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<a href="no/">a</a><a href="#b">b</a><script src="https://x.org/y"></script>')
    assert faults(tmp_path) == [
        "index.html loads https://x.org/y",
        "index.html links to no/",
        "index.html links to #b: there is no such anchor",
    ]


def test_styles_load_nothing_from_elsewhere(site: Path) -> None:
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", style.read_text("utf-8")), style


def in_nav(nav: object) -> list[str]:
    """The pages of a navigation, in order."""
    if isinstance(nav, str):
        return [nav]
    below = nav.values() if isinstance(nav, dict) else nav
    assert isinstance(nav, dict | list)
    return [page for part in below for page in in_nav(part)]


def test_every_page_has_one_place_in_the_navigation() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    listed = in_nav(config["nav"])
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} | {"reference/commands.md"}
    assert sorted(listed) == sorted(pages), "give each page of docs/ one line below `nav` in mkdocs.yml"


def test_every_public_name_is_in_the_reference() -> None:
    named = set(
        re.findall(r"^::: (\S+)", "\n".join(p.read_text() for p in DOCS.glob("reference/**/*.md")), re.MULTILINE)
    )
    errors = {name for name in privet.__all__ if name.endswith(("Error", "Warning", "Exceeded", "Stopped"))}
    wanted = {f"privet.{name}" for name in set(privet.__all__) - errors - {"__version__", "papers"}}
    assert wanted - named == set()
    assert "privet.errors" in named
    papers = ast.parse((ROOT / "src" / "privet" / "papers.py").read_text("utf-8"))
    (listed,) = (ast.literal_eval(one.value) for one in papers.body if isinstance(one, ast.Assign))
    assert {f"privet.estimators.classifiers.{name}" for name in listed} - named == set()


@pytest.mark.parametrize("name", ["Ledger", "ExactTreeClassifier", "AdditiveRegressor", "connect"])
def test_the_reference_shows_docstrings(site: Path, name: str) -> None:
    pages = [page.read_text("utf-8") for page in (site / "reference" / "api").rglob("index.html")]
    (page,) = (page for page in pages if f'id="privet.{name}"' in page)
    assert "doc-signature" in page or "doc-heading" in page


def test_formulas_are_typeset(site: Path) -> None:
    words_only = {"index", "planted_faults", "server"}
    proofs = {f"proofs/{page.stem}" for page in DOCS.glob("proofs/*.md") if page.stem not in words_only}
    recipes = {f"recipes/{page.stem}" for page in DOCS.glob("recipes/*.md") if page.stem != "index"}
    for page in sorted(proofs | recipes | {"explanation/privacy"}):
        text = (site / page / "index.html").read_text("utf-8")
        assert "<math" in text or page in recipes, page
        shown = re.sub(r"<(math|code|pre|script)\b.*?</\1>", "", text, flags=re.DOTALL)
        assert "$" not in shown, f"{page}: a formula was left as it is written"
        assert not re.search(r"<m[io][^>]*>\\[a-z]", text), f"{page}: a command that the typesetter does not know"
        assert not re.search(r"</p>\s*<math", text), f"{page}: a formula within a sentence stands alone"


def test_the_reference_keeps_what_follows_the_parameters(site: Path) -> None:
    """Sentences and examples below the parameters of a docstring are no parameters."""
    page = (site / "reference" / "api" / "budgets" / "index.html").read_text("utf-8")
    (ledger,) = re.findall(r'id="privet\.Ledger" .*?</table>', page, re.DOTALL)
    assert "Copying or deep-copying a ledger" in ledger
    assert "Fraction" not in ledger
