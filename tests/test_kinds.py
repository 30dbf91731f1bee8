"""Every charge has a kind: the kernel states it, files keep it, and files from before get it when they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

import privet
from privet.datasets.clinic import clinic
from privet.kinds import ChargeKind, kind_of_old, with_kinds
from privet.models.model import Model
from privet.privacy.ledger import Ledger
from privet.privacy.scores import Gini
from privet.structure.splits import Tests

TESTS = Path(__file__).parent


def test_the_kernel_states_what_it_bought(tmp_path: Path) -> None:
    schema, table = clinic(200)
    ledger = Ledger(10, journal=tmp_path / "some.journal")
    data = privet.protect(table, schema, ledger)
    data.noisy_count(1)
    data.class_counts(1)
    data.noisy_average("temperature", 1)
    data.level().choose_labels_all(1)
    data.choose(Tests.binary(schema), Gini(), 1)
    kinds = [ChargeKind.COUNT, ChargeKind.CLASS_COUNTS, ChargeKind.SUM, ChargeKind.LABELS, ChargeKind.CHOICE]
    assert [charge.kind for charge in ledger.certificate().charges] == kinds
    read = Ledger(journal=tmp_path / "some.journal").certificate()
    assert [charge.kind for charge in read.charges] == kinds


@pytest.mark.parametrize(
    ("what", "mechanism", "kind"),
    [
        ("leaf class counts of tree 3", None, ChargeKind.CLASS_COUNTS),
        ("first block", "exponential over trees", ChargeKind.TREES),
        ("curves", "objective with gaussian noise", ChargeKind.FIT),
        ("split point of age", "exponential", ChargeKind.CHOICE),
        ("something else", "discrete Laplace", ChargeKind.OTHER),
    ],
)
def test_older_charges(what: str, mechanism: str | None, kind: ChargeKind) -> None:
    assert kind_of_old(what, mechanism) is kind


def test_a_kind_that_only_a_newer_privet_knows() -> None:
    assert ChargeKind.parse("telepathy") is ChargeKind.OTHER


def test_an_older_model_gets_its_kinds_when_it_is_read() -> None:
    charges = Model.read(TESTS / "estimators" / "older" / "tree.json").certificate["charges"]
    assert [charge["kind"] for charge in charges[-2:]] == ["count", "class counts"]
    assert with_kinds({"charges": [1, {"what": 2}]}) == {"charges": [1, {"what": 2}]}  # checks are the decoder's
