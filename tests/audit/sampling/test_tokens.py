"""Tokens: everything public of a release, and nothing that depends on other releases."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from planted import NoisyCount
from sklearn.ensemble import RandomForestClassifier

from privet.audit.sampling.fits import Fitter
from privet.audit.sampling.flattening import MOST
from privet.audit.sampling.sheets import names_of, sheet
from privet.audit.sampling.tokens import failed, seal, tokens_of


def values(released: Any, probes: Any = None) -> dict[str, float]:
    tokens = tokens_of(released, probes)
    return dict(zip(tokens.names, tokens.values.tolist(), strict=True))


@dataclass
class Released:
    shares: tuple[Fraction, ...]
    words: str
    _hidden: int = 7


def test_plain_values() -> None:
    assert values(3) == {"value": 3.0}
    assert values("yes") == {"is 'yes'": 1.0}
    assert values(Released((Fraction(1, 2),), "a")) == {"len(shares)": 1.0, "shares[0]": 0.5, "words is 'a'": 1.0}
    found = values({"a": np.array([1.5, np.nan, 2.0]), "b": None, "c": {"x", "y"}})
    assert found["a[0]"] == 1.5
    assert found["a[1] is nan"] == 1.0
    assert (found["sum(a)"], found["max(a)"]) == (3.5, 2.0)
    assert found["b is 'None'"] == 1.0
    assert found["len(c)"] == 2.0
    assert values(10**400) == {"is inf": 1.0}


def test_numbers_in_texts() -> None:
    """A text with noise in it is never the same twice; its numbers can be compared."""
    first, second = (values({"note": f"{n} of x3 kept, {n / 7}"}) for n in (12, -11))
    assert first.keys() == second.keys()
    assert (first["number 0 in note"], second["number 0 in note"]) == (12, -11)
    assert first["number 1 in note"] == pytest.approx(12 / 7)
    assert values("1.5e3") == {"is like '#'": 1.0, "number 0 in value": 1500.0}
    assert values({"jobs": ["a", "zebra"]})["jobs has 'zebra'"] == 1.0
    assert "has 'zebra'" in values({"zebra", "a"})


@pytest.mark.parametrize(
    ("released", "name"),
    [(Decimal("2.5"), "value"), (pd.Series([2.5]), "[0]"), (iter([2.5]), "[0]"), (np.ma.array([2.5]), "[0]")],
    ids=["decimal", "column", "iterator", "masked"],
)
def test_other_kinds_of_numbers(released: Any, name: str) -> None:
    assert values(released)[name] == 2.5


@dataclass
class Declared:
    """A learner as a dataclass, of which one public attribute has no underscore and one is a property."""

    setting: int = 1

    def fit(self, X: Any, y: Any) -> str:
        self.count_, self.rows, self._total = 1.0, len(X), 9.0
        return "fitted"

    @property
    def total_(self) -> float:
        return self._total

    @property
    def broken_(self) -> float:
        raise AttributeError


def test_every_public_attribute_of_a_fitted_object() -> None:
    """Fields of a dataclass, what fit sets with and without an underscore, properties, and what fit returns."""
    found = Fitter(Declared)(([1, 2], None))
    assert dict(zip(found.names, found.values.tolist(), strict=True)) == {
        "count_": 1.0, "total_": 9.0, "rows": 2.0, "setting": 1.0, "fit(X, y) is 'fitted'": 1.0,
    }  # fmt: skip


def test_texts_in_arrays_are_found_wherever_they_stand() -> None:
    found = values({"jobs": np.array(["a", "zebra"], dtype=object)})
    assert found["jobs has 'zebra'"] == 1.0
    assert found["jobs[1] is 'zebra'"] == 1.0


def test_a_fitted_object_shows_what_is_public() -> None:
    found = values(NoisyCount().fit(np.zeros((5, 1)), None), np.zeros((2, 1)))
    assert "count_" in found
    assert not any("exact" in name for name in found)
    assert found["predict(probes)[1]"] == 0.0


def test_each_tree_of_a_forest_is_asked() -> None:
    X, y = np.arange(20.0).reshape(-1, 1), np.arange(20) // 10
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    found = values(forest, X[:2])
    assert {f"estimators_[{i}].predict(probes)[1]" for i in range(3)} <= found.keys()
    assert any("tree_.node_count" in name for name in found), "sizes of compiled trees"
    assert found["predict_proba(probes)[0]"] > 0.5


def test_frames_and_long_things() -> None:
    found = values({"frame": pd.DataFrame({"x": [1.0, 2.0]})})
    assert found["frame[1]"] == 2.0
    assert values(np.arange(290.0))["[280]"] == 280, "one array alone may have many entries"
    long = values({"text": "a" * 500, "other": list(range(100_000))})
    assert len(long) <= MOST + 70
    assert long["len(other)"] == 100_000
    same_start = [next(name for name in values("a" * 70 + end)) for end in "bc"]
    assert same_start[0] != same_start[1]


def test_errors_and_warnings_are_released() -> None:
    def fails(X: Any, y: Any) -> None:
        raise ValueError(f"{len(X)} records")

    def warns(X: Any, y: Any) -> int:
        import warnings

        warnings.warn("few records", stacklevel=1)
        return 1

    found = Fitter(fails, function=True)(([1, 2], None))
    assert "raises '2 records'" in found.names
    assert found.values[found.names.index("number 0 in raises")] == 2
    assert failed([found])
    said = Fitter(warns, function=True)(([1], None))
    assert said.names == ("value", "warns UserWarning is 'few records'")
    assert not failed([said])
    assert not failed([seal({})]), "nothing released is not a failure"


def test_sheets() -> None:
    fits = [seal({"a": 1.0, "b": 2.0}), seal({"a": 3.0}), seal({"b": 5.0, "a": 4.0})]
    filled = sheet(fits, ["a", "b", "absent"])
    assert filled[:, 0].tolist() == [1, 3, 4]
    assert filled[0, 1] == 2
    assert np.isnan(filled[1, 1])
    assert np.isnan(filled[:, 2]).all()
    constant = [seal({"a": float(i), "same": 1.0} | ({"rare": 1.0} if i == 0 else {})) for i in range(9)]
    assert names_of(constant) == ["a"]


@pytest.mark.parametrize("released", [object(), type, len, np.ma.masked])
def test_nothing_stops_it(released: Any) -> None:
    tokens_of(released)
