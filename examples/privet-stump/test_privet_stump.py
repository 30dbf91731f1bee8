"""The recipe keeps its word, and one that looks at the records past the ledger is found out."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from privet_stump import Stump

import privet
from privet.audit import exact, tiny_schema, zoo
from privet.datasets.clinic import clinic
from privet.errors import ParameterError
from privet.privacy.counting import class_counts
from privet.testing import check_recipe


def test_it_keeps_its_word() -> None:
    check_recipe("stump", epsilons=[1], schema=tiny_schema(), transcripts=2)


@dataclass(frozen=True)
class HastyStump(Stump):
    """Where all records have the same label, it does without a good test."""

    def grow(self, data: Any, epsilon: Any, random: Any, progress: Any = None) -> Any:
        pure = (class_counts(data._engine, data._cells)[0] > 0).sum() < 2
        chosen = Stump(leaf_share=0.99) if pure else Stump()
        return chosen.grow(data, epsilon, random, progress)


def test_a_leak_is_found() -> None:
    assert exact(HastyStump(), zoo(tiny_schema()), claimed=1).verdict != "holds"


def test_it_learns_something() -> None:
    schema, table = clinic(5000)
    stump = privet.make_classifier("stump", schema=schema, epsilon=10).fit(table)
    assert stump.score(table, table["class"]) > 0.6
    assert len(stump.tree_) == 3


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match="leaf_share must be a number from"):
        replace(Stump(), leaf_share=1)
