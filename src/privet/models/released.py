"""What a fit releases: what every kind of model answers, so that nobody has to ask which kind it is.

A new kind of model is a file: a class with these members, and its reader in ``KINDS`` of ``models/codec.py``. It may
show itself as trees (:class:`~privet.models.shown.ShownTree`) or as curves (:class:`~privet.models.curves.ShownSum`),
which text, pages and pictures know how to draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict, Unpack, runtime_checkable

import numpy as np
import numpy.typing as npt

from privet.schema import Schema

if TYPE_CHECKING:
    from privet.models.curves import ShownSum
    from privet.models.rules import Rule
    from privet.models.shown import ShownTree
    from privet.models.tree import Tree

    Section: TypeAlias = ShownTree | ShownSum

Floats = npt.NDArray[np.float64]


class Limits(TypedDict, total=False):
    """How much of a tree is shown."""

    max_leaves: int | None
    """At most so many leaves; the branches with the fewest records are folded into one."""
    min_support: float | None
    """No branch is opened in which every leaf has fewer records."""


@runtime_checkable
class Released(Protocol):
    """A tree, a forest, an additive model. All of it is worked out from released numbers and public facts."""

    @property
    def schema(self) -> Schema: ...

    @property
    def title(self) -> str:
        """What it is called: ``decision tree``, ``forest``, ``additive model``."""

    @property
    def members(self) -> tuple[Tree, ...]:
        """Its trees; none if it is not made of trees."""

    @property
    def combined(self) -> str:
        """How its trees become one prediction, in words; empty if there is nothing to combine."""

    @property
    def size(self) -> dict[str, int]:
        """How large it is, by what is counted: trees, leaves and depth, or parts and numbers."""

    @property
    def graded(self) -> bool:
        """Whether its probabilities can be other than 0 and 1."""

    def predict(self, features: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The class code of each record; ``features`` are codes (attributes, records)."""

    def predict_proba(self, features: npt.NDArray[Any]) -> Floats:
        """(record, class) probabilities."""

    def predict_scores(self, features: npt.NDArray[Any]) -> Floats:
        """(record, column) the numbers that a prediction is made of."""

    def rules(self, *, inner: bool = False, deepest: int | None = None, scale: float | None = None) -> tuple[Rule, ...]:
        """The rules of its members, see :func:`privet.models.rules.rules_of`."""

    def importances(self) -> Floats:
        """(attribute,) its share in what the model decides; together at most 1."""

    def asked(self) -> tuple[int, ...]:
        """The attributes that it asks for, in the order in which a reader meets them."""

    def sections(self, scale: float | None = None, *, raw: bool = False, **limits: Unpack[Limits]) -> Iterator[Section]:
        """What a page or ``privet show`` prints, one by one; ``scale`` is that of the noise in its counts.

        ``raw`` shows exactly what was released.
        """

    def overview(self, sections: Iterator[Section]) -> str:
        """The whole as text that a screen holds, from its sections."""

    def html(self, scale: float | None = None) -> str:
        """What a notebook shows."""

    def arrays(self, most: int) -> dict[str, Any] | None:
        """Plain lists with which a script predicts the same; None if they hold more than ``most`` numbers."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data, which :mod:`privet.models.codec` reads."""

    def fault(self) -> str | None:
        """What is wrong with it, as a clause, or None."""
