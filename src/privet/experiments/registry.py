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
    Entry("fs-figs345", "FS Figs. 3 to 5", "One split against the number of records", "fs_synthetic:SINGLE_FORMS", 0.1),
    Entry(
        "fs-figs67",
        "FS Figs. 6 and 7",
        "Trees of depth 5 against the number of records",
        "fs_synthetic:LARGER_FORMS",
        0.2,
    ),
    Entry("bai", "BAI Figs. 4 to 6", "Trees drawn in blocks of levels, as published and exactly", "bai:FORMS", 0.3),
    Entry("bai-fig7", "BAI Fig. 7", "Blocks of levels against Private-RDT", "bai:FIG7_FORMS", 2),
    Entry("bai-chain", "BAI Fig. 3", "The Markov chain, and what it stands for", "bai_chain:FORMS", 0.1),
    Entry("bai-time", "BAI Fig. 8", "How long blocks of levels take", "bai_time:FORMS", 1),
    Entry("fletcher-table43", "TH Table 4.3", "Rules of two non-private trees", "rule_similarity:TABLE43_FORMS", 0.02),
    Entry("fletcher-fig91", "TH Figs. 9.1, 9.2", "Private trees beside CART", "rule_similarity:FIGURE91_FORMS", 0.1),
    Entry(
        "fletcher-retention",
        "TH Figs. 5.4, 5.5, Table 5.6",
        "What anonymisers leave of patterns",
        "anonymising:RETENTION_FORMS",
        0.1,
    ),
    Entry("publish-or-grow", "TH 3.4", "Trees from published tables, or private", "anonymising:CONTEST_FORMS", 0.2),
    Entry("fs-fig8", "FS Fig. 8", "DiffPC4.5 on adult by three scores", "fs_adult:FORMS", 0.1),
    Entry("fletcher-fig81", "TH Fig. 8.1", "Smooth and global sensitivity", "fletcher_fig81:FORMS", 0.3),
    Entry("fletcher-instances", "TH Fig. 8.1", "How far instances of its tables differ", "fletcher_instances:FORMS", 1),
    Entry("forest-settings", "privet", "Settings of the random forest", "forest_settings:FORMS", 1.5),
    Entry("forest-claims", "privet", "The random forest against class shares", "forest_claims:FORMS", 0.5),
    Entry("forecast", "privet", "What `privet plan` foresees, and the truth", "forecast:FORMS", 0.5),
    Entry("additive", "privet", "The additive model, ranked and graded", "graded:FORMS", 2),
    Entry("reliability", "privet", "Are probabilities what they say?", "reliability:FORMS", 0.3),
    Entry("which-learner", "privet", "Which learner when", "which_learner:FORMS", 0.5),
    Entry("shapes", "privet", "The exact tree on tables of many shapes", "shapes:FORMS", 6),
    Entry("accuracy", "privet", "Every recipe on six real tables, ten folds", "accuracy:FORMS", 0.4),
    Entry("comparison", "privet", "Every recipe and other libraries, side by side", "comparison:FORMS", 5),
    Entry("worked-examples", "FS, TH, BAI", "What the sources compute on paper", "worked.examples:FORMS", 0.01),
    Entry("fletcher-tables", "TH Tables 5.5, 7.1, 8.4", "Facts of the thesis's tables", "thesis.data_sets:FORMS", 0.01),
    Entry("fletcher-fig53", "TH Fig. 5.3, Table 5.1", "Four patterns under noise", "thesis.patterns:FORMS", 0.01),
    Entry("fletcher-fig61", "TH Figs. 6.1 to 6.6", "The greedy forest against FS's tree", "thesis.greedy:FORMS", 1),
    Entry("fletcher-fig71", "TH Figs. 7.1 to 7.3", "The signal-to-noise forest and JPW", "thesis.signal:FORMS", 1),
    Entry("fletcher-leaves", "TH Table 8.3, Figs. 8.2, 8.5", "Leaves of random trees", "thesis.leaves:FORMS", 0.5),
    Entry("fletcher-fig83", "TH Fig. 8.3", "Random trees over depths", "thesis.smooth:DEPTHS", 0.5),
    Entry("fletcher-fig84", "TH Fig. 8.4", "Random trees over sizes of the forest", "thesis.smooth:SIZES_FORMS", 1),
    Entry("fletcher-fig86", "TH Fig. 8.6", "Random trees over numbers of records", "thesis.smooth:RECORDS", 0.5),
    Entry("fletcher-fig87", "TH Fig. 8.7", "Random trees over epsilons", "thesis.smooth:BUDGETS", 0.3),
    Entry("fletcher-fig88", "TH Figs. 8.8 to 8.11, 3.4", "Forests at epsilon 1", "thesis.contest:FORMS", 3),
    Entry("fletcher-fig93", "TH Fig. 9.3", "The three forests of the thesis", "thesis.contest:CHAPTERS", 0.3),
)


def entry(name: str) -> Entry:
    """The experiment of that name."""
    for one in ENTRIES:
        if one.name == name:
            return one
    raise ParameterError(f"no experiment is called {name!r}; `privet reproduce --list` shows them all")
