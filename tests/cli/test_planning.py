"""`privet plan`: it runs, says that it is simulated, and refuses clearly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

QUICK = ("--records", 300, "--recipe", "mohammed2015", "--worlds", 3)


def plan(desk: Any, *more: object) -> tuple[object, ...]:
    return ("plan", "--schema", desk["clinic.schema.json"], *QUICK, *more)


def test_tables_and_notes(shared_desk: Any) -> None:
    told = shared_desk.ok(*plan(shared_desk, "-e", 0.1, "-e", "1/2")).stdout
    assert "about 300 records, medium signal (3 invented tables)" in told
    assert "mohammed2015" in told
    assert "± 30 (10 % of the records)" in told  # a count at epsilon 0.1
    assert "No record of yours was read and no budget was spent" in " ".join(told.split())  # wherever a line ends


def test_json(shared_desk: Any) -> None:
    facts = json.loads(shared_desk.ok(*plan(shared_desk, "-e", 0.1, "-e", 1, "--signal", "weak", "--json")).stdout)
    assert [(f["recipe"], f["epsilon"]) for f in facts["forecasts"]] == [("mohammed2015", 0.1), ("mohammed2015", 1.0)]
    assert [a["count_within"] for a in facts["answers"]] == [30, 3]
    assert facts["signal"]["name"] == "weak"


def test_a_picture_is_written_whole_and_not_over_anything(desk: Any) -> None:
    picture = Path(desk["plan.png"])
    desk.ok(*plan(desk, "-e", 1, "--plot", picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    again = desk.run(*plan(desk, "-e", 1, "--plot", picture))
    assert again.exit_code == 1
    assert "there already" in again.stderr
    over = desk.run(*plan(desk, "-e", 1, "--plot", desk["clinic.schema.json"], "--force"))
    assert over.exit_code == 1
    assert "input of this command" in over.stderr


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (("--signal", "loud"), "signal must be one of 'weak', 'medium', 'strong', not 'loud'"),
        (("--records", 1), "records must be a whole number from 10"),
        (("--epsilon", 0), "epsilon must be greater than 0"),
        (("--recipe", "oak"), "unknown recipe 'oak'"),
        (("--worlds", 1), "worlds must be a whole number from 3"),
    ],
)
def test_a_mistake_is_one_message(shared_desk: Any, wrong: tuple[object, ...], named: str) -> None:
    result = shared_desk.run(*plan(shared_desk, *wrong))
    assert result.exit_code == 1
    assert result.stderr.count("privet: ") == 1
    assert named in result.stderr
    assert "Traceback" not in result.stderr


def test_the_help_has_an_example(shared_desk: Any) -> None:
    told = shared_desk.ok("plan", "--help").stdout
    assert "Example: privet plan" in told
    assert "without any data" in told
