"""The one list of experiments (``registry.toml``): what each is called, where it comes from, and its three forms.

Reading the list loads none of them: a form is imported when it is asked for.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, get_args

from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet_experiments.experiment import Experiment

Form = Literal["smoke", "quick", "full"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True)
class Entry:
    """An experiment. ``grid`` is ``module:Class`` in this package; a form has other values for some of its axes."""

    name: str
    source: str
    """Which table or figure of which work, or "privet" for our own questions."""
    title: str
    grid: str
    hours: float
    """What the full form takes, on two cores."""
    smoke: Mapping[str, Any]
    quick: Mapping[str, Any]
    full: Mapping[str, Any]

    @property
    def of_a_paper(self) -> bool:
        """Whether it repeats what a paper did; otherwise it is a question of our own."""
        return self.grid.startswith("papers.")

    def form(self, form: Form) -> Experiment:
        """The grid of a form."""
        module, _, name = self.grid.partition(":")
        kind = getattr(import_module(f"privet_experiments.{module}"), name)
        axes: Mapping[str, Any] = getattr(self, form)
        made: Experiment = kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in axes.items()})
        return made

    def forms(self) -> Mapping[Form, Experiment]:
        return {form: self.form(form) for form in FORMS}


def _entries() -> tuple[Entry, ...]:
    listed = tomllib.loads(files("privet_experiments").joinpath("registry.toml").read_text("utf-8"))
    return tuple(Entry(name, **facts) for name, facts in listed.items())


ENTRIES: tuple[Entry, ...] = _entries()


def entry(name: str) -> Entry:
    """The experiment of that name."""
    for one in ENTRIES:
        if one.name == name:
            return one
    raise ParameterError(f"no experiment is called {name!r}; `privet reproduce --list` shows them all")
