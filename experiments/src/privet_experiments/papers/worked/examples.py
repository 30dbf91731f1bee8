"""The worked examples as an experiment without fits: every quantity that is computed on paper, computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from privet.errors import ParameterError
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.judge import Measure, judge
from privet_experiments.outcome import Outcome
from privet_experiments.papers.worked import bai, fletcher_knowledge, fletcher_privacy, friedman_schuster

SECTIONS = {"FS": "worked.fs", "TH": "worked.fletcher", "BAI": "worked.bai"}
GROUPS: dict[str, Callable[[], Iterator[Measure]]] = {
    "FS: lunch": friedman_schuster.lunch,
    "FS: split point": friedman_schuster.split_point,
    "FS: sensitivities": friedman_schuster.sensitivities,
    "FS: gains": friedman_schuster.gains,
    "FS: budgets": friedman_schuster.budgets,
    "TH: noise": fletcher_privacy.noise,
    "TH: rules as sets": fletcher_knowledge.rules_as_sets,
    "TH: Table 4.3": fletcher_knowledge.rule_sets,
    "TH: thought experiment": fletcher_knowledge.toy,
    "TH: Table 5.6": fletcher_knowledge.correlations,
    "TH: greedy trees": fletcher_privacy.greedy,
    "TH: signal to noise": fletcher_privacy.signal,
    "TH: smooth sensitivity": fletcher_privacy.smooth,
    "TH: figures of chapter 8": fletcher_privacy.figures,
    "TH: what is not said": fletcher_privacy.closed,
    "BAI: spaces": bai.spaces,
    "BAI: draws": bai.draws,
    "BAI: budgets": bai.budgets,
}


@dataclass(frozen=True)
class WorkedExamples(Experiment):
    """No fits: a group of examples is a job."""

    invented: ClassVar[bool] = True
    groups: tuple[str, ...] = axis(tuple(GROUPS), "A group of examples; may be repeated.")

    def check(self) -> None:
        for group in self.groups:
            if group not in GROUPS:
                raise ParameterError(f"no examples are called {group!r}; choose among {', '.join(GROUPS)}")

    def jobs(self) -> list[Job]:
        return [{"group": group} for group in self.groups]

    def run(self, job: Job) -> Found:
        return {"measures": [[one.name, one.values] for one in GROUPS[job["group"]]()]}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        judged = (
            judge(SECTIONS[row["group"].partition(":")[0]], (Measure(name, **found) for name, found in row["measures"]))
            for row in rows
        )
        return Outcome(statements=tuple(one for group in judged for one in group))
