"""What an experiment is: a declared grid that can list its jobs, run one of them, and conclude from all.

A grid is a frozen dataclass. Its fields are the axes, declared once by :func:`axis`: they are written down beside the
results, and the command has an option for each. A job is a small dictionary of JSON values (names and numbers) that
says which fit or small bundle of fits is meant; what it found is another. Nothing else passes between processes.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import Field, asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, Self

from privet.errors import ParameterError
from privet_experiments.outcome import Outcome

Job = dict[str, Any]
"""Which piece of work: JSON values, no two jobs of an experiment alike."""
Found = dict[str, Any]
"""What came out of a job: JSON values, under other names than the job's."""
Row = dict[str, Any]
"""A job and what it found, in one."""


def axis(default: Any, help: str, *, option: str | None = None, least: float | None = None) -> Any:
    """A field of a grid that the command has an option for.

    The option of ``folds`` is ``--folds``; a tuple's loses its s and may be repeated: ``tables`` is ``--table``. A
    number may not be below ``least``, which is 1 for whole numbers unless said otherwise.
    """
    return field(default=default, metadata={"help": help, "option": option, "least": least})


def option_of(axis: Field[Any]) -> str:
    """How the command calls an axis."""
    named: str | None = axis.metadata["option"]
    name = axis.name.removesuffix("s") if isinstance(axis.default, tuple) else axis.name
    return named or f"--{name.replace('_', '-')}"


@dataclass(frozen=True)
class Experiment(ABC):
    """A grid. Subclasses add axes, and stay small enough to be sent to another process."""

    invented: ClassVar[bool] = False
    """Whether all records are made up. Of others the command says that what it prints is not private."""

    def check(self) -> None:  # noqa: B027 - most grids have nothing more to check
        """Raise what would stop the work, before any is done: an unknown table, a recipe that is not there."""

    @abstractmethod
    def jobs(self) -> list[Job]:
        """All pieces of work, those that share a table side by side."""

    @abstractmethod
    def run(self, job: Job) -> Found:
        """Do one piece. It may run in a process of its own, and must not depend on other jobs."""

    def repeat_of(self, job: Job) -> int:
        """Which repeat of the grid a job belongs to. Whole repeats are done first, so that a run can be cut."""
        return int(job.get("repeat", 0))

    def first(self, repeats: int) -> Self:
        """The grid of the first repeats only, of which there must be more than one."""
        return replace(self, **{"repeats": repeats})

    @property
    def n_runs(self) -> int | None:
        """How many runs by chance stand behind each number; None where nothing is drawn or one draw is the subject."""
        return None

    by_table: ClassVar[bool] = False
    """Whether statements are about one table each, so that those of tables that are done can be judged."""

    @property
    def by_repeats(self) -> bool:
        """Whether a repeat of the grid is one run, not each of the numbers in a row's lists."""
        return False

    def runs_in(self, row: Row) -> int:
        """How many of them a row has: its lists of that many numbers have a value for each."""
        return self.n_runs or 0

    @abstractmethod
    def conclude(self, rows: Sequence[Row]) -> Outcome:
        """Tables, figures and verdicts from the rows of all jobs, in the order of :meth:`jobs`."""

    def to_dict(self) -> dict[str, Any]:
        """The axes as JSON values, as they are written down beside the results."""
        axes: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return axes

    def axes(self) -> list[Field[Any]]:
        """The fields that the command has an option for."""
        return [one for one in fields(self) if "help" in one.metadata]

    def check_axes(self) -> None:
        """Raise ``ParameterError`` for an empty axis or a number that is too small."""
        for one in self.axes():
            value = getattr(self, one.name)
            values = value if isinstance(value, tuple) else (value,)
            if not values and one.default != ():
                raise ParameterError(f"{one.name} must not be empty")
            for each in values:
                if isinstance(each, bool) or not isinstance(each, int | float):
                    continue
                least = one.metadata["least"]
                least = (1 if isinstance(each, int) else 0) if least is None else least
                if not each >= least:  # also what is not a number
                    raise ParameterError(f"{one.name} must be at least {least:g}, not {each!r}")


def key_of(job: Job) -> str:
    """A job as text, by which it is found again."""
    return json.dumps(job, sort_keys=True)
