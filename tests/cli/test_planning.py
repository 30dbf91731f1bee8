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


MONEY = ("--event", "0.001:50000", "--event", "0.02:500", "--money", 10000)


def test_money_and_sample_sizes(shared_desk: Any) -> None:
    """The known answers of the guide: 60 a head, 6.31 at epsilon 0.1; 505 records instead of 194."""
    facts = json.loads(
        shared_desk.ok(
            "plan", "--schema", shared_desk["clinic.schema.json"], "-n", 1000, "-r", "mohammed2015", "--worlds", 3,
            "-e", 0.1, "-e", 1, *MONEY, "--tell", "0.5:0.6", "--json",
        ).stdout
    )  # fmt: skip
    worth, needed = facts["economics"], facts["sample_size"]
    assert worth["base_cost"] == 60
    assert worth["lines"][0]["each"] == pytest.approx(6.31, abs=0.005)
    assert worth["lines"][0]["all"] == pytest.approx(6310, abs=1)
    assert (worth["possible"], worth["verdict"]) == (
        True,
        "possible with epsilon from 0.0662 to 0.154: 1,000 people are owed 4,106 to 10,000",
    )
    assert needed["without_privacy"] == 194
    assert [line["records"] for line in needed["lines"]] == [505, 202]


def test_money_and_sample_sizes_in_words(shared_desk: Any) -> None:
    told = shared_desk.ok(*plan(shared_desk, "-e", 0.1, *MONEY, "--tell", "0.5:0.6", "--arms", 2)).stdout
    text = " ".join(told.split())
    assert "What epsilon is worth (Hsu et al. 2014)" in text
    assert "Bad events cost 60.00 per person without the table." in text
    assert "With 10,000: " in text
    assert "787" in text  # the records of each arm
    assert "At level 0.05, with power 0.8." in text


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
        (("--event", "often"), "--event must be two numbers, such as 0.02:500, not 'often'"),
        (("--event", "2:500"), "the chance of an event must be a number from 0 to 1"),
        (("--money", 9), "add --event CHANCE:COST"),
        (("--tell", "0.5:0.5"), "the two shares must differ"),
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
