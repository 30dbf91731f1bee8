"""The additive model of a number: one curve for each attribute, fitted at once with noise in the objective.

Budget: a fiftieth of B buys the approximate number of records, and 0.03 to 0.4 of what is left where the labels lie.
Then a share of 0.03 to 0.1 moves all predictions to the mean, and the rest is for the curves, with tables of pairs on
top of them if there are enough records. Below 200 records times epsilon the mean is all that is released.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from privet.errors import ParameterError
from privet.growing.additive.fitting import PAIRS, Preferences
from privet.growing.additive.numbers import grow_additive_numbers, survey_numbers
from privet.growing.cutting.points import fine_bins
from privet.growing.prelude import Prelude
from privet.models.additive import Additive
from privet.privacy.budget import delta as parse_delta
from privet.privacy.dataset import PrivateDataset
from privet.progress import Progress
from privet.recipes.ours.additive import MOST_WEIGHT, favours_of
from privet.recipes.parameters import declared, weights, whole
from privet.recipes.recipe import PURE_OR_DELTA, Info, Recipe
from privet.schema import Schema


@dataclass(frozen=True)
class AdditiveRegression(Recipe):
    """One additive model of a number, fitted once, with a curve for each attribute.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import AdditiveRegressor, Categorical, Numeric, Schema
    >>> schema = Schema((Numeric("age", 0, 100), Categorical("sex", ("f", "m"))), Numeric("wage", 0, 100))
    >>> age = np.arange(5000) % 100
    >>> table = {"age": age, "sex": np.where(age % 2, "f", "m")}
    >>> model = AdditiveRegressor(schema=schema, epsilon=1).fit(table, 20 + age / 2)
    >>> bool(model.predict({"age": [80], "sex": ["f"]}) > model.predict({"age": [10], "sex": ["f"]}))
    True
    """

    info: ClassVar[Info] = Info(
        name="additive-regression",
        title="additive model of a number",
        citation="privet",
        budget="B for a count, where the labels lie, and up to three fits",
        guarantee={"sound": PURE_OR_DELTA},
        chooses="the whole tree",
        trees="a curve for each attribute",
        depth="1, or 2 for pairs",
        numeric="straight lines between public knots",
        recommended="predicting numbers",
    )
    makes: ClassVar[Literal["trees", "additive"]] = "additive"
    predicts: ClassVar[Literal["classes", "numbers"]] = "numbers"

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

    def prepare(self, schema: Schema) -> Schema:
        favours_of(self.attribute_weights, schema)
        return fine_bins(schema)

    def recuts(self, schema: Schema) -> bool:
        return True  # the label is cut where the labels lie

    def survey(self, prelude: Prelude) -> tuple[Recipe, Prelude]:
        if not prelude.data.can_be_recut:
            raise ParameterError(
                "a part of a table keeps its cuts, and a number to predict needs new ones; give the whole table"
            )
        return self, survey_numbers(prelude)

    def grow_after(self, prelude: Prelude, random: np.random.Generator, progress: Progress | None = None) -> Additive:
        favours = favours_of(self.attribute_weights, prelude.data.schema)
        preferences = Preferences(np.ones(prelude.data.schema.n_classes), favours, self.pairs)
        return grow_additive_numbers(prelude, parse_delta(self.delta), preferences, progress)

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Additive:
        return self.grow_after(survey_numbers(Prelude(data, epsilon)), random, progress)
