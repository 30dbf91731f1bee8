"""Requests that schemathesis invents from our description, with keys of all roles: no 5xx, and books that add up."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from house import House, Stage, rows

from privet.privacy.books.entries import examine_rows

CASES = int(os.environ.get("PRIVET_SERVER_CASES", "200"))  # of all roles and routes together
OPERATIONS = 25  # of the description, those that have something to invent
ROLES = ("analyst", "owner", "auditor", "nobody")


@pytest.fixture(scope="module")
def open_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server of its own, which refuses nobody for asking too often."""
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "s.toml").write_text("rate = 1e6\nburst = 1000000\nqueue = 1000000\nrehearsal_seconds = 1e6\nslots = 2")
    house = House(folder / "folder", "--settings", str(folder / "s.toml")).warm()
    yield house
    house.stop()


@pytest.mark.parametrize("role", ROLES)
def test_no_request_makes_the_server_fail(open_house: House, tmp_path: Path, role: str) -> None:
    pytest.importorskip("schemathesis", reason="NOT TESTED: invented requests; pip install schemathesis")
    house, stage = open_house, Stage(open_house)
    table = stage.table(rows(30))
    ann = stage.analyst(1000, table)
    key = {"analyst": ann.key, "owner": house.owner.key, "auditor": stage.analyst(0, role="auditor").key, "nobody": ""}
    job = ann.ask(table, ask="count", epsilon=1).json["id"]
    command = [str(Path(sys.executable).parent / "schemathesis"), "run", f"http://127.0.0.1:{house.port}/openapi.json"]
    command += ["--checks", "not_a_server_error", "--phases", "fuzzing", "--mode", "all", "--seed", "7"]
    command += ["--max-examples", str(max(1, CASES // len(ROLES) // OPERATIONS))]
    command += ["--request-timeout", "60", "--suppress-health-check", "all"]
    command += ["--header", f"Authorization: Bearer {key[role]}"] if key[role] else []
    names = {"d": table, "p": stage.tag, "who": ann.name, "a": job}
    environment = os.environ | {"PRIVET_FUZZ_NAMES": json.dumps(names), "SCHEMATHESIS_HOOKS": "fuzz_hooks"}
    environment["PYTHONPATH"] = f"{Path(__file__).parent}:{environment.get('PYTHONPATH', '')}"
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    print(f"\n{role}: {', '.join(re.findall(r'[0-9]+ generated', done.stdout))}, {len(stage.charges())} charges")
    for name in [one["id"] for one in house.owner("GET", "/v1/populations").json]:
        adds_up(house, name)


def adds_up(house: House, population: str) -> None:
    """The chain holds, no limit was passed, and what each analyst has spent is what the chain says."""
    entries, after = list[dict[str, object]](), 0
    while page := house.owner("GET", f"/v1/populations/{population}/entries?after={after}").json:
        entries, after = entries + page, page[-1]["seq"]
    found = examine_rows(tuple(one.values()) for one in entries)
    assert found.faults == {}, (population, json.dumps(found.faults))
    for grant in house.owner("GET", f"/v1/populations/{population}").json["grants"]:
        counted = found.spent.get(grant["person"])
        now = Fraction(grant["spent"]["epsilon"])
        assert now >= (0 if counted is None else counted.epsilon), "questions go on meanwhile"
