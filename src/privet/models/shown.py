"""A tree for display: one view behind text, pages, pictures and rules, so that they agree.

The model stays as it is; ``ShownTree.whole`` with ``raw`` shows exactly what it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privet.bidi import isolated
from privet.errors import ParameterError, Setting
from privet.markup import Html
from privet.models.counts import Estimates, ShownCounts, count_words
from privet.models.rules import DEEPEST, rules_of, simplest, words_of
from privet.models.shown_node import ShownNode, ShownNodes
from privet.models.simplifying import Bools, Branch, Fan, Sketch, walk_admitted
from privet.models.tree import Tree
from privet.schema import Categorical, Schema
from privet.structure.splits import Multiway


@dataclass(frozen=True, slots=True)
class ShownRule:
    """The rule of a shown leaf: conditions as (attribute, words), and the leaf."""

    premise: tuple[tuple[str, str], ...]
    leaf: ShownNode

    def __str__(self) -> str:
        premise = f"IF {' AND '.join(words for _, words in self.premise)} THEN" if self.premise else "ALWAYS"
        return f"{premise} {self.leaf.label}{self.leaf.evidence}"


@dataclass(frozen=True, eq=False, repr=False)
class ShownTree:
    """A tree for display. Nodes keep their numbers in the model, so that a path can be followed in both.

    >>> from privet.structure.splits import Threshold
    >>> from privet.schema import Numeric
    >>> schema = Schema((Numeric("age", 0, 100, bins=4),), Categorical("ill", ("no", "yes")))
    >>> tests = [Threshold(0, 1), Threshold(0, 0), Threshold(0, 0), None, None, None, None]
    >>> counts = np.array([[np.nan] * 2] * 3 + [[90.0, 10], [60, 5], [-7, 2], [4, 70]])
    >>> draws = [0, 0, 0, 1, 1, 1, 1]
    >>> tree = Tree.build(schema, tests, [1, 3, 5, -1, -1, -1, -1], [0, 0, 1, 0, 0, 0, 1], counts=counts, draws=draws)
    >>> print(ShownTree.of(tree, scale=5), end="")
    1 branch that no record can take is not shown: the conditions on the way to it contradict each other.
    Leaves whose predictions do not differ beyond noise are shown as one: 2 stand for 3.
    |--- age <= 50
    |   |--- class: no (support 165, confidence 0.91)
    |--- age > 50
    |   |--- class: yes (support 74, confidence 0.95)
    """

    tree: Tree
    order: tuple[tuple[int, int], ...]
    """(node, depth) of the shown nodes, in reading order."""
    branches: Mapping[int, tuple[Branch, ...]]
    nodes: Mapping[int, ShownNode]
    notes: tuple[str, ...]
    """Sentences about what is not shown, and why."""
    counted: bool
    simplified: bool
    min_support: float | None = None

    @classmethod
    def of(
        cls,
        tree: Tree,
        scale: float | None = None,
        *,
        max_leaves: int | None = None,
        min_support: float | None = None,
    ) -> ShownTree:
        """Simplify a tree for display: drop unreachable branches and merge leaves that predict the same.

        Parameters
        ----------
        scale : noise scale of the tree's counts, None if unknown
        max_leaves : the most leaves; the branches with the fewest records are folded into one
        min_support : the fewest records; a branch whose leaves all have fewer is not opened
        """
        check_limits(max_leaves, min_support)
        if min_support is not None and np.isnan(tree.counts[tree.is_leaf]).any():
            raise ParameterError(
                parameter="min_support",
                problem="needs counts, and this model released none",
                fix=("use ", Setting("max_leaves")),
            )
        sketch = Sketch.of(tree, scale, whole=False)
        sketch.merge()
        full = len(sketch.ends())
        if min_support is not None:
            sketch.fold_small(min_support)
        if max_leaves is not None:
            sketch.fold_to(max_leaves)
        return cls._of(sketch, full=full, min_support=min_support)

    @classmethod
    def whole(cls, tree: Tree, scale: float | None = None, *, raw: bool = False) -> ShownTree:
        """Show every node; with ``raw``, also its counts exactly as released, negative ones included."""
        return cls._of(Sketch.of(tree, scale, whole=True), raw=raw)

    @classmethod
    def _of(
        cls, sketch: Sketch, *, full: int | None = None, raw: bool = False, min_support: float | None = None
    ) -> ShownTree:
        tree, order = sketch.tree, tuple(sketch.order())
        met = [node for node, _ in order]
        shown = ShownCounts.of(met, sketch.children, Estimates(sketch.counts, sketch.draws), sketch.scale)
        branches = {node: tuple(found) for node, found in sketch.branches.items()}
        counted = not np.isnan([shown.value[shown.row[node], -1] for node in met if node not in branches]).all()
        notes = () if full is None else tuple(sketch.notes(full))
        nodes = ShownNodes(sketch, shown, raw=raw)
        return cls(tree, order, branches, nodes, notes, bool(counted), full is not None, min_support)

    # -- structure -------------------------------------------------------------------------------------------------

    @property
    def schema(self) -> Schema:
        return self.tree.schema

    @property
    def root(self) -> int:
        return self.order[0][0]

    @cached_property
    def depth(self) -> int:
        return max(depth for _, depth in self.order)

    @cached_property
    def leaves(self) -> tuple[ShownNode, ...]:
        """The leaves in reading order."""
        return tuple(self.nodes[node] for node, _ in self.order if node not in self.branches)

    def is_leaf(self, node: int) -> bool:
        return node not in self.branches

    @cached_property
    def shown_as(self) -> dict[int, int]:
        """The model's leaves that were merged into another, with that leaf."""
        return {
            first + answer: branch.child
            for node, branches in self.branches.items()
            for first in (int(self.tree.first_child[node]),)
            for branch in branches
            for answer in branch.answers[1:]
        }

    # -- in words --------------------------------------------------------------------------------------------------

    def question(self, node: int) -> str:
        """The question of an inner node: its first condition, or the attribute of a multiway test."""
        test = self.tree.test(node)
        assert test is not None
        return self.asked(node) if isinstance(test, Multiway) else test.describe(self.schema, 0)

    def asked(self, node: int) -> str:
        """The attribute that an inner node tests."""
        return isolated(self.schema.names[self.tree.attribute[node]])

    def condition(self, node: int, branch: Branch) -> str:
        test = self.tree.test(node)
        assert test is not None
        if len(branch.answers) == 1:
            return test.describe(self.schema, branch.answers[0])
        assert isinstance(test, Multiway)
        attribute = self.schema.attributes[test.attribute]
        if isinstance(attribute, Categorical):
            return _among(attribute, np.isin(np.arange(attribute.arity), branch.answers))
        return test.describe_run(self.schema, branch.answers[0], branch.answers[-1])

    def answer(self, node: int, branch: Branch) -> str:
        """The answer to the node's question: yes, no, or the condition."""
        if isinstance(self.tree.test(node), Multiway):
            return self.condition(node, branch)
        return "no" if branch.answers[0] else "yes"

    @cached_property
    def rules(self) -> tuple[ShownRule, ...]:
        """One rule for each shown leaf, by number of records, those that noise could have made last.

        A whole tree lists only rules of up to 100 conditions.
        """
        return self._ordered(self._rules())

    @cached_property
    def all_rules(self) -> tuple[ShownRule, ...]:
        """The same, and a sub-rule for each shown node on the way to a leaf: what the tree predicts if it stops there.

        Fletcher 2017, section 6.2.3. Their supports and confidences follow from released counts, and cost nothing.
        """
        return self._ordered(self._rules(inner=True))

    def _ordered(self, rules: Iterator[ShownRule]) -> tuple[ShownRule, ...]:
        return tuple(sorted(rules, key=lambda rule: (self.is_minor(rule.leaf), -(rule.leaf.support or 0))))

    def is_minor(self, leaf: ShownNode) -> bool:
        """Whether to de-emphasise a leaf: noise alone could have made it, or it is below ``min_support``."""
        return leaf.hidden or (self.min_support is not None and (leaf.support or 0) < self.min_support)

    @cached_property
    def minor(self) -> tuple[ShownNode, ...]:
        """The leaves for which ``is_minor`` holds."""
        return tuple(leaf for leaf in self.leaves if self.is_minor(leaf))

    @cached_property
    def why_minor(self) -> str:
        """Why these are minor, in words; empty if there are none."""
        hidden = [leaf.counts.total.below or 0 for leaf in self.minor if leaf.counts is not None and leaf.hidden]
        each = " each" if len(hidden) > 1 else ""
        reasons = (
            [f"{count_words(0, max(hidden), ',')} records{each}, which noise alone could have made"] if hidden else []
        )
        if len(hidden) < len(self.minor):
            reasons.append(f"fewer than {self.min_support:,.10g} records (min_support)")
        return "; or ".join(reasons)

    def _rules(self, *, inner: bool = False) -> Iterator[ShownRule]:
        if not self.simplified:  # conditions may contradict each other, and stay
            listed = [self.nodes[n] for n, depth in self.order if depth <= DEEPEST and (inner or self.is_leaf(n))]
            for leaf, rule in zip(listed, rules_of(self.tree, deepest=DEEPEST, inner=inner), strict=True):
                conditions = rule.simplified(self.schema).conditions
                names = (self.schema.names[condition.test.attribute] for condition in conditions)
                yield ShownRule(tuple(zip(names, words_of(conditions, self.schema), strict=True)), leaf)
            return
        for node, admitted in walk_admitted(self._fan, self.root):
            if inner or self.is_leaf(node):
                yield ShownRule(tuple(self._premise(admitted)), self.nodes[node])

    def _fan(self, node: int) -> Fan | None:
        test = self.tree.test(node)
        if test is None or self.is_leaf(node):
            return None
        goes = test.branch(np.arange(self.schema.arities[test.attribute]))
        return test.attribute, [(branch.child, np.isin(goes, branch.answers)) for branch in self.branches[node]]

    def _premise(self, admitted: Mapping[int, Bools]) -> Iterator[tuple[str, str]]:
        for a, codes in admitted.items():
            attribute = self.schema.attributes[a]
            if isinstance(attribute, Categorical) and 1 < codes.sum() <= (~codes).sum():
                yield attribute.name, _among(attribute, codes)
            else:
                yield from (
                    (attribute.name, words) for words in words_of(tuple(simplest(self.schema, a, codes)), self.schema)
                )

    def __str__(self) -> str:
        from privet.models.render import export_text

        return "".join(f"{note}\n" for note in self.notes) + export_text(self)

    def __repr__(self) -> str:
        leaves = "1 leaf" if len(self.leaves) == 1 else f"{len(self.leaves)} leaves"
        return f"<ShownTree of {leaves}, depth {self.depth}, for {self.schema.label.name!r}>"

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> Html:
        from privet.models.render import nested_html

        return nested_html(self)

    def beginning(self, title: str, lines: int) -> str:
        """The first levels, at least one, that fit into ``lines`` lines; the title tells if that is not all."""
        from privet.models.render import export_text

        depth = min(self.depth, lines)  # each level takes at least a line
        while (text := export_text(self, depth)).count("\n") > lines and depth > 1:
            depth -= 1
        first = "" if depth >= self.depth else f", its first {depth} test{'s'[: depth > 1]}"
        return "\n".join([f"{title}{first}:", *self.notes]) + "\n" + text


