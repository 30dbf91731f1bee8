"""Certificates from files: types and ranges are checked once, and what cannot be is one sentence."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import pytest

from privet import Ledger
from privet.errors import PrivetError
from privet.privacy.certificate import Certificate
from privet.privacy.losses import Loss

HANGS = 60  # seconds of one processor: a bound on hangs, not on speed


def sound() -> dict[str, Any]:
    ledger = Ledger(2, delta=0.001)
    ledger.charge(0.5, "class counts", mechanism="discrete Laplace", scale=ledger.remaining)
    ledger.charge(Loss(0.25, 0.0001), "curves")
    return ledger.certificate().to_dict()


def put(*path: Any) -> Callable[[dict[str, Any]], None]:
    *way, key, value = path

    def change(facts: Any) -> None:
        for step in way:
            facts = facts[step]
        facts[key] = value

    return change


UNSOUND = {
    "no epsilon": lambda facts: facts.pop("epsilon"),
    "no neighbours": lambda facts: facts.pop("neighbours"),
    "an epsilon that is a list": put("epsilon", [1]),
    "an epsilon that is a number": put("epsilon", 1),
    "no number": put("epsilon", "abc"),
    "a division by zero": put("epsilon", "1/0"),
    "an exponent of a billion": put("epsilon", "1e999999999"),
    "an exponent below": put("epsilon", "1e-999999999"),
    "more than a double": put("epsilon", "1e4000"),
    "a million digits": put("epsilon", "1" * 10**6),
    "a negative epsilon": put("epsilon", "-1"),
    "less than the charges add": put("epsilon", "0.7"),
    "a delta above 1": put("delta", "7"),
    "a negative delta": put("delta", "-1/1000"),
    "less delta than the charges add": put("delta", "1/100000"),
    "neighbours unheard of": put("neighbours", "foo"),
    "neighbours in a list": put("neighbours", ["add-remove"]),
    "charges that are text": put("charges", "xy"),
    "charges that are numbers": put("charges", [1, 2]),
    "a charge without a purpose": lambda facts: facts["charges"][0].pop("what"),
    "a purpose that is a number": put("charges", 0, "what", 3),
    "a charge with more": put("charges", 0, "surprise", "1"),
    "a scale of 0": put("charges", 0, "scale", "0"),
    "a negative scale": put("charges", 0, "scale", "-3"),
    "a scale too small for a double": put("charges", 0, "scale", "1e-4000"),
    "a scale beyond doubles": put("charges", 0, "scale", "1e999999"),
    "a mechanism that is a list": put("charges", 0, "mechanism", ["a"]),
    "a negative charge": put("charges", 0, "epsilon", "-1"),
    "a charge that adds more than it costs": put("charges", 0, "adds", "0.6"),
    "a caveat that is a number": put("caveats", [3]),
    "a caveat without a text": put("caveats", [{"voids": False}]),
    "a caveat that voids by a text": put("caveats", [{"text": "x", "voids": "no"}]),
    "a caveat that voids, and a finite epsilon": put("caveats", [{"text": "x", "voids": True}]),
    "a unit that is a list": put("unit", [1, 2, 3]),
    "a unit of no rows": put("unit", {"name": "patient", "max_rows": 0}),
    "a unit without a name": put("unit", {"max_rows": 3}),
    "words that are a list": put("covers", [3]),
}


@pytest.mark.parametrize("what", UNSOUND)
def test_what_is_not_sound_is_refused_in_a_sentence(what: str) -> None:
    facts = copy.deepcopy(sound())
    UNSOUND[what](facts)
    began = time.process_time()
    with pytest.raises(PrivetError) as refused:
        Certificate.from_dict(facts)
    assert len(str(refused.value)) < 300
    assert time.process_time() - began < HANGS


@pytest.mark.parametrize("data", [None, [], "x", 3, {}])
def test_a_value_that_is_not_a_certificate_is_refused(data: Any) -> None:
    with pytest.raises(PrivetError):
        Certificate.from_dict(data)


def test_a_sound_one_comes_back() -> None:
    assert Certificate.from_dict(sound()).to_dict() == sound()


def test_sums_that_grow_without_end_are_refused_in_time() -> None:
    """Coprime denominators of thousands of digits: their sum would have millions."""
    facts = sound() | {"epsilon": "1000"}
    number = 10**2000
    facts["charges"] += [{"what": "x", "epsilon": "1", "adds": f"1/{number + i}"} for i in range(3000)]
    began = time.process_time()
    with pytest.raises(PrivetError, match="digits"):
        Certificate.from_dict(facts)
    assert time.process_time() - began < HANGS
