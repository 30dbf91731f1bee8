"""Answers to questions on a page: bars with error bars, and the numbers below them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from privet.report.bars import MOST_BARS, answer_context


def answer(values: list[Any], ask: str = "histogram", **row: Any) -> dict[str, Any]:
    rows = [{"of": f"<b>{i}", "value": value, "within": 10.0} | row for i, value in enumerate(values)]
    facts = {"rows": rows, "question": f"{ask} of <x>", "within": 10.0, "sentence": "each is close", "notes": []}
    return answer_context({"ask": ask, "of": "x"}, facts)


def test_bars_begin_at_zero_and_are_as_long_as_their_numbers() -> None:
    picture = str(answer([100, 50, -20])["picture"])
    bars = re.findall(r'<rect class="c0" rx="2" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', picture)
    lengths = [float(width) for _, width in bars]
    assert lengths[0] == pytest.approx(2 * lengths[1], abs=0.2)
    assert lengths[0] == pytest.approx(5 * lengths[2], abs=0.5)
    assert float(bars[2][0]) + lengths[2] == pytest.approx(float(bars[0][0]), abs=0.2)
    assert "<b>" not in picture


def test_every_number_is_in_the_table() -> None:
    found = answer(list(range(MOST_BARS + 5)))
    assert len(found["rows"]) == MOST_BARS + 5
    assert str(found["picture"]).count('class="c0"') == MOST_BARS


@pytest.mark.parametrize("values", [[0, 0], [5, 5], [1e-9, 2e-9], [1e12, 3]])
def test_odd_numbers_are_drawn(values: list[Any]) -> None:
    assert answer(values)["picture"] is not None


def test_what_has_no_bars() -> None:
    assert answer([30, 40], "quantiles")["picture"] is None
    assert answer(["a"], "most-frequent")["one"] == "a"
    assert answer([3])["one"] == "3"


def test_counts_below_zero_are_explained() -> None:
    assert answer([-3, 4])["negative"]
    assert not answer([-3, 4], "sum")["negative"]