def as_shown(tree: Tree | ShownTree) -> ShownTree:
    """View a tree; a bare tree, whose noise scale is unknown, is shown whole."""
    return tree if isinstance(tree, ShownTree) else ShownTree.whole(tree)


def check_limits(max_leaves: int | None, min_support: float | None) -> None:
    if max_leaves is not None and (isinstance(max_leaves, bool) or not isinstance(max_leaves, int) or max_leaves < 1):
        raise ParameterError(
            parameter="max_leaves", problem=f"must be None or a whole number of at least 1, not {max_leaves!r}"
        )
    number = isinstance(min_support, int | float) and not isinstance(min_support, bool)
    if min_support is not None and not (number and 0 <= min_support < float("inf")):
        raise ParameterError(
            parameter="min_support", problem=f"must be None or a number of records of at least 0, not {min_support!r}"
        )


def _among(attribute: Categorical, codes: Bools) -> str:
    """A set of categories in words, or its complement if that is smaller."""
    few, word = (codes, "in") if codes.sum() <= (~codes).sum() else (~codes, "not in")
    names = [isolated(attribute.values[code]) for code in np.flatnonzero(few)]
    if word == "not in" and len(names) == 1:
        return f"{isolated(attribute.name)} != {names[0]}"
    return f"{isolated(attribute.name)} {word} {{{', '.join(names)}}}"
