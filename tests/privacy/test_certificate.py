"""What was promised, as data, as JSON and in words; and that it stays true when somebody presses Ctrl-C."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet
from privet import Categorical, Ledger, Numeric, PrivateDataset, Schema
from privet.errors import ReceiptError
from privet.privacy.budget import Neighbours
from privet.privacy.ledger import Caveat, Certificate, Charge
from privet.privacy.mechanisms import noisy_counts
from privet.structure.splits import Threshold
from privet.tables.inferring import infer_schema
from privet.testing import ReplayNoise, SeededNoise, ZeroNoise, use_noise

SCHEMA = Schema((Numeric("x", 0, 10, bins=5),), Categorical("y", ("a", "b")))
TABLE = {"x": [1.0, 2.0, 7.0, 9.0], "y": ["a", "a", "b", "b"]}

positive = st.fractions(min_value=0, max_value=10**6)


@st.composite
def certificates(draw: Any) -> Certificate:
    """Sound ones: no charge adds more than it costs, and all of them no more than the total."""
    pairs = draw(st.lists(st.tuples(st.text(), positive, positive), max_size=5))
    charges = tuple(Charge(what, max(a, b), min(a, b)) for what, a, b in pairs)
    total = sum((charge.adds for charge in charges), Fraction(0)) + draw(positive)
    caveats = tuple(draw(st.lists(st.builds(Caveat, st.text(), st.booleans()), max_size=3)))
    void = any(caveat.voids for caveat in caveats) or draw(st.booleans())
    epsilon = math.inf if void else total
    delta = draw(st.fractions(0, 1))
    return Certificate(epsilon, draw(st.sampled_from(Neighbours)), charges, caveats, delta)


@given(certificates())
def test_json_brings_everything_back(certificate: Certificate) -> None:
    text = certificate.to_json()
    again = Certificate.from_dict(json.loads(text, parse_constant=pytest.fail))  # a bare Infinity is not JSON
    assert again == certificate
    assert again.to_json() == text
    assert str(again) == str(certificate)


def test_the_certificate_is_what_the_ledger_holds() -> None:
    ledger = Ledger(1, neighbours="replace-one")
    ledger.charge(0.25, "count")
    left, right = ledger._parallel(2)
    left.charge(0.25, "left")
    right.charge(0.5, "right")
    certificate = ledger.certificate()
    assert certificate.epsilon == Fraction(3, 4)
    assert certificate.neighbours is Neighbours.REPLACE_ONE
    assert certificate.definition == "epsilon-differential privacy"
    assert [(c.what, c.epsilon, c.adds) for c in certificate.charges] == [
        ("count", Fraction(1, 4), Fraction(1, 4)),
        ("left", Fraction(1, 4), Fraction(1, 4)),
        ("right", Fraction(1, 2), Fraction(1, 4)),
    ]
    assert left.certificate().epsilon == Fraction(1, 4)
    assert right.certificate().charges == (Charge("right", Fraction(1, 2), Fraction(1, 2)),)


@pytest.mark.parametrize(
    ("neighbours", "words"),
    [("add-remove", "one record added or removed"), ("replace-one", "of one size that differ in the contents of one")],
)
def test_the_words_say_relation_total_and_every_charge(neighbours: str, words: str) -> None:
    ledger = Ledger(1, neighbours=neighbours)
    assert "none" in str(ledger.certificate())
    for _ in range(3):
        ledger.charge(0.125, "noisy count")
    parts = ledger._parallel(2)
    for part in parts:
        part.charge(Fraction(1, 3), "histogram")
    said = str(ledger.certificate())
    for expected in (words, "epsilon = 0.708333 (17/24)", "0.125 x 3, adds 0.375", "adds nothing (disjoint records)"):
        assert expected in said
    assert "caveats" not in said


def test_bounds_of_basis_round_are_a_caveat_but_void_nothing() -> None:
    schema = Schema((Numeric("x", 0, 10, bins=5, basis="round"),), Categorical("y", ("a", "b"), basis="observed"))
    data = privet.protect(TABLE, schema, Ledger(1))
    said = str(data.certificate())
    assert data.certificate().private
    assert "bounds of x are an assumption" in said
    assert "values of y are listed as observed" in said
    assert len(data.partition(Threshold(0, 1))[0].certificate().caveats) == 2
    assert len(data.certificate().caveats) == 2, "a caveat is stated once"


def test_a_schema_rebuilt_from_inferred_facts_voids_the_certificate() -> None:
    inferred = infer_schema(TABLE, "y")
    rebuilt = Schema(inferred.attributes, inferred.label)
    assert not privet.protect(TABLE, rebuilt, Ledger(1)).certificate().private


def test_any_other_basis_is_quoted() -> None:
    schema = Schema((Numeric("x", 0, 10, bins=5, basis="observed in the data"),), SCHEMA.label)
    assert "'observed in the data'" in str(privet.protect(TABLE, schema, Ledger(1)).certificate())


def test_the_words_say_what_is_covered() -> None:
    certificate = Ledger(1).certificate()
    said = " ".join(str(certificate).split())
    for expected in ("the table that it was handed", "fewer than 2^32 records", "without looking at that table"):
        assert expected in certificate.to_dict()["covers"]
        assert expected in said
    for expected in ("imputing, scaling", "folds", "chosen by exact scores after", "k times epsilon"):
        assert expected in certificate.to_dict()["covers_not"]
        assert expected in said
    assert max(map(len, str(certificate).splitlines())) <= 110
    assert "covers" not in str(replace(certificate, epsilon=math.inf)), "what is not private covers nothing"


def test_a_delta_is_never_called_pure() -> None:
    certificate = replace(Ledger(1).certificate(), delta=Fraction(1, 10**6))
    assert "pure" not in str(certificate)
    assert "delta = 1e-06" in str(certificate)
    assert certificate.definition == "(epsilon, delta)-differential privacy"
    assert "(pure, delta = 0)" in str(Ledger(1).certificate())


def test_an_inferred_schema_voids_the_certificate() -> None:
    data = privet.protect(TABLE, infer_schema(TABLE, "y"), Ledger(1))
    certificate = data.certificate()
    assert certificate.epsilon == math.inf
    assert certificate.definition == "not differentially private"
    assert "NOT differentially private (epsilon = infinity)" in str(certificate)
    assert "read off the private table" in str(certificate)
    assert json.loads(certificate.to_json())["epsilon"] == "infinity"


@pytest.mark.parametrize(
    ("source", "says"),
    [(SeededNoise(1), "seeded"), (ZeroNoise(), "no noise"), (ReplayNoise([3] * 9), "scripted")],
    ids=["seeded", "zero", "replay"],
)
def test_noise_for_tests_voids_every_certificate_above_it(source: Any, says: str) -> None:
    ledger = Ledger(1)
    analyst, other = ledger.analyst("ann", 1), ledger.analyst("bob", 1)
    data = privet.protect(TABLE, SCHEMA, analyst)
    with use_noise(source):
        part = data.partition(Threshold(0, 1))[0]
        assert part.certificate().private, "nothing was drawn yet"
        part.noisy_count(0.5)
    for voided in (part.certificate(), analyst.certificate(), ledger.certificate()):
        assert not voided.private
        assert says in str(voided)
    assert other.certificate().private


def test_seeded_shards_void_the_certificate() -> None:
    data = privet.protect(TABLE, SCHEMA, Ledger(1))
    with use_noise(SeededNoise(1)):
        data.shards(2)
    assert not data.certificate().private


def test_real_noise_voids_nothing() -> None:
    data = privet.protect(TABLE, SCHEMA, Ledger(1))
    data.noisy_count(0.5)
    data.shards(2)[0].noisy_count(0.5)
    assert data.certificate().private
    assert data.certificate().caveats == ()


# ---- Ctrl-C -------------------------------------------------------------------------------------------------------


class Interrupted(ZeroNoise):
    """A user who presses Ctrl-C at the n-th draw."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.left = at

    def _draw(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt

    def laplace(self, values: Any, scale: float) -> Any:
        self._draw()
        return super().laplace(values, scale)

    def exponential(self, scores: Any, scale: float) -> int:
        self._draw()
        return super().exponential(scores, scale)


def queries(data: PrivateDataset) -> None:
    from privet.privacy.scores import Gini
    from privet.structure.splits import Tests

    data.noisy_count(Fraction(1, 10))
    data.choose(Tests.binary(SCHEMA), Gini(), Fraction(1, 10))
    for part in data.partition(Threshold(0, 1)):
        part.class_counts(Fraction(1, 10))
    data.noisy_sum("x", Fraction(1, 10))
    data.noisy_average("x", Fraction(1, 10))


# What each of the six draws above has put on the ledger when it begins.
CHARGED = [Fraction(n, 10) for n in (1, 2, 3, 3, 4, 5)]


@pytest.mark.parametrize("at", range(6))
@pytest.mark.parametrize("journal", [False, True], ids=["memory", "journal"])
def test_a_query_that_is_interrupted_has_been_paid(tmp_path: Path, journal: bool, at: int) -> None:
    path = tmp_path / "journal" if journal else None
    ledger = Ledger(1, journal=path)
    data = privet.protect(TABLE, SCHEMA, ledger)
    with use_noise(Interrupted(at)), pytest.raises(KeyboardInterrupt):
        queries(data)
    assert ledger.spent == CHARGED[at]
    assert sum(charge.adds for charge in ledger.certificate().charges) == CHARGED[at]
    if path:
        assert Ledger(journal=path).certificate() == ledger.certificate()
    with use_noise(ZeroNoise()):
        assert data.noisy_count(1 - CHARGED[at]) == 4, "the rest is still there"
    assert ledger.remaining == 0


def test_the_receipt_of_an_interrupted_draw_is_gone() -> None:
    receipt = Ledger(1).charge(0.5, "count")
    with use_noise(Interrupted(0)), pytest.raises(KeyboardInterrupt):
        noisy_counts(np.array([7]), receipt)
    with use_noise(ZeroNoise()), pytest.raises(ReceiptError):
        noisy_counts(np.array([7]), receipt)
