"""The worked example runs."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
EXAMPLE = Path(__file__).parents[2] / "examples" / "by_patient.py"


def test_a_tree_by_patient(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE))["main"](300, 1.0)
    said = capsys.readouterr().out
    assert "at most 8 rows a patient" in said
    assert "one patient_id added or removed, with all rows, of which at most 8 enter" in said
