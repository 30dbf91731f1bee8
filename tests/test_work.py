"""Priced work in the safe order, without a command around it."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privet
from privet.datasets.clinic import clinic
from privet.engines.opening import OpenTable
from privet.errors import BudgetExceeded, ModelFileError, ParameterError, PrivacyError, TableError
from privet.fitting import Fit, Request, fit_to_file
from privet.models.drafts import Draft, drafted
from privet.privacy.ledger import Ledger
from privet.privacy.reservations import Reservation
from privet.recipes.papers.greedy_forest import GreedyForest
from privet.recipes.papers.mohammed2015 import Mohammed2015
from privet.work import Purse, Work

SCHEMA, TABLE = clinic(300, seed=2)


def request(journal: Path, recipe: Any = None, **more: Any) -> Request:
    given = {"source": TABLE, "epsilon": 1, "schema": SCHEMA, "ledger": Purse(journal)} | more
    return Request(recipe or Mohammed2015(max_depth=1), **given)


def test_the_order_of_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hops: list[str] = []

    def watch(kind: Any, name: str, hop: str) -> None:
        real = getattr(kind, name)
        monkeypatch.setattr(kind, name, lambda *a, **how: (hops.append(hop), real(*a, **how))[1])

    for kind, name in ((Draft, "open"), (OpenTable, "__init__"), (Reservation, "__init__"), (OpenTable, "engine")):
        watch(kind, name, f"{kind.__name__}.{name}")
    for kind, name in ((Fit, "grow"), (Draft, "publish"), (Reservation, "end")):
        watch(kind, name, f"{kind.__name__}.{name}")
    journal, output = tmp_path / "journal", tmp_path / "model.json"
    Ledger(3, journal=journal)
    with drafted(output, "the model file") as draft:
        saved = fit_to_file(request(journal), draft)
    assert list(dict.fromkeys(hops)) == [
        "Draft.open",
        "OpenTable.__init__",
        "Reservation.__init__",
        "OpenTable.engine",
        "Fit.grow",
        "Draft.publish",
        "Reservation.end",
    ]
    last = json.loads(journal.read_text().splitlines()[-1])
    assert last["output"] == hashlib.sha256(output.read_bytes()).hexdigest()
    assert saved.place == output
    assert privet.load_model(output).certificate_.epsilon == Ledger(journal=journal).spent


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"source": {"age": [1]}}, TableError),
        ({"epsilon": 2, "ledger": "small"}, BudgetExceeded),
        ({"recipe": GreedyForest("as-published")}, PrivacyError),
        ({"random": 3}, ParameterError),
        ({"schema": None}, ParameterError),
        ({"expected_records": 2}, ParameterError),
    ],
    ids=["table", "budget", "unsound", "random", "schema", "expected"],
)
def test_what_is_refused_leaves_nothing(tmp_path: Path, wrong: dict[str, Any], error: type[Exception]) -> None:
    journal, output = tmp_path / "journal", tmp_path / "model.json"
    if wrong.get("ledger") == "small":
        wrong = wrong | {"ledger": Purse(journal, Fraction(1))}
    with pytest.raises(error), drafted(output, "the model file") as draft:
        fit_to_file(request(journal, **wrong), draft)
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_cannot_be_written_stays_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Draft, "write", full)
    journal = tmp_path / "journal"
    with (
        pytest.raises(ModelFileError, match="The model is lost, and epsilon 1 stays charged"),
        drafted(tmp_path / "model.json", "the model file") as draft,
    ):
        fit_to_file(request(journal), draft)
    assert Ledger(journal=journal).spent == 1
    assert not Ledger(journal=journal).reservations


def test_work_gives_back_what_it_does_not_spend() -> None:
    ledger = Ledger(2)
    with Work(TABLE, SCHEMA, 1, "two counts", ledger) as work, work.records() as data:
        assert ledger.remaining == 1
        data.noisy_count(Fraction(1, 4))
    assert ledger.remaining == Fraction(7, 4)
