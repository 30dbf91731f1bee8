"""What a recipe is: parameters with a way to grow a model from private data, and the facts a user chooses it by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from privet.errors import ParameterError, RecipeError, Setting
from privet.growing.forests.leaf_counts import Counted
from privet.growing.greedy.grower import Progress
from privet.models.codec import Released
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.privacy.losses import Loss
from privet.schema import Schema


@dataclass(frozen=True)
class Info:
    """A row of the table of methods. ``guarantee`` has an entry for each variant the recipe offers."""

    name: str
    title: str
    citation: str
    budget: str
    guarantee: dict[str, str]
    chooses: Literal["greedily", "at random", "the whole tree"]
    trees: str
    depth: str
    numeric: str
    errata: str = ""
    recommended: str = ""
    """What for, if it is one of the few to begin with."""

    @property
    def variants(self) -> tuple[str, ...]:
        return tuple(self.guarantee)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"variants": list(self.variants)}


@dataclass(frozen=True)
class Recipe(ABC):
    """Parameters of a method. Subclasses are frozen, so a recipe can be compared, shown and stored.

    A subclass is a paper's page: its fields become the parameters of a classifier and its docstring, in numpydoc's
    style, becomes the help of that classifier. ``docs/guide/write-a-recipe.md`` writes one.
    """

    info: ClassVar[Info]
    unsound: ClassVar[dict[str, str]] = {}
    """Why a variant is not differentially private, for those that are not."""
    two_classes_only: ClassVar[bool] = False
    makes: ClassVar[Literal["trees", "additive"]] = "trees"
    """What kind of model: it decides what else the classifier can show."""

    variant: str = "sound"

    def __post_init__(self) -> None:
        if self.variant not in self.info.variants:
            raise self._no_such_variant()
        self.check()

    def _no_such_variant(self) -> RecipeError:
        who, (first, *others) = f"recipe {self.info.name!r}", self.info.variants
        if self.variant == "sound":
            return RecipeError(
                f"{who} has no sound variant, it is never differentially private",
                parameter="variant",
                fix=(
                    "choose another recipe or, on data that need no protection, set ",
                    Setting("variant", first),
                    "".join(f" or {other!r}" for other in others),
                ),
            )
        offered = " or ".join(map(repr, self.info.variants))
        return RecipeError(f"{who} has variant {offered}, not {self.variant!r}", parameter="variant")

    @property
    def as_published(self) -> bool:
        return self.variant == "as-published"

    @property
    def params(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def restore(cls, params: dict[str, Any]) -> dict[str, Any]:
        """Parameters as a model file holds them, back to what the recipe takes: keys of JSON are text."""
        return params

    def check(self) -> None:  # noqa: B027 - a recipe may have nothing to check
        """Raise ``ParameterError`` for parameters that are not possible."""

    def loss(self, epsilon: Fraction) -> Loss:
        """The most that a fit with this epsilon may lose: with a delta where the recipe has one."""
        return Loss(epsilon)

    def prepare(self, schema: Schema) -> Schema:
        """The schema the method works with: numeric attributes cut as finely as it wants."""
        return schema

    def recuts(self, schema: Schema) -> bool:
        """Whether ``survey`` may cut numbers anew, by the public facts: then records are kept so that it can."""
        return False

    def knowing(self, records: Counted) -> Recipe:
        """The recipe that is told how many records there are, and buys no count where it would."""
        wants = any(f.name == "n_public" for f in fields(self)) and getattr(self, "n_public", None) is None
        return replace(self, n_public=records) if wants else self  # type: ignore[call-arg]  # it has that field

    def survey(self, data: PrivateDataset, epsilon: Fraction) -> Survey:
        """Buy what is worth knowing before anything grows, and decide by it what "auto" stands for."""
        return Survey(self, data, epsilon)

    def refuse_unsound(self, ledger: Ledger) -> None:
        """Refuse a variant that is not private where the ledger protects a budget, before records are read."""
        if self.variant in self.unsound:
            ledger.check_nonprivate(*self._nonprivate())

    def _nonprivate(self) -> tuple[str, str]:
        return f"{self.info.name} as published", self.unsound[self.variant]

    def grow_model(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Released:
        """Grow a model that spends at most ``epsilon``. An unsound variant is recorded before it counts."""
        if self.variant in self.unsound:
            data.charge_nonprivate(*self._nonprivate())
        return self.grow(data, epsilon, random, progress)

    @abstractmethod
    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Released: ...


@dataclass(frozen=True, eq=False)
class Survey:
    """What a recipe knows before it grows: itself with nothing left open, the records as it wants them cut, what is
    left of epsilon, and sentences that say what was planned and why. All of it follows from released numbers."""

    recipe: Recipe
    data: PrivateDataset
    left: Fraction
    notes: tuple[str, ...] = ()


def check_whole(value: object, name: str, low: int, high: int) -> int:
    """A whole number between bounds, or a ``ParameterError`` that says so."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ParameterError(parameter=name, problem=f"must be a whole number from {low} to {high}, not {value!r}")
    return int(value)


def check_choice(value: object, name: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ParameterError(parameter=name, problem=f"must be one of {', '.join(map(repr, choices))}, not {value!r}")


def check_number(value: object, name: str, low: float, high: float) -> None:
    """A finite number between bounds."""
    number = isinstance(value, int | float | Fraction | np.number) and not isinstance(value, bool)
    if not number or not low <= value <= high:  # type: ignore[operator]  # a number by now; NaN fails here
        raise ParameterError(parameter=name, problem=f"must be a number from {low:g} to {high:g}, not {value!r}")


def check_share(value: object, name: str, least: float = 0, most: float = 1) -> None:
    """A part of a whole."""
    check_number(value, name, least, most)


def exact_share(value: object) -> Fraction:
    """A share as it is written: 0.05 is one twentieth, so that budgets stay rationals one can read."""
    return Fraction(str(value))


def check_flag(value: object, name: str) -> None:
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(parameter=name, problem=f"must be True or False, not {value!r}")
