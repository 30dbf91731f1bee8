"""Every registered experiment, in its smallest form: it runs, resumes, and comes to something that can be shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from privet.errors import ParameterError
from privet_experiments.page import reproduction_pages
from privet_experiments.registry import ENTRIES, FORMS, Entry, entry
from privet_experiments.runner import run

MOST_SECONDS = 20.0  # of processor time for a smoke form: all of them together are for every run of the suite


pytestmark = pytest.mark.usefixtures("tables")


@pytest.mark.parametrize("one", ENTRIES, ids=lambda one: one.name)
def test_the_smoke_form_runs(one: Entry, tmp_path: Path) -> None:
    grid = one.forms()["smoke"]
    found = run(one.name, "smoke", grid, out=tmp_path, processes=1)
    assert len(found.rows) == len(grid.jobs())
    assert found.outcome.tables or found.outcome.statements
    for table in found.outcome.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
    for figure in found.outcome.figures:
        assert any(series.points for series in figure.series)
    for statement in found.outcome.statements:
        assert statement.source
        assert statement.verdict != "differs" or statement.reason, statement
        if one.smoke != one.full:
            assert statement.verdict in ("too few runs", "not recomputable"), statement
    json.dumps(found.to_dict(), allow_nan=False)
    again = run(one.name, "smoke", grid, out=tmp_path, processes=1)
    assert (again.resumed, again.outcome) == (len(found.rows), found.outcome)
    assert not one.of_a_paper or any(one.title in text for text in reproduction_pages([(one, found)], "all").values())
    assert found.seconds < MOST_SECONDS


@pytest.mark.parametrize("one", ENTRIES, ids=lambda one: one.name)
def test_forms_grow(one: Entry) -> None:
    """Every form can be listed without work, and a larger one has no fewer jobs."""
    forms = one.forms()
    assert tuple(forms) == FORMS
    smoke, quick, full = (len(forms[form].jobs()) for form in FORMS)
    assert 1 <= smoke <= quick <= full
    assert one.hours > 0
    for form in forms.values():
        form.check_axes()
        form.check()
        assert all(axis.metadata["help"] for axis in form.axes())


def test_names_are_unique_and_unknown_ones_are_refused() -> None:
    names = [one.name for one in ENTRIES]
    assert len(set(names)) == len(names)
    with pytest.raises(ParameterError, match="no experiment is called 'fig-99'; `privet reproduce --list`"):
        entry("fig-99")
