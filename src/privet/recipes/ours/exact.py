"""The exact whole-tree mechanism: privet's own, and its recommended single tree.

Bai et al. 2017 show that one mechanism over several levels beats one per level. They use Markov chains, because there
are too many trees to enumerate. But the score is a sum over leaves, so the normaliser factorises: a labelled tree can
be drawn exactly, from the root down, in one draw that spends the budget once. Labels and stopping cost nothing more.

Budget: a fiftieth of B buys the approximate number of records (nothing, if ``n_public`` gives it). By that number a
public rule decides the share for cuts of numbers, and how many levels are drawn at once, in how many blocks. Of
what is left, ``leaf_share`` buys class counts in the leaves, and the blocks have equal parts of the rest.

Tests have two children, or (``tests="multiway"``, the papers' trees) one for every value of an attribute; the mechanism
is the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError, Setting
from privet.growing.cutting.cuts import worth_finding
from privet.growing.cutting.points import near_zero, public_grids
from privet.growing.greedy.grower import MAX_LEAVES
from privet.growing.prelude import Prelude
from privet.growing.whole.blocks import Blocks, grow_blocks
from privet.growing.whole.depth_rules import LEAF_SHARE, block_levels, cuts_worth, leaf_share
from privet.growing.whole.number_trees import number_labels
from privet.growing.whole.whole_tree import (
    WEIGHT_UNIT,
    affordable_depth,
    affordable_multiway_depth,
    most_leaves,
    test_prior,
)
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.samplers.tree_space import TreeSpace
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.class_weights import as_pairs, from_pairs, weights_of
from privet.recipes.parameters import check_whole, choice, declared, exact_share, number, weights, whole
from privet.recipes.recipe import PURE_OR_DELTA, Info, Recipe
from privet.schema import Schema
from privet.structure.splits import Tests

LEAST_PART = 32  # of epsilon is one such part, at least, for each block: after cuts and leaves, for ten blocks
TESTS = {"binary": Tests.binary, "multiway": Tests.multiway}


def check_levels(value: object, name: str) -> None:
    if not isinstance(value, list | tuple):
        check_whole(value, name, 0, 1000)
    elif not value:
        raise ParameterError(
            parameter=name, problem="is an empty list", fix="name the levels of each block, as in [4, 3]"
        )
    else:
        for levels in value:
            check_whole(levels, f"each entry of {name}", 1, 1000)


@dataclass(frozen=True)
class ExactTree(Recipe):
    """One tree, drawn whole and exactly: privet's recommended single tree.

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
        budget="B for the whole tree, in one draw or a few, and small shares for cuts and leaves",
        guarantee={"sound": PURE_OR_DELTA},
        chooses="the whole tree",
        trees="1",
        depth="by the number of records, or user",
        numeric="thresholds where the records lie, bought; or on a public grid, or bins",
        recommended="one tree to read and to show; the default",
    )
    concentrates: ClassVar[bool] = True

    max_depth: int | Sequence[int] | Literal["auto"] = declared(
        "auto",
        'int from 0 to 1000, list of int or "auto"',
        'The number of tests on a path. "auto" is the deepest that one draw affords, from public facts alone, and '
        "deeper where there are enough records. Trees deeper than a draw affords are drawn in blocks that share "
        "epsilon; a list says how many levels each block has.",
        check_levels,
    )
    tests: Literal["binary", "multiway"] = choice(
        "binary",
        ("binary", "multiway"),
        "Whether a test has two children (a threshold, one category against the rest) or one for every value or bin.",
    )
    max_bins: int = shared.max_bins(
        20,
        "Into how many bins of equal width numbers without thresholds of their own are cut, where their cuts are not "
        "bought. Whole numbers with no more values are cut between all of them. Multiway trees need few: each is a "
        "child.",
    )
    grid: Literal["bought", "near-zero", "even"] = choice(
        "bought",
        ("bought", "near-zero", "even"),
        'Where numbers without thresholds of their own are cut. "bought" spends a share of epsilon on where they lie, '
        "by a public rule on the number of records, and cuts them there; where noise hides that, at public points "
        'that are denser near zero, or near the bound nearest to it. "near-zero" is public too, and merges bins '
        'further from zero than two fifths of the declared range, by two and then by four; "even" keeps all bins, as '
        "is always done with fewer than ten bins, few whole numbers, and multiway tests.",
    )
    cuts: int | Literal["auto"] = whole(
        "auto",
        low=1,
        high=1000,
        help='How many cuts a number gets where they are bought; "auto" is about nine, fewer where numbers are many.',
    )
    leaf_prior: float = number(
        0.5,
        low=0,
        high=1,
        help="The prior probability that a node below the root is a leaf; smaller trees are favoured by larger values.",
        below=True,
    )
    measure: Literal["tests", "attributes"] = choice(
        "tests", ("tests", "attributes"), "Whether every test or every attribute has the same prior weight."
    )
    attribute_prior: Mapping[str, float] | None = weights(
        "attribute",
        low=0,
        high=math.inf,
        help='Favours attributes (above 1), disfavours (below 1) or forbids them (0), as in {"age": 3, "zip": 0}. '
        "Favour what is known to matter: it is free.",
    )
    class_weight: Mapping[Any, float] | None = shared.class_weight(
        "What a correctly classified record of each class counts, in sixteenths. Public: choose it by cost, never from "
        "the table."
    )
    leaf_share: float | Literal["auto"] = number(
        "auto",
        low=0,
        high=1,
        help="The share of epsilon that buys class counts in the leaves, for graded ``predict_proba``; with 0 a leaf "
        'has its label with probability 1. "auto" is a twentieth, and down to a fiftieth where there are few '
        "records and counts are mostly noise.",
        below=True,
    )
    n_public: int | None = shared.n_public()
    delta: float = shared.delta()

    @property
    def params(self) -> dict[str, Any]:
        """In a form for JSON, whose keys are text; labels may be something else."""
        return as_pairs(super().params)

    @classmethod
    def restore(cls, params: dict[str, Any]) -> dict[str, Any]:
        return from_pairs(params)

    def prepare(self, schema: Schema) -> Schema:
        return schema.with_bins(self.max_bins) if self.recuts(schema) else self.public_cuts(schema)

    def recuts(self, schema: Schema) -> bool:
        return self.grid == "bought" and bool(self.numbers(schema))

    def survey(self, prelude: Prelude) -> tuple[Recipe, Prelude]:
        data, schema = prelude.data, prelude.data.schema
        blocks, recuts = self.blocks(schema), self.recuts(schema) and data.can_be_recut
        if not recuts and self.max_depth != "auto":
            return self, prelude
        # Refuse invalid public facts before anything is bought, here with the least that a block can get.
        assert blocks.space is not None
        blocks.space.check(data.ledger.drawn_with(prelude.left / LEAST_PART), schema)
        prelude, planned = prelude.count(self.n_public).note_records(), self
        strength = prelude.strength
        if self.leaf_share == "auto":
            planned = replace(planned, leaf_share=float(leaf_share(strength)))
        if recuts:
            numbers = self.numbers(schema)
            count = self.how_many_cuts(schema, numbers, strength)
            prelude = prelude.cut(numbers, count, self.public_cuts(schema), likely=near_zero(schema, self.max_bins))
        if self.max_depth == "auto":
            data = prelude.data
            tests, _ = self.tests_of(data.schema)
            levels = self.levels(data.schema, tests, strength, data)
            planned, prelude = replace(planned, max_depth=levels), prelude.note(plan_text(levels, len(tests)))
        return planned, prelude

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Tree:
        return grow_blocks(data.level(), self.blocks(data.schema), epsilon, progress)

    def blocks(self, schema: Schema) -> Blocks:
        """The public space a tree is drawn from."""
        tests, prior = self.tests_of(schema)
        levels = self.levels(schema, tests)
        depth = sum(levels)
        leaves = most_leaves(tests.arity.tolist(), depth)
        if self.tests == "multiway" and leaves > MAX_LEAVES:
            raise ParameterError(
                f"a tree of {depth} levels can have {leaves:,} leaves, more than {MAX_LEAVES:,}",
                parameter="max_depth",
                fix=(
                    *("lower ", Setting("max_depth"), " or ", Setting("max_bins")),
                    *(", or use ", Setting("tests", "binary")),
                ),
            )
        space = TreeSpace(
            tests=tests,
            n_classes=schema.n_classes,
            # The root always splits if it can. Two early leaves with one label below it are as good as a single leaf.
            leaf_prior=(0.0, *(self.leaf_prior,) * max(levels))[: max(levels)],
            test_prior=prior,
            class_weights=self._sixteenths(schema),
            weight_unit=WEIGHT_UNIT if self.class_weight else 1,
        )
        share = LEAF_SHARE if self.leaf_share == "auto" else exact_share(self.leaf_share)
        return Blocks(space, depth, share, levels)

    # -- what is left to a plan ------------------------------------------------------------------------------------

    def numbers(self, schema: Schema) -> tuple[int, ...]:
        """The numbers whose cuts are worth buying: not few whole numbers, and not of a forbidden attribute."""
        favours = self.attribute_prior or {}
        return tuple(a for a in worth_finding(schema, self.max_bins) if favours.get(schema.names[a]) != 0)

    def how_many_cuts(self, schema: Schema, numbers: Sequence[int], strength: float) -> int:
        if self.cuts != "auto":
            return int(self.cuts)
        if self.tests == "multiway":
            return self.max_bins - 1
        others = int((~np.isin(Tests.binary(schema).attribute, numbers)).sum())
        return cuts_worth(strength, len(numbers), others, number_labels(schema))

    def public_cuts(self, schema: Schema) -> Schema:
        """The requested public grid, or the finest that leaves a draw of three levels."""
        if self.grid == "even" or self.tests == "multiway":
            return schema.with_bins(self.max_bins)
        if self.grid == "near-zero":
            return near_zero(schema, self.max_bins)
        grids = public_grids(schema, self.max_bins)
        return next((grid for grid in grids if _three_levels(grid)), grids[-1])

    def tests_of(self, schema: Schema) -> tuple[Tests, npt.NDArray[np.float64]]:
        """The tests of a tree, and their prior weights. Forbidden tests are not counted: that saves time."""
        tests = TESTS[self.tests](schema)
        prior = test_prior(schema, tests, self.measure, self.attribute_prior)
        usable = np.flatnonzero(prior)
        return tests.take(usable), prior[usable]

    def levels(
        self, schema: Schema, tests: Tests, strength: float = 0.0, data: PrivateDataset | None = None
    ) -> tuple[int, ...]:
        """The levels of each block: as many as a draw affords, until all wanted levels are there.

        With "auto" also no more than the engine of ``data`` can count at once.
        """
        binary = bool((tests.arity == 2).all())
        affordable = (
            affordable_depth(len(tests), number_labels(schema)) if binary else affordable_multiway_depth(schema, tests)
        )
        in_one_draw, left = min(affordable, len(tests)), len(tests)
        if self.max_depth == "auto":
            while binary and data is not None and in_one_draw > 1 and not data.can_draw(tests, in_one_draw):
                in_one_draw -= 1
            return block_levels(strength, len(tests), schema.n_classes, in_one_draw) if binary else (in_one_draw,)
        levels = []
        for wanted in [self.max_depth] if isinstance(self.max_depth, int) else self.max_depth:
            wanted = min(wanted, left)
            left -= wanted
            levels += [min(in_one_draw, wanted - start) for start in range(0, wanted, max(in_one_draw, 1))]
        return tuple(levels) or (0,)

    def _sixteenths(self, schema: Schema) -> tuple[int, ...]:
        if not self.class_weight:
            return (1,) * schema.n_classes
        weights = weights_of(self.class_weight, schema)
        sixteenths = tuple(round(WEIGHT_UNIT * w) for w in weights)
        lost = [w for w, rounded in zip(weights, sixteenths, strict=True) if w > 0 and not rounded]
        if lost:
            raise ParameterError(
                parameter="class_weight",
                problem=f"is rounded to sixteenths, and {lost[0]:g} would become 0",
                fix="use 0 to ignore a class, or at least 1/16",
            )
        return sixteenths


def _three_levels(schema: Schema) -> bool:
    """Whether one draw of binary tests affords three levels, or all there can be."""
    tests = len(Tests.binary(schema))
    return affordable_depth(tests, number_labels(schema)) >= min(tests, 3)


def plan_text(levels: tuple[int, ...], n_tests: int) -> str:
    """The plan in a sentence.

    >>> plan_text((4, 3), n_tests=80)
    'Drawn in 2 blocks of 4 and 3 levels, from 80 tests: there are records for more leaves than one draw affords.'
    """
    if len(levels) == 1:
        return f"Drawn in one block of {levels[0]} levels, the most that a draw from {n_tests} tests affords."
    depths = f"{', '.join(map(str, levels[:-1]))} and {levels[-1]}"
    more = "there are records for more leaves than one draw affords"
    return f"Drawn in {len(levels)} blocks of {depths} levels, from {n_tests} tests: {more}."
