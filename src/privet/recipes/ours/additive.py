"""The additive model: privet's own, and its recommended ensemble.

The usual private model for graded probabilities adds up one-attribute trees, grown in hundreds of noisy rounds. The
rounds are not needed: here noise is added once to the objective, which is solved exactly, and the solution is released.
For two classes that is pure epsilon, without the usual penalty for the curvature of the objective.

Budget: 2 % of B buys class counts (up to 27 % where they are few). They decide, with public facts, how the rest is
spent: on an exact tree with class counts in its leaves where noise is large; on curves of all attributes, or of those
that explain most, on top of it; with more than two classes, on how much the curves count; and, with enough records, on
tables of pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.growing.additive.fitting import PAIRS, Preferences, grow_additive
from privet.growing.cutting.points import fine_bins
from privet.growing.prelude import Prelude
from privet.models.additive import Additive
from privet.privacy.budget import delta as parse_delta
from privet.privacy.dataset import PrivateDataset
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.class_weights import as_pairs, from_pairs, weights_of
from privet.recipes.parameters import declared, weights, whole
from privet.recipes.recipe import PURE_OR_DELTA, Info, Recipe
from privet.schema import Schema

MOST_WEIGHT = 1000  # beyond, the noise of the others would hide them


@dataclass(frozen=True)
class AdditiveModel(Recipe):
    """One additive model, fitted once: privet's ensemble for ranking and graded probabilities.

    Examples
    --------
    >>> from privet import AdditiveClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> model = AdditiveClassifier(schema=schema, epsilon=1).fit(table, table["class"])
    >>> model.certificate_.epsilon
    Fraction(1, 1)
    """

    info: ClassVar[Info] = Info(
        name="additive",
        title="additive model",
        citation="privet",
        budget="B for class counts, a tree or none, up to two fits, and how much curves count",
        guarantee={"sound": PURE_OR_DELTA},
        chooses="the whole tree",
        trees="a curve for each attribute",
        depth="1, or 2 for pairs",
        numeric="straight lines between public knots",
        recommended="ranking records and graded probabilities",
    )
    makes: ClassVar[Literal["trees", "additive"]] = "additive"

    delta: float = declared(
        0.0,
        "float from 0 to below 1",
        "0 promises pure epsilon. Above 0, such as 1e-6, allows Gaussian noise where that is less.",
        lambda value, name: parse_delta(value),
    )
    pairs: int = whole(PAIRS, low=0, high=100, help="How many tables of pairs a model may have, with enough records.")
    attribute_weights: Mapping[str, float] | None = weights(
        "attribute",
        low=0,
        high=MOST_WEIGHT,
        help="Gives an attribute less noise (above 1) or more (below 1) than the others, or leaves it out (0), if you "
        "know beforehand what matters.",
    )
    class_weight: Mapping[Any, float] | None = shared.class_weight(
        "What a record of each class counts. Public: never computed from the table."
    )

    @property
    def params(self) -> dict[str, Any]:
        return as_pairs(super().params)

    @classmethod
    def restore(cls, params: dict[str, Any]) -> dict[str, Any]:
        return from_pairs(params)

    def prepare(self, schema: Schema) -> Schema:
        self.preferences(schema)
        return fine_bins(schema)

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Additive:
        return grow_additive(Prelude(data, epsilon), parse_delta(self.delta), self.preferences(data.schema), progress)

    def preferences(self, schema: Schema) -> Preferences:
        """The parameters, checked against the schema."""
        return Preferences(self._weights(schema), favours_of(self.attribute_weights, schema), self.pairs)

    def _weights(self, schema: Schema) -> npt.NDArray[np.float64]:
        weights = weights_of(self.class_weight, schema)
        if not any(weights):
            raise ParameterError(
                parameter="class_weight", problem="ignores every class", fix="leave one a weight above 0"
            )
        return np.array(weights, dtype=np.float64)


def favours_of(given: Mapping[str, float] | None, schema: Schema) -> dict[int, float]:
    """Weights of attributes by their number, checked against the schema."""
    favours = {schema.index(name): weight for name, weight in (given or {}).items()}
    for a, weight in favours.items():
        if 0 < weight < 1 / MOST_WEIGHT:
            problem = f"of {schema.names[a]!r} is too small"
            raise ParameterError(parameter="attribute_weights", problem=problem, fix="0 leaves an attribute out")
    if len(favours) == len(schema.attributes) and not any(favours.values()):
        raise ParameterError(
            parameter="attribute_weights", problem="leaves out every attribute", fix="leave at least one"
        )
    return favours
