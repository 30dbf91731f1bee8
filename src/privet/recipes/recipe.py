"""The recipe interface: parameters, a way to grow a model from private data, and facts for choosing a method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from privet.errors import RecipeError, Setting
from privet.growing.prelude import Prelude
from privet.models.released import Released
from privet.privacy.budget import delta as parse_delta
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.privacy.losses import Loss
from privet.progress import Progress
from privet.recipes.parameters import check_declared
from privet.schema import Schema

PURE = "pure epsilon"  # what variants promise
PURE_OR_DELTA = f"{PURE}, or (epsilon, delta) where delta is given"
NUMBER_RECIPES = ("exact-regression", "additive-regression")  # those that messages name


@dataclass(frozen=True)
class Info:
    """A row of the table of methods. ``guarantee`` has an entry for each variant of the recipe."""

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

    The fields of a subclass, declared as in ``recipes/parameters.py``, become the parameters of a classifier, and its
    docstring that classifier's help. ``docs/guide/write-a-recipe.md`` writes one.
    """

    info: ClassVar[Info]
    unsound: ClassVar[dict[str, str]] = {}
    """Why a variant is not differentially private, for those that are not."""
    two_classes_only: ClassVar[bool] = False
    predicts: ClassVar[Literal["classes", "numbers"]] = "classes"
    """What a label must be."""
    concentrates: ClassVar[bool] = False
    """Whether a ``delta`` above 0 lets the fit count in rho (zCDP). Such a recipe declares ``delta`` itself."""
    makes: ClassVar[Literal["trees", "additive"]] = "trees"
    """What kind of model: it decides what else the classifier can show."""

    variant: str = "sound"

    def __post_init__(self) -> None:
        if self.variant not in self.info.variants:
            raise self._no_such_variant()
        check_declared(self)
        if self.concentrates and self.variant != "sound" and self.params["delta"]:
            problem = f"is for variant 'sound'; {self.variant!r} adds up pure epsilon, as its paper does"
            raise RecipeError(parameter="delta", problem=problem, fix="leave it out")
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
        """Convert parameters of a model file to what the recipe takes: keys of JSON are text."""
        return params

    def check(self) -> None:  # noqa: B027 - most recipes have nothing to check
        """Raise ``ParameterError`` for an invalid combination of parameters; each alone is checked before."""

    def refuse_label(self, schema: Schema) -> None:
        """Refuse a label that the recipe cannot predict, before a table is opened or anything is charged."""
        if schema.predicts_number == (self.predicts == "numbers"):
            return
        label = schema.label.name
        if schema.predicts_number:
            raise RecipeError(
                f"recipe {self.info.name!r} predicts classes, and the label {label!r} is a number",
                parameter="recipe",
                fix=f"use {' or '.join(map(repr, NUMBER_RECIPES))}, or cut the label into classes and declare these",
            )
        raise RecipeError(
            f"recipe {self.info.name!r} predicts numbers, and the label {label!r} is a class",
            parameter="recipe",
            fix="use a recipe for classes, such as 'exact', or declare the label's bounds if it is a number",
        )

    def loss(self, epsilon: Fraction) -> Loss:
        """The largest loss of a fit with this epsilon, including the recipe's delta, if it has one."""
        return Loss(epsilon, parse_delta(getattr(self, "delta", 0)))

    def budget(self, data: PrivateDataset, epsilon: Fraction) -> tuple[PrivateDataset, Fraction]:
        """The records for a fit, and the amount that it may spend: epsilon, or the rho that it buys with a delta."""
        loss = self.loss(epsilon)
        if not (self.concentrates and loss.delta):
            return data, epsilon
        data = data.concentrated(loss, f"{self.info.name} under zCDP")
        return data, data.ledger.left.rho

    def prepare(self, schema: Schema) -> Schema:
        """The schema the method works with: numbers cut as finely as it needs."""
        return schema

    def recuts(self, schema: Schema) -> bool:
        """Whether ``survey`` may cut numbers anew, by public facts; then the engine keeps their values."""
        return False

    def survey(self, prelude: Prelude) -> tuple[Recipe, Prelude]:
        """Buy the facts that the plan needs; returns the recipe with "auto" values resolved."""
        return self, prelude

    def refuse_unsound(self, ledger: Ledger) -> None:
        """Refuse a non-private variant if the ledger protects a budget, before records are read."""
        if self.variant in self.unsound:
            ledger.check_nonprivate(*self._nonprivate())

    def _nonprivate(self) -> tuple[str, str]:
        return f"{self.info.name} as published", self.unsound[self.variant]

    def grow_model(self, prelude: Prelude, random: np.random.Generator, progress: Progress | None = None) -> Released:
        """Grow a model that spends at most what is left. An unsound variant is recorded before it counts."""
        if self.variant in self.unsound:
            prelude.data.charge_nonprivate(*self._nonprivate())
        return self.grow_after(prelude, random, progress)

    def grow_after(self, prelude: Prelude, random: np.random.Generator, progress: Progress | None = None) -> Released:
        """Grow after the prelude. A recipe that plans by the number of records defines this beside ``grow``."""
        return self.grow(prelude.data, prelude.left, random, progress)

    @abstractmethod
    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Released:
        """Grow a model from these records that spends at most ``epsilon``."""
