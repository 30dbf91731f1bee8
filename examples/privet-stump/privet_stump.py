"""A recipe in a package of its own. docs/guide/write-a-recipe.md builds it step by step."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from privet.growing.greedy.candidates import Candidates
from privet.growing.greedy.choosing import JointChoice
from privet.growing.greedy.grower import Growth, Plan, grow
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.scores import Gini
from privet.progress import Progress
from privet.recipes.parameters import exact_share, number, whole
from privet.recipes.recipe import Info, Recipe
from privet.schema import Schema


@dataclass(frozen=True)
class Stump(Recipe):
    """A tree of one test: the best single test that epsilon can buy.

    Examples
    --------
    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> privet.make_classifier("stump", schema=schema, epsilon=1).fit(table).certificate_.epsilon
    Fraction(1, 1)
    """

    info: ClassVar[Info] = Info(
        name="stump",
        title="A tree of one test",
        citation="the guide to writing recipes",
        budget="B (1 - leaf_share) for the test, the rest for the leaves",
        guarantee={"sound": "pure epsilon"},
        chooses="greedily",
        trees="1",
        depth="1 test",
        numeric="bins",
    )

    leaf_share: float = number(
        0.5,
        low=0.01,
        high=0.99,
        help="The share of epsilon that buys class counts in the leaves. The rest chooses the test.",
    )
    max_bins: int = whole(
        10, low=2, high=65_000, help="Into how many bins numbers without thresholds of their own are cut."
    )

    def prepare(self, schema: Schema) -> Schema:
        return schema.with_bins(self.max_bins)

    def grow(self, data: PrivateDataset, epsilon: Fraction, random: Any, progress: Progress | None = None) -> Tree:
        candidates = Candidates.of(data.schema, "binary")
        depth = min(1, candidates.most_tests_on_a_path(data.schema))
        leaf = exact_share(self.leaf_share)
        growth = Growth(
            plan=Plan.shares(epsilon, depth, choice=1 - leaf, leaf=leaf),
            candidates=candidates,
            chooser=JointChoice(Gini()),
        )
        return grow(data.level(), growth, progress).tree
