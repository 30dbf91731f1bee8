"""The one list of experiments: what each is called, where it comes from, and its three forms.

Reading the list loads none of them: a form is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal, get_args

from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.experiments.experiment import Experiment

Form = Literal["smoke", "quick", "full"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True)
class Entry:
    """An experiment. ``place`` is ``module:NAME`` in this package, a mapping from form to grid."""

    name: str
    source: str
    """Which table or figure of which work, or "privet" for our own questions."""
    title: str
    place: str
    hours: float
    """What the full form takes, on two cores."""

    def forms(self) -> Mapping[Form, Experiment]:
        module, _, name = self.place.partition(":")
        forms: Mapping[Form, Experiment] = getattr(import_module(f"privet.experiments.{module}"), name)
        return forms


ENTRIES: tuple[Entry, ...] = (
    Entry("fs-table1", "FS Table 1", "One split on ten binary attributes, B = 0.1", "fs_table1:FORMS", 0.2),
    Entry("fs-figs345", "FS Figs. 3 to 5", "One split against the number of records", "fs_synthetic:SINGLE_FORMS", 0.5),
    Entry(
        "fs-figs67",
        "FS Figs. 6 and 7",
        "Trees of depth 5 against the number of records",
        "fs_synthetic:LARGER_FORMS",
        1,
    ),
    Entry("accuracy", "privet", "Every recipe on six real tables, ten folds", "accuracy:FORMS", 0.4),
    Entry("worked-examples", "FS, TH, BAI", "What the sources compute on paper", "worked.examples:FORMS", 0.01),
    Entry("fletcher-fig61", "TH Figs. 6.1 to 6.6", "The greedy forest against FS's tree", "thesis.greedy:FORMS", 4),
)


def entry(name: str) -> Entry:
    """The experiment of that name."""
    for one in ENTRIES:
        if one.name == name:
            return one
    raise ParameterError(f"no experiment is called {name!r}; `privet reproduce --list` shows them all")
