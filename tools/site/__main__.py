"""Build the site: `python tools/site` writes the pages to `build/docs` and the site to `build/site`, strictly."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from commands import commands_page
from staging import ROOT, Stage


def build() -> int:
    """Write the pages, then run Zensical; its exit code."""
    stage = Stage(ROOT / "build" / "docs")
    stage.fill()
    stage.write("reference/commands.md", commands_page())
    arguments = ["build", "--strict", "--config-file", str(ROOT / "mkdocs.yml"), "--clean"]
    command = [sys.executable, "-m", "zensical", *arguments]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    print(done.stdout)
    for page in (ROOT / "build" / "site").rglob("*.html"):  # a header without words is a plain cell, for screen readers
        page.write_text(re.sub(r"<th([^>]*)></th>", r"<td\1></td>", page.read_text("utf-8")), encoding="utf-8")
    return done.returncode or int("griffe: " in done.stdout)  # a docstring that cannot be read is a fault too


if __name__ == "__main__":
    sys.exit(build())
