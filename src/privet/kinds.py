"""The kind of release that a charge pays for, in certificates and journals, next to the text for people.

Code checks the kind, never the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class ChargeKind(StrEnum):
    """The kind of release, or of journal record, that a charge is for."""

    COUNT = "count"  # numbers of records
    CLASS_COUNTS = "class counts"
    ATTRIBUTE_COUNTS = "attribute counts"
    SUM = "sum"  # sums and averages of a numeric attribute
    CHOICE = "choice"  # of tests, terms or weights
    LABELS = "labels"  # drawn for leaves
    TREES = "trees"  # drawn as a whole
    FIT = "fit"  # with noise in the objective
    SCORE = "score"
    SEARCH = "search"
    CONCENTRATED = "zcdp"  # all of a piece of work that counts in rho
    HELD = "held"  # by work that is not done
    SETTLED = "settled"  # the owner's word
    LOST = "lost"  # a record that is torn or cannot be read
    OTHER = "other"

    @classmethod
    def parse(cls, kind: str) -> ChargeKind:
        """The kind of that name. A name that only a newer privet knows is ``OTHER``: no sum depends on it."""
        return cls(kind) if kind in _NAMES else cls.OTHER


_NAMES = frozenset(ChargeKind)
NOISY_COUNTS = frozenset({ChargeKind.COUNT, ChargeKind.CLASS_COUNTS, ChargeKind.ATTRIBUTE_COUNTS})

_BY_MECHANISM = {
    "exponential": ChargeKind.CHOICE,
    "permute-and-flip": ChargeKind.CHOICE,
    "exponential over terms": ChargeKind.CHOICE,
    "exponential over trees": ChargeKind.TREES,
    "random stopping": ChargeKind.SEARCH,
    "objective with laplace noise": ChargeKind.FIT,
    "objective with gaussian noise": ChargeKind.FIT,
}
_BY_WORDS = {
    "noisy count": ChargeKind.COUNT,
    "noisy counts": ChargeKind.COUNT,
    "node sizes": ChargeKind.COUNT,
    "number of usable records": ChargeKind.COUNT,
    "attribute counts": ChargeKind.ATTRIBUTE_COUNTS,
    "grid counts": ChargeKind.CLASS_COUNTS,
    "partition counts": ChargeKind.CLASS_COUNTS,
    "pattern supports": ChargeKind.CLASS_COUNTS,
    "choice of tests": ChargeKind.CHOICE,
    "weight of the evidence": ChargeKind.CHOICE,
    "leaf labels": ChargeKind.LABELS,
    "whole trees": ChargeKind.TREES,
    "private score": ChargeKind.SCORE,
}


def kind_of_old(what: str, mechanism: str | None) -> ChargeKind:
    """The kind of a charge written before charges had one. For decoders only.

    >>> kind_of_old("leaf class counts of tree 3", "discrete Laplace").value
    'class counts'
    """
    if what in _BY_WORDS:
        return _BY_WORDS[what]
    if mechanism in _BY_MECHANISM:
        return _BY_MECHANISM[mechanism]
    if "class counts" in what:
        return ChargeKind.CLASS_COUNTS
    return ChargeKind.SUM if what.startswith(("noisy sum of ", "noisy average of ")) else ChargeKind.OTHER


def with_kinds(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """A certificate from a file, with a kind for every charge. Other parts stay as they are."""
    charges = certificate.get("charges")
    if not isinstance(charges, list):
        return dict(certificate)
    return {**certificate, "charges": [_with_kind(charge) for charge in charges]}


def _with_kind(charge: Any) -> Any:
    if not isinstance(charge, dict) or "kind" in charge:
        return charge
    what, mechanism = charge.get("what"), charge.get("mechanism")
    if not isinstance(what, str) or not (mechanism is None or isinstance(mechanism, str)):
        return charge
    return {"what": what, "kind": kind_of_old(what, mechanism).value, **charge}
