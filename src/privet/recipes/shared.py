"""Declarations of parameters that many recipes have: the same name means the same everywhere."""

from __future__ import annotations

from typing import Any

from privet.errors import ParameterError, Setting
from privet.growing.greedy.candidates import TestKind
from privet.growing.schedules import Schedule
from privet.privacy.budget import delta as parse_delta
from privet.privacy.scores import MAX_RECORDS
from privet.recipes.parameters import check_weights, choice, declared, number, whole

MOST_ESTIMATORS = 10_000


def max_depth(default: int | str, help: str = "The largest number of tests on a path.") -> Any:
    return whole(default, low=0, high=1000, help=help)


def n_estimators(default: int | str, help: str) -> Any:
    return whole(default, low=1, high=MOST_ESTIMATORS, help=help)


def max_leaves(default: int) -> Any:
    return whole(default, low=1, high=2**20, help="The most leaves of a tree, a public number.")


def max_bins(
    default: int, help: str = "Into how many bins numbers without thresholds of their own are cut, at most."
) -> Any:
    return whole(default, low=2, high=65_000, help=help)


def grid() -> Any:
    return choice(
        "bought",
        ("bought", "even"),
        "Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins "
        'than the records allow; or evenly between the declared bounds, as in every variant other than "sound".',
    )


def tests(default: str) -> Any:
    return choice(
        default,
        TestKind,
        "A child for every category or bin (multiway), one category against the rest and thresholds (binary), or "
        "multiway categories with numeric thresholds (mixed).",
    )


def criterion(default: str) -> Any:
    """Its values are checked together with ``max_records``."""
    help = 'The score of a test; "infogain" needs ``max_records``.'
    return declared(default, '"max", "gini" or "infogain"', help)


def max_records() -> Any:
    return whole(None, low=1, high=MAX_RECORDS, help="A bound on the number of records that the data owner declares.")


def n_public() -> Any:
    help = "The number of records, where the owner declares it public; the certificate says so. Otherwise it is bought."
    return whole(None, low=1, high=2**40, help=help)


def schedule(among: Any = Schedule) -> Any:
    """``among`` is a ``Literal``: ``LevelSchedule`` for recipes that ask no sizes, or need them all."""
    help = (
        "How epsilon is spread over the levels: the same for each, as the papers have it; 5/4 times as much for each "
        'next level ("rising"), or that much less ("falling"); twice as much for the root'
    )
    sizes = (
        '; sizes only from depth 2 on ("late"), or only where no other answer gives them ("known"); or all that a path '
        'has left for its leaf ("leaves")'
    )
    return choice("equal", among, help + (sizes if among is Schedule else "") + ".")


def count_share() -> Any:
    return number(
        0.05, low=1e-6, high=0.999, help="The share of epsilon that buys the number of records, unless it is public."
    )


def delta() -> Any:
    return declared(
        0.0,
        "float from 0 to below 1",
        "0 promises pure epsilon. Above 0, such as 1e-6, the fit is accounted for under zCDP: each of its questions "
        "gets less noise, which helps most where there are many. The whole price is then spent, whatever tree results.",
        lambda value, name: parse_delta(value),
    )


def class_weight(help: str) -> Any:
    """A dict of label to a public number; "balanced" is refused, since it reads class counts off private records."""
    return declared(None, "dict of label to a number from 0 to 1, optional", help, _check_class_weight)


def _check_class_weight(value: object, name: str) -> None:
    if isinstance(value, str):
        raise ParameterError(
            (Setting(name, value), " is refused: it would read the class counts off private records"),
            parameter=name,
            fix="give a dict of label to a public number from 0 to 1 instead, such as {'ill': 1, 'healthy': 0.25}",
        )
    check_weights(value, name, "label", 0, 1)
