"""The notebook runs from top to bottom, shows what it says, and its table is what its maker makes."""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
LOANS = ROOT / "examples" / "loans"
NOTEBOOK = "loans.ipynb"


def module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def shown(notebook: dict[str, Any]) -> list[list[str]]:
    """What kinds of things every code cell shows."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [[kind for output in cell["outputs"] for kind in output.get("data", {"stream": ""})] for cell in cells]


def test_it_runs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("loans.csv", "loans.schema.json"):
        shutil.copy(LOANS / name, tmp_path / name)
    written = json.loads((LOANS / NOTEBOOK).read_text("utf-8"))
    again = json.loads((LOANS / NOTEBOOK).read_text("utf-8"))
    module(ROOT / "tools" / "notebook.py").run(again, tmp_path)
    assert shown(again) == shown(written)  # noise differs, and all that the file shows is shown again
    assert shown(written).count(["image/png"]) == 3
    refused = [cell for cell in again["cells"] if "BudgetExceeded" in "".join(cell["source"])]
    assert "nothing was charged or released" in "".join(refused[0]["outputs"][0]["text"])


def test_a_fault_is_noticed(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "source": ["1 / 0"]}
    with pytest.raises(ZeroDivisionError):
        module(ROOT / "tools" / "notebook.py").run({"cells": [cell]}, tmp_path)


def test_the_table_is_invented() -> None:
    maker = module(LOANS / "make_table.py")
    with open(LOANS / "loans.csv", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == list(maker.COLUMNS)
    assert rows == [list(map(str, row)) for row in maker.loans()]


def test_so_are_the_orders_of_the_guide() -> None:
    shop = ROOT / "examples" / "shop"
    maker = module(shop / "make_table.py")
    with open(shop / "orders.csv", encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    assert header == list(maker.COLUMNS)
    assert rows == [list(map(str, row)) for row in maker.orders()]
