"""The result of the planner: points lost, records that a leaf needs, and errors of answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from privet.planning.strength import Strength

NOTICE = (
    "Simulated: invented records with the noise of a real fit. No record of yours was read and no budget was spent. "
    "Your table will differ; read a forecast as an order of magnitude, not as a promise."
)


def in_points(value: float) -> str:
    """Format with one digit, and without a minus before a zero.

    >>> in_points(-0.04), in_points(-0.06)
    ('0.0', '-0.1')
    """
    return f"{round(value, 1) + 0.0:.1f}"


@dataclass(frozen=True)
class ForecastLine:
    """One learner at one epsilon, averaged over simulated tables. Scores as fractions, losses in points."""

    recipe: str
    settings: str  # parameters that differ from the recipe's defaults
    epsilon: float
    score: float  # accuracy, or R2 of a number
    without_noise: float  # the same learner on the same tables with negligible noise
    error: float  # standard error of the points lost
    leaf_records: int | None  # the records with which a leaf of one tree gets the right label; None of a number

    @property
    def learner(self) -> str:
        return f"{self.recipe}, {self.settings}" if self.settings else self.recipe

    @property
    def lost(self) -> float:
        """Points, hundredths of the score, that privacy costs."""
        return 100 * (self.without_noise - self.score)

    def to_dict(self, measure: str) -> dict[str, Any]:
        """Plain numbers and text, with the score under the name of its measure."""
        return {measure if key == "score" else key: value for key, value in asdict(self).items()} | {"lost": self.lost}

    def __str__(self) -> str:
        return f"{in_points(self.lost)} ± {self.error:.1f}"


@dataclass(frozen=True)
class Answer:
    """The error of a count, and of all class counts at once, if a whole epsilon is spent on them.

    A number has no class counts.
    """

    epsilon: float
    count_within: int
    class_counts_within: int | None


@dataclass(frozen=True)
class Forecast:
    """A line for every learner and epsilon, and the error of answers for every epsilon."""

    schema: str
    records: int
    simulated_records: int
    signal: Strength
    largest_class: float | None
    worlds: int
    confidence: float
    lines: tuple[ForecastLine, ...]
    answers: tuple[Answer, ...]
    measure: str = "accuracy"
    """What the scores are: accuracy, or R2, the share of the labels' variance that is explained."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks that belong to the numbers."""
        notes = [NOTICE]
        if self.simulated_records < self.records:
            notes.append(
                f"{self.simulated_records:,} records stand for {self.records:,}, each epsilon raised in proportion: "
                "what noise does depends on epsilon times the number of records."
            )
        return tuple(notes)

    @property
    def epsilons(self) -> tuple[float, ...]:
        return tuple(answer.epsilon for answer in self.answers)

    @property
    def learners(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line.learner for line in self.lines))

    def of(self, learner: str) -> tuple[ForecastLine, ...]:
        """The lines of a learner, or of a recipe, by increasing epsilon."""
        return tuple(f for f in self.lines if learner in (f.learner, f.recipe))

    def to_dict(self) -> dict[str, Any]:
        return {
            "notes": list(self.notes),
            "private": False,
            "schema": self.schema,
            "records": self.records,
            "simulated_records": self.simulated_records,
            "signal": asdict(self.signal),
            "largest_class": self.largest_class,
            "worlds": self.worlds,
            "confidence": self.confidence,
            "measure": self.measure,
            "forecasts": [line.to_dict(self.measure.lower()) for line in self.lines],
            "answers": [asdict(answer) for answer in self.answers],
        }
