"""All statements of the sources, judged by what the quick forms once found: as many as ever, with the same verdicts.

``quick-rows.json.gz`` has the rows of a run of the quick forms, without what no statement is judged by. A change to the
judge, to the rows of data or to what is measured shows here, in a second and without a fit.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from privet_experiments.registry import ENTRIES, entry
from privet_experiments.runner import run

ROWS: dict[str, list[dict[str, Any]]] = json.loads(
    gzip.decompress(Path(__file__).with_name("quick-rows.json.gz").read_bytes())
)
VERDICTS = {"reproduced": 204, "differs": 92, "not recomputable": 3}


def test_41_experiments_judge_296_statements() -> None:
    assert len(ENTRIES) == 41
    found = [one for name, rows in ROWS.items() for one in entry(name).form("quick").conclude(rows).statements]
    found += run("worked-examples", "quick", entry("worked-examples").form("quick"), processes=1).outcome.statements
    counts = Counter(one.verdict for one in found)
    assert counts == VERDICTS
    assert counts["reproduced"] + counts["differs"] == 296
    assert all(one.source and one.says and one.published and one.ours for one in found)
    assert all(one.reason for one in found if one.verdict != "reproduced")


@pytest.mark.parametrize("name", ROWS)
def test_the_rows_are_those_of_the_form(name: str) -> None:
    jobs = entry(name).form("quick").jobs()
    assert [{key: row[key] for key in job} for job, row in zip(jobs, ROWS[name], strict=True)] == jobs
