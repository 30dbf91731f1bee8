"""The exact whole tree that predicts a number.

Budget: a fiftieth of B buys the approximate number of records (nothing, if ``n_public`` gives it). By that number a
public rule decides the shares for where the labels lie, and for cuts of numbers, and how many levels are drawn. Of what
is left, ``leaf_share`` buys the mean of each leaf, and the blocks have equal parts of the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from privet.errors import ParameterError
from privet.growing.cutting.points import near_zero
from privet.growing.prelude import Prelude
from privet.growing.whole.number_trees import LEAST, cut_for_tree, grow_numbers, label_share, value_levels
from privet.models.number_tree import NumberTree
from privet.privacy.dataset import PrivateDataset
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.ours.exact import ExactTree, check_levels, plan_text
from privet.recipes.parameters import choice, declared, number, one_of, weights, whole
from privet.recipes.recipe import Info, Recipe
from privet.schema import Schema

MEAN_SHARE = 0.9  # of what is left, where only a mean is released


def _check_tests(value: object, name: str) -> None:
    """Refuse all but the default."""
    raise ParameterError(
        parameter=name,
        problem=f"{value!r} is not offered for a number",
        fix='use "binary" tests, or cut the label into classes for recipe "exact"',
    )


@dataclass(frozen=True)
class ExactRegression(Recipe):
    """One tree that predicts a number, drawn whole and exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import Categorical, ExactTreeRegressor, Numeric, Schema
    >>> schema = Schema((Numeric("age", 0, 100), Categorical("sex", ("f", "m"))), Numeric("wage", 0, 100))
    >>> age = np.arange(5000) % 100
    >>> table = {"age": age, "sex": np.where(age % 2, "f", "m")}
    >>> tree = ExactTreeRegressor(schema=schema, epsilon=1, max_depth=2).fit(table, 20 + age / 2)
    >>> bool(tree.predict({"age": [80], "sex": ["f"]}) > tree.predict({"age": [10], "sex": ["f"]}))
    True
    """

    info: ClassVar[Info] = Info(
        name="exact-regression",
        title="exact whole tree for numbers",
        citation="privet, after Bai et al., Sci. China 2017",
        budget="B for the whole tree, in one draw or a few, and small shares for labels, cuts and leaves",
        guarantee={"sound": "pure epsilon"},
        chooses="the whole tree",
        trees="1",
        depth="by the number of records, or user",
        numeric="thresholds where the records lie, bought; or on a public grid",
        recommended="one tree to read, where the label is a number",
    )
    predicts: ClassVar[Literal["classes", "numbers"]] = "numbers"

    max_depth: int | Sequence[int] | Literal["auto"] = declared(
        "auto",
        'int from 0 to 1000, list of int or "auto"',
        'The number of tests on a path. "auto" follows from the number of records. Trees deeper than a draw affords '
        "are drawn in blocks that share epsilon; a list says how many levels each block has.",
        check_levels,
    )
    tests: Literal["binary"] = declared(
        "binary",
        one_of(("binary",)),
        'Only "binary": tests with a child for every value are offered where classes are predicted.',
        _check_tests,
    )
    max_bins: int = shared.max_bins(
        20, "Into how many bins of equal width numbers are cut where their cuts are not bought."
    )
    grid: Literal["bought", "near-zero", "even"] = choice(
        "bought", ("bought", "near-zero", "even"), 'Where numbers are cut; see recipe "exact".'
    )
    cuts: int | Literal["auto"] = whole(
        "auto",
        low=1,
        high=1000,
        help='How many cuts a number gets where they are bought; "auto" is about nine, fewer where numbers are many.',
    )
    leaf_prior: float = number(
        0.5, low=0, high=1, help="The prior probability that a node below the root is a leaf.", below=True
    )
    attribute_prior: Mapping[str, float] | None = weights(
        "attribute",
        low=0,
        high=math.inf,
        help='Favours attributes (above 1), disfavours (below 1) or forbids them (0), as in {"age": 3, "zip": 0}.',
    )
    leaf_share: float = number(
        0.1,
        low=0,
        high=1,
        help="The share of epsilon that buys the mean of each leaf, beside what is drawn.",
        below=True,
    )
    n_public: int | None = shared.n_public()

    def prepare(self, schema: Schema) -> Schema:
        return self._tree.prepare(schema)

    def recuts(self, schema: Schema) -> bool:
        return True  # the label is cut where the labels lie

    def survey(self, prelude: Prelude) -> tuple[Recipe, Prelude]:
        if not prelude.data.can_be_recut:
            raise ParameterError(
                "a part of a table keeps its cuts, and a number to predict needs new ones; give the whole table"
            )
        tree, schema = self._tree, prelude.data.schema
        tree.blocks(schema)  # refuses invalid public facts before anything is bought
        prelude = prelude.count(self.n_public).note_records()
        strength = prelude.strength
        prelude = prelude.find_labels(label_share(strength))
        assert prelude.labels is not None
        prelude = replace(prelude, data=prelude.data.recut(cut_for_tree(schema, prelude.labels)))
        if strength < LEAST and self.max_depth == "auto":
            alone = replace(self, max_depth=0, leaf_share=MEAN_SHARE)
            return alone, prelude.note("There are too few records, at this epsilon, for more than the mean.")
        numbers = tree.numbers(schema)
        if self.grid == "bought" and numbers:
            count = tree.how_many_cuts(schema, numbers, strength)
            public = tree.public_cuts(prelude.data.schema)
            prelude = prelude.cut(numbers, count, public, likely=near_zero(prelude.data.schema, self.max_bins))
        if self.max_depth != "auto":
            return self, prelude
        tests, _ = tree.tests_of(prelude.data.schema)
        (deepest, *_) = tree.levels(prelude.data.schema, tests, data=prelude.data)
        levels = value_levels(strength, min(deepest, len(tests)))
        text = plan_text(levels, len(tests))
        return replace(self, max_depth=list(levels) if all(levels) else 0), prelude.note(text)

    def grow_after(self, prelude: Prelude, random: np.random.Generator, progress: Progress | None = None) -> NumberTree:
        data = prelude.data
        assert prelude.labels is not None
        blocks = self._tree.blocks(data.schema)
        return grow_numbers(data.level(), blocks, prelude.left, prelude.labels, progress, data.ledger.steps)

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> NumberTree:
        planned, prelude = self.survey(Prelude(data, epsilon))
        return planned.grow_after(prelude, random, progress)  # type: ignore[return-value]  # of this recipe

    @property
    def _tree(self) -> ExactTree:
        """The same settings for the structure of the tree."""
        return ExactTree(
            max_depth=self.max_depth,
            max_bins=self.max_bins,
            grid=self.grid,
            cuts=self.cuts,
            leaf_prior=self.leaf_prior,
            attribute_prior=self.attribute_prior,
            leaf_share=self.leaf_share,
        )
