"""The pages of the site: those of `docs/`, those they link to outside of it, and generated ones, in one folder.

Pages in the repository may link to code, examples and other files of it. The site has a page for each file that is
linked, so no link leaves it. Formulas become MathML, which browsers show without a script.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from latex2mathml.converter import convert

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCE = "source"  # the folder of pages about files outside of `docs/`
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\()(?!https?:|mailto:|#)([^)#\s]+)((?:#[^)\s]*)?\))")
CODE = re.compile(r"(^```.*?^```|`+[^`\n]+(?:\n[^`\n]+)?`+)", re.DOTALL | re.MULTILINE)
DISPLAYED = re.compile(r"^\$\$\s*(.+?)\s*\$\$$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<![\\$\w])\$([^\s$](?:[^$\n]*[^\s$])?)\$(?![\w$])([,.;:)?-]*)")
LANGUAGES = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".json": "json", ".sh": "sh", ".csv": "text"}
SHOWN = 200  # lines of a data file that a page shows
HIDDEN = "---\nsearch:\n  exclude: true\n---\n\n"  # code would crowd the pages out of the search


class Stage:
    """A folder that is filled with the pages of a site."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: set[Path] = set()  # files outside of `docs/` that have a page

    def fill(self) -> None:
        """Copy all of `docs/`, with its links and formulas turned into what the site has."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(DOCS, self.folder)
        for page in sorted(DOCS.rglob("*.md")):
            place = self.folder / page.relative_to(DOCS)
            place.write_text(self._page(page.read_text("utf-8"), page, place), encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        """Add a generated page."""
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def _page(self, text: str, page: Path, place: Path) -> str:
        """A page with the links it needs at another place, and its formulas typeset."""

        def relink(match: re.Match[str]) -> str:
            target = (page.parent / match[2]).resolve()
            if not target.exists() or ROOT not in target.parents:
                return match[0]  # the check of links reports it
            there = self._place(target)
            return f"{match[1]}{os.path.relpath(there, place.parent)}{match[3]}"

        return outside_code(text, lambda part: typeset(LINK.sub(relink, part)))

    def _place(self, target: Path) -> Path:
        """Where the site has a file; one outside of `docs/` gets a page."""
        if target.is_relative_to(DOCS):
            here = self.folder / target.relative_to(DOCS)
            return here / "index.md" if target.is_dir() else here
        name = target.relative_to(ROOT)
        place = self.folder / SOURCE / (name / "index.md" if target.is_dir() else name.with_name(f"{name.name}.md"))
        if target not in self._made:
            self._made.add(target)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(self._about(target, place), encoding="utf-8")
        return place

    def _about(self, target: Path, place: Path) -> str:
        """The page of a file or folder outside of `docs/`."""
        name = target.relative_to(ROOT).as_posix()
        if target.is_dir():
            files = [one for one in sorted(target.rglob("*")) if one.is_file() and "__pycache__" not in one.parts]
            rows = [
                f"- [`{one.relative_to(target)}`]({os.path.relpath(self._place(one), place.parent)})" for one in files
            ]
            return f"{HIDDEN}# {name}\n\n" + "\n".join(rows) + "\n"
        if target.suffix == ".md":
            return HIDDEN + self._page(target.read_text("utf-8"), target, place)
        if target.suffix == ".ipynb":
            return HIDDEN + "\n\n".join(cells(json.loads(target.read_text("utf-8")))) + "\n"
        lines = target.read_text("utf-8").splitlines()
        language = LANGUAGES.get(target.suffix, "text")
        if language == "text" and len(lines) > SHOWN:
            lines = [*lines[:SHOWN], f"... and {len(lines) - SHOWN} more lines"]
        return f"{HIDDEN}# {target.name}\n\n`{name}`\n\n~~~~{language}\n" + "\n".join(lines) + "\n~~~~\n"


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Change a page, but not its code. Links may hold code in their text, so code is set aside and put back.

    >>> outside_code("a `a` a", str.upper)
    'A `a` A'
    """
    kept: list[str] = []

    def put_aside(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\x00{len(kept) - 1}\x00"

    return re.sub(r"\x00(\d+)\x00", lambda match: kept[int(match[1])], change(CODE.sub(put_aside, text)))


def typeset(text: str) -> str:
    """Formulas between dollars as MathML. Markdown takes a line that begins with ``<math`` for a block, so not alone.

    What follows a formula without a space stays on its line.

    >>> typeset("costs $5 or $6, and $x^2$")[:41]
    'costs $5 or $6, and <span class="formula-'
    """
    shown = DISPLAYED.sub(lambda match: f'<div class="formula" tabindex="0">{math(match[1], "block")}</div>', text)
    return INLINE.sub(lambda match: f'<span class="formula-word">{math(match[1])}{match[2]}</span>', shown)


def math(formula: str, display: str = "inline") -> str:
    """A formula as MathML. Few fonts have the sign of a set difference, so it is a backslash."""
    return convert(formula.replace(r"\setminus", r"\, \backslash \,"), display=display)


def cells(notebook: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    """A notebook as a page: text, code, and what it printed. Pictures are where the notebook is run."""
    for cell in notebook["cells"]:
        text = "".join(cell["source"])  # type: ignore[arg-type]
        yield text if cell["cell_type"] == "markdown" else f"~~~~python\n{text}\n~~~~"
        for output in cell.get("outputs", []):  # type: ignore[attr-defined]
            printed = output.get("text") or output.get("data", {}).get("text/plain") or []
            if printed:
                yield "~~~~text\n" + "".join(printed).rstrip() + "\n~~~~"
