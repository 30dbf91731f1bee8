"""Worked examples of the sources: which of them agree, and that a wrong number is seen."""

from __future__ import annotations

from collections import Counter

import pytest

from privet.errors import ParameterError
from privet_experiments.papers.worked.examples import GROUPS, WorkedExamples
from privet_experiments.runner import run

# What is wrong in the sources, by where it stands.
ERRATA = {
    "FS slides": 2,
    "FS 4.1": 1,
    "FS 4.3": 1,
    "TH 3.2": 1,
    "TH 3.3.2, 6.3": 1,
    "TH 4.3.3.2": 1,
    "TH 4.3.4.2": 1,
    "TH Table 4.3": 2,
    "TH Table 5.2": 1,
    "TH Table 5.3": 1,
    "TH Table 5.4": 2,
    "TH Table 5.6": 1,
    "TH 6.3": 1,
    "TH Theorem 6.1": 1,
    "TH Alg. 6.1": 1,
    "TH Fig. 6.5": 1,
    "TH eq. (7.3)": 1,
    "TH Theorem 8.1": 1,
    "TH Theorem 8.2": 1,
    "TH Table 8.2": 3,
    "TH Table 8.3": 1,
    "TH Example 8.1": 1,
    "TH 8.4.2.1": 1,
    "BAI 3.5": 1,
    "BAI 3.6": 1,
}


def test_what_the_sources_compute_on_paper() -> None:
    """Every one of them is decided, and those that differ are the known errata and no others."""
    found = run("worked-examples", "smoke", WorkedExamples(), processes=1).outcome
    apart = [one for one in found.statements if one.verdict == "differs"]
    assert Counter(one.source for one in apart) == ERRATA
    assert all(one.reason for one in apart)
    assert len(found.statements) == 76
    assert found.verdict == "43 of 73 statements reproduced; 30 differ; 3 not recomputable"


def test_groups_are_known_by_name() -> None:
    with pytest.raises(ParameterError, match="no examples are called 'FS: dinner'"):
        run("worked-examples", "smoke", WorkedExamples(("FS: dinner",)))
    some = run("worked-examples", "smoke", WorkedExamples(tuple(GROUPS)[:1]), processes=1).outcome
    assert {one.source for one in some.statements} == {"FS slides"}
