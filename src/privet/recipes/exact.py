"""The exact whole-tree mechanism: privet's own, and its recommended single tree.

Bai et al. 2017 show that one mechanism over several levels beats one per level. They use Markov chains, because there
are too many trees to enumerate. But the score is a sum over leaves, so the normaliser factorises: a labelled tree can
be drawn exactly, from the root down, in one draw that spends the budget once. Labels and stopping cost nothing more.

Budget: eps = B for the whole tree (B / blocks for trees deeper than one draw affords), of which ``leaf_share`` buys
class counts in the leaves if graded probabilities are wanted.

Tests have two children, or (``tests="multiway"``, the papers' trees) one for every value of an attribute; the mechanism
is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from privet.errors import ParameterError
from privet.growing.blocks import Blocks, grow_blocks
from privet.growing.grower import MAX_LEAVES, Progress
from privet.growing.whole_tree import (
    WEIGHT_UNIT,
    affordable_depth,
    affordable_multiway_depth,
    most_leaves,
    near_zero,
    test_prior,
)
from privet.privacy.dataset import PrivateDataset
from privet.privacy.samplers.tree_space import TreeSpace
from privet.recipes.recipe import Info, Recipe, check_choice, check_whole
from privet.schema import Schema
from privet.schema.encoding import decode_labels
from privet.structure.splits import Tests
from privet.trees.tree import Tree

TESTS = {"binary": Tests.binary, "multiway": Tests.multiway}


@dataclass(frozen=True)
class ExactTree(Recipe):
    """One tree, drawn whole and exactly: privet's recommended single tree.

    Parameters
    ----------
    max_depth : int or "auto"
        "auto" is the deepest that one draw affords, from public facts alone. Deeper trees are drawn in blocks that
        share epsilon.
    tests : "binary" or "multiway"
        Whether a test has two children (a threshold, one category against the rest) or one for every value or bin.
    bins : int
        Into how many bins of equal width numeric attributes without thresholds of their own are cut. Multiway trees
        want few: each is a child.
    grid : "near-zero" or "even"
        Whether bins further from zero (or from the bound nearest to it) than two fifths of the declared range are
        merged, by two and then by four, or all are kept. Numbers crowd near zero, and fewer tests afford deeper trees.
        All are kept of fewer than ten bins, of few whole numbers, and for multiway tests.
    leaf_prior : float
        The prior probability that a node below the root is a leaf; smaller trees are favoured by larger values.
    measure : "tests" or "attributes"
        Whether every test or every attribute has the same prior weight.
    attribute_prior : dict of attribute to weight, optional
        Favours attributes (above 1), disfavours (below 1) or forbids them (0).
    class_weights : dict of label to weight in [0, 1], optional
        What a correctly classified record of each class counts, in sixteenths. Public: never computed from the table.
    leaf_share : float
        The share of epsilon that buys class counts in the leaves, for graded ``predict_proba``.

    Examples
    --------
    >>> from privet import ExactTreeClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = ExactTreeClassifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> tree.certificate_.epsilon
    Fraction(1, 1)
    """

    info: ClassVar[Info] = Info(
        name="exact",
        title="exact whole tree",
        citation="privet, after Bai et al., Sci. China 2017",
        budget="B for the whole tree, in one draw",
        guarantee={"sound": "pure epsilon"},
        chooses="the whole tree",
        trees="1",
        depth="as deep as one draw affords, or user",
        numeric="thresholds on a public grid, or bins",
        recommended="one tree to read and to show; the default",
    )

    max_depth: int | Literal["auto"] = "auto"
    tests: Literal["binary", "multiway"] = "binary"
    bins: int = 20
    grid: Literal["near-zero", "even"] = "near-zero"
    leaf_prior: float = 0.5
    measure: Literal["tests", "attributes"] = "tests"
    attribute_prior: Mapping[str, float] | None = None
    class_weights: Mapping[Any, float] | None = None
    leaf_share: float = 0.0

    def check(self) -> None:
        if self.max_depth != "auto":
            check_whole(self.max_depth, "max_depth", 0, 1000)
        check_choice(self.tests, "tests", tuple(TESTS))
        check_whole(self.bins, "bins", 2, 65_000)
        check_choice(self.grid, "grid", ("near-zero", "even"))
        check_choice(self.measure, "measure", ("tests", "attributes"))
        for name in ("attribute_prior", "class_weights"):
            if not isinstance(getattr(self, name), Mapping | None):
                raise ParameterError(f"{name} must be a dict of weights, not {getattr(self, name)!r}")
        for name in ("leaf_prior", "leaf_share"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
                raise ParameterError(f"{name} must be a number from 0 up to but not including 1, not {value!r}")

    @property
    def params(self) -> dict[str, Any]:
        """In a form that a file can hold: keys in JSON are text, and labels may be something else."""
        weights = self.class_weights and [[label, weight] for label, weight in self.class_weights.items()]
        return super().params | {"class_weights": weights}

    @classmethod
    def restore(cls, params: dict[str, Any]) -> dict[str, Any]:
        weights = params.get("class_weights")
        return params | {"class_weights": dict(weights)} if isinstance(weights, list) else params

    def prepare(self, schema: Schema) -> Schema:
        thinned = self.grid == "near-zero" and self.tests == "binary"
        return near_zero(schema, self.bins) if thinned else schema.with_bins(self.bins)

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Tree:
        blocks = self.blocks(data.schema)
        return grow_blocks(data.frontier(), blocks, epsilon, progress)

    def blocks(self, schema: Schema) -> Blocks:
        """The public space a tree is drawn from."""
        tests = TESTS[self.tests](schema)
        prior = test_prior(schema, tests, self.measure, self.attribute_prior)
        usable = np.flatnonzero(prior)  # a forbidden test is not counted, which saves time
        tests, prior = tests.take(usable), prior[usable]
        in_one_draw = min(self._in_one_draw(schema, tests), len(tests))
        depth = in_one_draw if self.max_depth == "auto" else min(int(self.max_depth), len(tests))
        leaves = most_leaves(tests.arity.tolist(), depth)
        if self.tests == "multiway" and leaves > MAX_LEAVES:
            raise ParameterError(
                f"a tree of max_depth={depth} can have {leaves:,} leaves, more than {MAX_LEAVES:,}; lower max_depth or "
                "bins, or use tests='binary'"
            )
        space = TreeSpace(
            tests=tests,
            n_classes=schema.n_classes,
            # The root always splits if it can. Two early leaves with one label below it are as good as a single leaf.
            leaf_prior=(0.0, *(self.leaf_prior,) * (min(depth, in_one_draw) - 1))[: min(depth, in_one_draw)],
            test_prior=prior,
            class_weights=self._sixteenths(schema),
            weight_unit=WEIGHT_UNIT if self.class_weights else 1,
        )
        return Blocks(space, depth, Fraction(str(self.leaf_share)))

    @staticmethod
    def _in_one_draw(schema: Schema, tests: Tests) -> int:
        if (tests.arity == 2).all():
            return affordable_depth(len(tests), schema.n_classes)
        return affordable_multiway_depth(schema, tests)

    def _sixteenths(self, schema: Schema) -> tuple[int, ...]:
        if not self.class_weights:
            return (1,) * schema.n_classes
        labels = decode_labels(schema, np.arange(schema.n_classes)).tolist()
        unknown = [label for label in self.class_weights if label not in labels]
        if unknown:
            raise ParameterError(f"class_weights names {unknown[0]!r}, which is not a label; the labels are {labels}")
        weights = [self.class_weights.get(label, 1.0) for label in labels]
        if not all(isinstance(w, int | float) and 0 <= w <= 1 for w in weights):
            raise ParameterError("class_weights must lie between 0 and 1; they are public and never n / (k n_c)")
        sixteenths = tuple(round(WEIGHT_UNIT * w) for w in weights)
        lost = [w for w, rounded in zip(weights, sixteenths, strict=True) if w > 0 and not rounded]
        if lost:
            raise ParameterError(
                f"class_weights are rounded to sixteenths, and {lost[0]:g} would become 0; use 0 to ignore a class, or "
                "at least 1/16"
            )
        return sixteenths
