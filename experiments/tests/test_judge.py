"""The one judge: rows of data against measures, and that every row is of use."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

import privet_experiments
from privet_experiments import judge as judging
from privet_experiments.judge import Measure, judge, rounds_to

ROWS = """
[row]
shared = "as everywhere"

[row.one]
source = "A Fig. {figure}"
says = "{who} is ahead"
published = 3
printed = "{published} points"
ours = "{gaps:+.1f}; {by:.0f| and }"
rule = "min(gaps) > published"
how = "points"
why = "too few, {shared}"

[row.places]
source = "A"
says = "{at}"
published = { x = 1, y = 2 }
ours = "{value}"
rule = "value == published"
why = { x = "of x", else = "of others" }

[row.digits]
source = "A"
says = "digits"
published = ["0.1", "0.25"]
printed = "{published:| }"
rule = "prints"
why = "cut off"

[row.unexplained]
source = "A"
says = "unexplained"
published = 1
ours = "{value}"
rule = "value == published"
how = "equal"

[row.closed]
source = "A"
says = "closed"
published = "7"
ours = "-"
why = "not said"
"""


@pytest.fixture(autouse=True)
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "rows_of", lambda section: tomllib.loads(ROWS)[section])


def test_a_row_is_filled_and_judged() -> None:
    good, bad = judge("row", [Measure("one", figure=2, who="Max", gaps=[g, 5.0], by={"a": 1, "b": 2}) for g in (4, 3)])
    assert (good.source, good.says, good.published) == ("A Fig. 2", "Max is ahead", "3 points")
    assert good.ours == "+4.0, +5.0; a 1 and b 2"
    assert (good.verdict, good.reason) == ("reproduced", "points")
    assert (bad.verdict, bad.reason) == ("differs", "points; too few, as everywhere")


def test_places_have_values_and_reasons_of_their_own() -> None:
    found = judge("row", [Measure("places", at=at, value=1) for at in ("x", "y", "z")])
    assert [(one.verdict, one.reason) for one in found] == [("reproduced", ""), ("differs", "of others")]
    assert judge("row", [Measure("places", at="x", value=3)])[0].reason == "of x"


def test_a_difference_without_a_reason_says_so() -> None:
    good, bad = judge("row", [Measure("unexplained", value=value) for value in (1, 2)])
    assert (good.reason, bad.reason) == ("equal", "equal; no reason is known")


def test_numbers_are_judged_as_they_are_printed() -> None:
    assert rounds_to(2 / 3, "0.67")
    assert not rounds_to(2 / 3, "0.66")
    good, bad = judge("row", [Measure("digits", value=value) for value in ((0.1, 0.25), (0.1, 0.2))])
    assert (good.ours, good.verdict) == ("0.1 0.25", "reproduced")
    assert (bad.verdict, bad.reason) == ("differs", "0.25 is 0.200. cut off")
    assert [one.verdict for one in judge("row", [Measure("closed")])] == ["not recomputable"]


def test_a_rule_reaches_nothing_but_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"source": "", "says": "", "published": 1, "ours": "", "rule": "open('x')"}
    monkeypatch.setattr(judging, "rows_of", lambda section: {"one": row})
    with pytest.raises(NameError):
        judge("row", [Measure("one")])
    with pytest.raises(KeyError):
        judge("row", [Measure("another")])


def test_every_row_is_measured_somewhere_and_every_measure_has_a_row() -> None:
    """By name: rows that no experiment measures would be dead, and a measure without a row could not be judged."""
    package = Path(privet_experiments.__file__).parent
    code = "\n".join(path.read_text("utf-8") for path in package.rglob("*.py"))
    fields = {"source", "says", "published", "printed", "ours", "rule", "how", "why"}
    for work in files("privet_experiments").joinpath("statements").iterdir():
        for section, rows in tomllib.loads(work.read_text("utf-8")).items():
            for name, row in rows.items():
                if isinstance(row, str):
                    continue
                assert f'"{name}"' in code, (work.name, section, name)
                assert row.keys() <= fields, (section, name, row.keys() - fields)
                assert {"source", "says", "published"} <= row.keys(), (section, name)
