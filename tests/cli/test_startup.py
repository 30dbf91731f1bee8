"""The command starts at once: nothing that counts, draws or learns is loaded to print a help page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import privet
from privet.datasets.clinic import clinic

HEAVY = ("numpy", "numba", "sklearn", "scipy", "opendp", "narwhals", "pandas", "pyarrow")


def loaded_by(statement: str) -> list[str]:
    probe = f"import sys\n{statement}\nprint(*[m for m in {HEAVY!r} if m in sys.modules])"
    return subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout.split()


def test_the_command_line_loads_nothing_heavy() -> None:
    assert loaded_by("import privet.cli") == []
    assert loaded_by("import privet.cli, numpy") == ["numpy"]  # the probe can fail


@pytest.mark.parametrize("arguments", [["show"], ["report", "-o", "page.html"]])
def test_what_is_shown_needs_no_learner(tmp_path: Path, arguments: list[str]) -> None:
    schema, table = clinic(200)
    privet.papers.SuLQTreeClassifier(schema, epsilon=1, max_depth=1).fit(table).save(tmp_path / "tree.json")
    command = [arguments[0], "tree.json", *arguments[1:]]
    program = f"import os\nfrom privet.cli import app\nos.chdir({str(tmp_path)!r})\n"
    program += f"try: app({command!r})\nexcept SystemExit: pass\nprint()"
    assert not {"sklearn", "scipy", "pandas", "opendp"} & set(loaded_by(program))
    if arguments[0] == "report":
        assert (tmp_path / "page.html").stat().st_size > 10_000


FIRST = """
import sys
from contextlib import contextmanager
from privet.cli import app, {module}
seen, bar = [], {module}.progress

@contextmanager
def spy(what):
    seen.append((what, "numpy" in sys.modules))
    with bar(what) as shown:
        yield shown

{module}.progress = spy
try:
    app({arguments!r})
except SystemExit:
    print(seen)
"""


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("fitting", ["fit", "nowhere.csv", "-s", "nowhere.json", "-e", "1", "-o", "nowhere/tree.json"]),
        ("evaluating", ["evaluate", "nowhere.csv", "-s", "nowhere.json", "-e", "1"]),
        ("scoring", ["score", "nowhere.json", "nowhere.csv", "-e", "1"]),
    ],
)
def test_progress_is_shown_before_anything_heavy_is_loaded(module: str, arguments: list[str]) -> None:
    program = FIRST.format(module=module, arguments=arguments)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[('starting', False)]", done.stderr
