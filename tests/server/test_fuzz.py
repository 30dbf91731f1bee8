"""Requests that schemathesis invents from our description, with keys of all roles: no 5xx, and books that add up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from house import House, Stage, rows

from privet.privacy.books.entries import examine_rows

CASES = int(os.environ.get("PRIVET_SERVER_CASES", "200"))  # of all roles and routes together
OPERATIONS = 40  # about as many as the description has


@pytest.mark.parametrize("role", ["analyst", "owner", "auditor", "nobody"])
def test_no_request_makes_the_server_fail(house: House, tmp_path: Path, role: str) -> None:
    pytest.importorskip("schemathesis", reason="NOT TESTED: invented requests; pip install schemathesis")
    stage = Stage(house)
    table = stage.table(rows(30))
    caller = (
        house.owner if role == "owner" else stage.analyst(5, table, role="auditor" if role == "auditor" else "analyst")
    )
    each = max(1, CASES // 4 // OPERATIONS)
    command = [str(Path(sys.executable).parent / "schemathesis"), "run", f"http://127.0.0.1:{house.port}/openapi.json"]
    command += ["--checks", "not_a_server_error", "--max-examples", str(each), "--phases", "fuzzing", "--mode", "all"]
    command += ["--request-timeout", "60", "--suppress-health-check", "all", "--seed", "7"]
    # Closing accounts and tables, and asking for all deadlines anew, would disturb the tests beside this one.
    command += ["--exclude-path-regex", "/(close|rehearse|session)$"]
    command += [] if role == "nobody" else ["--header", f"Authorization: Bearer {caller.key}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    for name in [one["id"] for one in house.owner("GET", "/v1/populations").json]:
        entries = house.owner("GET", f"/v1/populations/{name}/entries").json
        found = examine_rows(tuple(one.values()) for one in entries)
        assert found.faults == {}, (name, json.dumps(found.faults))
