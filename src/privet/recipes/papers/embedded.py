"""Embedding at depth d: a tree in blocks of levels, each drawn at once (Bai et al., Sci. China Inf. Sci. 2017).

A block of d levels is one exponential mechanism over all its subtrees, scored by Gini over their leaves; leaf labels
come from noisy counts. Budget: eps' = B / (ceil(max_depth / d) + 1) for each block of a path and for its leaf, unless a
schedule weighs the blocks otherwise.

Errata: the paper's D counts layers, and Algorithm 1 prints ceil(D/d) where its text (eps/2 for a whole tree) needs
ceil((D-1)/d). The loop of Algorithm 3 ends at once, because an empty buffer has no variance. The threshold of that
variance is never given. "All subtrees equally likely" is a strong prior: an attribute with more values has more
subtrees (mushroom, d = 2: an attribute of 12 values gets 21^10 times the prior of a binary one).

Why ``as-published`` is not private: stopping tests read true counts and true purity. And a data-dependent rule stops
the chain after some steps, so it samples the mechanism only roughly. (Its Hastings ratio is missing too where
attributes differ in their number of values.)

Where privet differs: the sound form draws each block exactly, however large the space, because its normaliser
factorises (docs/proofs/embedded.md); it stops by depth alone; it draws with exp(eps q / 2) where the paper has
exp(eps q / 4), since a record moves Gini in one direction; and it gives each attribute, not each subtree, the same
prior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from privet.errors import ParameterError, Setting
from privet.growing.prelude import Prelude
from privet.growing.schedules import LevelSchedule
from privet.growing.whole.blocks import Blocks, Measure, embedding, grow_blocks
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.noise import current_source
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.gridded import Grid, Gridded
from privet.recipes.parameters import choice, number, whole
from privet.recipes.recipe import PURE_OR_DELTA, Info, Recipe
from privet.recipes.unsound.embedding import Search, grow_published, space_size
from privet.recipes.unsound.mcmc import Chain, ExactStop, Found, OpenBlock, exhaustive_search
from privet.schema import Schema
from privet.structure.splits import Tests

SEARCHES = ("auto", "exact", "exhaustive", "mcmc")
MEASURES = ("auto", "attributes", "subtrees")
MOST_LISTED = 10**6  # subtrees that an exhaustive search lists; BAI's largest (vote, two levels) has 54,000
# (buffer, step_limit) of the chain: BAI's for vote, and for tic-tac-toe with two levels.
CHAINS = {"two": (50, 500), "three": (50, 1000), "whole": (500, 10_000)}
VARIANCE_THRESHOLD = 1.0  # not given in the paper; scores vary by far more as long as the chain moves

AS_PUBLISHED = Setting("variant", "as-published")
WHY = (
    "it stops nodes by their true size and purity, so that one record decides what the tree looks like, and it does "
    "not draw its blocks from the distribution it claims but from what a finite chain has reached"
)


@dataclass(frozen=True)
class Embedded(Gridded):
    """Bai et al.'s embedding: one mechanism for several levels of multiway tests.

    Examples
    --------
    >>> from privet.papers import EmbeddedTreeClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = EmbeddedTreeClassifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> tree.certificate_.epsilon
    Fraction(1, 1)
    """

    info: ClassVar[Info] = Info(
        name="embedded",
        title="embedding at depth d",
        citation="Bai et al., Sci. China Inf. Sci. 2017, Alg. 1-3",
        budget="B / (ceil(depth/d) + 1) for each block and for the leaves",
        guarantee={
            "sound": PURE_OR_DELTA,
            "as-published": "none: it stops by true counts, and a chain is finite",
        },
        chooses="the whole tree",
        trees="1",
        depth="user",
        numeric="bins where the records lie, bought; or even ones",
        errata="Alg. 1's budget is off by one layer; the chain's threshold is missing",
    )
    concentrates: ClassVar[bool] = True
    unsound: ClassVar[dict[str, str]] = {"as-published": WHY}

    max_depth: int = shared.max_depth(3, "The number of tests on a path; Bai et al. count layers, one more.")
    embedding_depth: int | Literal["whole"] = whole(
        "whole",
        low=1,
        high=1000,
        help="How many levels one mechanism draws; epsilon is shared among the blocks of a path and its leaf.",
    )
    search: str = choice(
        "auto",
        SEARCHES,
        'How a subtree of a block is found. "exact" draws from the mechanism itself. The others are the paper\'s and '
        'need ``variant="as-published"``, which is not differentially private. "auto" is "exact", or as published '
        '"exhaustive" for blocks of one or two levels and "mcmc" for deeper ones.',
    )
    measure: str = choice(
        "auto",
        MEASURES,
        "What is equally likely a priori: each attribute in a node (sound), or each subtree (as published).",
    )
    min_records: int = whole(
        20,
        low=0,
        high=2**32,
        help="As published only: nodes of fewer records are leaves (20; the paper has 50 for mushroom).",
    )
    buffer: int | None = whole(
        None,
        low=1,
        high=10**9,
        help="As published only: how many of its last scores the chain looks at. By default the paper's for vote: "
        "50, and 500 for a whole tree.",
    )
    step_limit: int | None = whole(
        None,
        low=1,
        high=10**9,
        help="As published only: the most steps of the chain. By default the paper's for vote: 1000 (500 for two "
        "levels), and 10000 for a whole tree.",
    )
    variance_threshold: float = number(
        VARIANCE_THRESHOLD,
        low=0,
        high=math.inf,
        help="As published only: the chain stops when its last scores vary by less. Not given in the paper.",
    )
    max_bins: int = shared.max_bins(10)
    grid: Grid = shared.grid()
    schedule: LevelSchedule = shared.schedule(LevelSchedule)
    delta: float = shared.delta()

    def check(self) -> None:
        if self.search in ("exhaustive", "mcmc") and not self.as_published:
            raise ParameterError(
                (Setting("search", self.search), f" is not differentially private: {WHY}"),
                parameter="search",
                fix=(
                    "use ",
                    Setting("search", "exact"),
                    ", or reproduce the paper with ",
                    AS_PUBLISHED,
                    " on data that need no protection",
                ),
            )
        if self.as_published and (self.search == "exact" or self.measure == "attributes"):
            raise ParameterError(
                (Setting("search", "exact"), " and ", Setting("measure", "attributes"), " were not published"),
                parameter="search",
                fix=(
                    "with ",
                    AS_PUBLISHED,
                    " use ",
                    Setting("search", "exhaustive"),
                    " or 'mcmc' and ",
                    Setting("measure", "subtrees"),
                    ", or ",
                    Setting("variant", "sound"),
                ),
            )
        if self.search == "exhaustive" and self.max_depth > 2 and self.embedding_depth not in (1, 2):
            raise ParameterError(
                parameter="embedding_depth",
                problem=("must be 1 or 2 with ", Setting("search", "exhaustive"), ", which lists all subtrees"),
                fix=("or use ", Setting("search", "mcmc")),
            )

    def survey(self, prelude: Prelude) -> tuple[Recipe, Prelude]:
        data, blocks = prelude.data, self.blocks(prelude.data.schema)
        if self.recuts(data.schema) and blocks.space is not None:
            # Refuse invalid public facts before cuts are bought. They leave more than half of epsilon.
            least = min(blocks.each(prelude.left / 2, number) for number in range(len(blocks.depths)))
            blocks.space.check(data.ledger.drawn_with(least), data.schema)
        return super().survey(prelude)

    def multiway(self, schema: Schema) -> tuple[int, int]:
        return 1, self.max_depth

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Tree:
        blocks = self.blocks(data.schema)
        if self.as_published:
            search, rule = self._search(data, blocks), ExactStop(self.min_records)
            return grow_published(data, blocks, epsilon, search, rule, WHY, progress)
        return grow_blocks(data.level(), blocks, epsilon, progress)

    def blocks(self, schema: Schema) -> Blocks:
        """The division of levels into blocks; no path has more tests than there are attributes."""
        tests = Tests.multiway(schema)
        depth = min(self.max_depth, len(tests))
        block = depth if self.embedding_depth == "whole" else min(int(self.embedding_depth), depth)
        measure: Measure = "subtrees" if self.measure == "subtrees" else "attributes"
        return embedding(tests, schema.n_classes, depth, max(block, 1), measure, self.schedule)

    def _search(self, data: PrivateDataset, blocks: Blocks) -> Search:
        steps = data.ledger.steps
        # The kernel's own entropy. random_state is for public choices only, and these are not public.
        dice = np.random.default_rng(current_source().coins(2**16, 8))
        small = space_size(data.schema.arities, min(blocks.block, 2) + 1) <= MOST_LISTED
        if self.search == "exhaustive" and not small:
            raise ParameterError(
                f"a block has more than {MOST_LISTED:,} subtrees, too many to list",
                parameter="search",
                fix=("use ", Setting("search", "mcmc")),
            )
        listed, chain = self.search != "mcmc" and small, self.chain(blocks)

        def search(block: OpenBlock, epsilon: Fraction) -> Found:
            scale = float(epsilon / steps) / 4  # exp(eps' q / (2 x 2))
            # By the block's own depth: the last block of a path may have fewer levels than the others.
            if listed and block.depth <= 2:
                return exhaustive_search(block, scale, dice)
            return chain.run(block, scale, dice)

        return search

    def chain(self, blocks: Blocks) -> Chain:
        """The chain with the paper's buffer and number of steps where none are given."""
        whole = len(blocks.depths) == 1 and blocks.block > 2
        buffer, steps = CHAINS["whole" if whole else "two" if blocks.block <= 2 else "three"]
        return Chain(
            buffer if self.buffer is None else self.buffer,
            steps if self.step_limit is None else self.step_limit,
            float(self.variance_threshold),
        )
