"""Trees in blocks: the law of what is released, against a list of all trees; and no branch that nothing can reach."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pytest

from privet import Categorical, Ledger, Numeric, Schema
from privet.audit import AuditResult, Pair, audit_learner
from privet.engines import joint_tables
from privet.engines.memory import MemoryEngine
from privet.growing.whole.blocks import Blocks, block_space, grow_blocks
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.samplers.tree_sampler import _Sampler
from privet.privacy.samplers.tree_space import TreeSpace
from privet.structure.open_tests import Answers
from privet.structure.splits import Tests
from privet.tables.encoding import Codes
from privet.testing import ReplayNoise, use_noise
from privet.testing.noise import ScriptEnded

Node = Any
"""A tree by hand: a label (or None where leaves have none), or (test, children)."""
Law = dict[Node, float]


@dataclass(frozen=True, eq=False)
class Case:
    schema: Schema
    kind: str  # "binary", "multiway", or blocks without labels: "attributes", "subtrees"
    levels: tuple[int, ...]
    epsilon: float = 1.0
    favours: tuple[float, ...] | None = None
    n: int = 24

    @cached_property
    def codes(self) -> Codes:
        rng = np.random.default_rng(self.n)
        features = np.array([rng.integers(0, arity, self.n) for arity in self.schema.arities], dtype=np.uint8)
        labels = (features[0] + (rng.random(self.n) < 0.3)) % self.schema.n_classes
        return Codes(features, labels.astype(np.uint8))

    @cached_property
    def space(self) -> TreeSpace:
        tests, depth = (Tests.binary if self.kind == "binary" else Tests.multiway)(self.schema), max(self.levels)
        if self.kind in ("attributes", "subtrees"):
            return block_space(tests, self.schema.n_classes, depth, self.kind)  # type: ignore[arg-type]
        prior = np.ones(len(tests)) if self.favours is None else np.array(self.favours)
        weights = (1,) * self.schema.n_classes
        return TreeSpace(tests, self.schema.n_classes, (0.0, 0.4, 0.3)[:depth], prior, weights)

    def grow(self) -> Tree:
        data = PrivateDataset(MemoryEngine(self.schema, self.codes), Ledger(Fraction(self.epsilon)))
        blocks = Blocks(self.space, sum(self.levels), levels=self.levels)
        return grow_blocks(data.level(), blocks, Fraction(self.epsilon))


LABEL = Categorical("class", ("no", "yes"))
X = Numeric("x", 0, 3, bins=3)
ONE_NUMBER = Schema((X,), LABEL)
CUTS = Schema((X, Categorical("b", (0, 1))), LABEL)
ONE_LIST = Schema((Categorical("t", ("a", "b", "c")),), LABEL)
LIST_AND_CUT = Schema((*ONE_LIST.attributes, Numeric("x", 0, 2, bins=2)), LABEL)
TWO = Schema((Categorical("a", (0, 1)), Categorical("b", (0, 1))), LABEL)
THREE = Schema((*TWO.attributes, *ONE_LIST.attributes), LABEL)
CASES = {  # some hundred trees at most, since every one is released through the front door
    "binary, cuts": Case(ONE_NUMBER, "binary", (1, 1)),
    "binary, two levels and one": Case(ONE_NUMBER, "binary", (2, 1), 0.5, favours=(1, 3)),
    "binary, more levels than categories": Case(ONE_LIST, "binary", (1, 2), favours=(1, 2, 4)),
    "multiway": Case(TWO, "multiway", (1, 1), favours=(1, 2)),
    "multiway, more levels than attributes": Case(ONE_LIST, "multiway", (1, 1)),
    "without labels": Case(THREE, "attributes", (1, 1)),
    "without labels, subtrees": Case(THREE, "subtrees", (1, 1)),
    "without labels, more levels than attributes": Case(TWO, "subtrees", (1, 2)),
}
LONGER = {
    "binary, cuts and a list": Case(CUTS, "binary", (1, 1), favours=(1, 2, 3)),
    "binary, list and cut": Case(LIST_AND_CUT, "binary", (1, 1), favours=(1, 2, 0, 4)),
    "binary, three blocks": Case(ONE_LIST, "binary", (1, 1, 2)),
}


# ---- the law, one tree after another ------------------------------------------------------------------------------


def expected(case: Case) -> Law:
    """From the definition: every block draws from the trees of open tests, and its full leaves go on."""
    codes, space, tests = case.codes, case.space, list(case.space.tests)
    assert codes.labels is not None
    labels, n_classes = codes.labels, case.schema.n_classes
    columns = np.meshgrid(*map(np.arange, case.schema.arities), indexing="ij")
    could = np.array([test.branch(columns[test.attribute].ravel()) for test in tests])
    does = np.array([test.branch(codes.features[test.attribute]) for test in tests])
    each = Fraction(case.epsilon) / len(case.levels)

    def trees(here: np.ndarray, might: np.ndarray, depth: int, levels: int) -> list[tuple[Node, float, float]]:
        """(tree, log prior, score); a leaf at full depth is (label, records, codes), to be drawn again."""
        every = [t for t in range(len(tests)) if space.test_prior[t] > 0]
        free = [t for t in every if set(could[t, might]) == set(range(space.tests.arity[t]))] if depth < levels else []
        counts = np.bincount(labels[here], minlength=n_classes)
        found: list[tuple[Node, float, float]] = []
        stop = space.leaf_prior[depth] if free else 1.0
        if stop:
            final = depth < levels
            mark = () if final else (tuple(np.flatnonzero(here)), tuple(np.flatnonzero(might)))
            if space.labelled:
                found += [((c, *mark), math.log(stop / n_classes), float(counts[c])) for c in range(n_classes)]
            else:
                found.append(((None, *mark), 0.0, -float(counts.sum() - (counts**2).sum() / max(counts.sum(), 1))))
        for t in free:
            prior = (
                0.0 if space.by_subtree else math.log((1 - stop) * space.test_prior[t] / space.test_prior[free].sum())
            )
            below = [
                trees(here & (does[t] == v), might & (could[t] == v), depth + 1, levels)
                for v in range(space.tests.arity[t])
            ]
            for children in product(*below):
                kids = tuple(child for child, *_ in children)
                found.append(((t, kids), prior + sum(p for _, p, _ in children), sum(score for *_, score in children)))
        return found

    def block(here: np.ndarray, might: np.ndarray, number: int) -> Law:
        listed = trees(here, might, 0, case.levels[number])
        rows = [t for t in range(len(tests)) if len(set(could[t, might])) > 1 and space.test_prior[t] > 0]
        levels = min(case.levels[number], len(rows))
        rounding = replace(
            space, tests=space.tests.take(np.array(rows, dtype=np.intp)), test_prior=space.test_prior[rows],
            leaf_prior=space.leaf_prior[:levels],
        ).rounding(each)  # fmt: skip
        scale = float(each - rounding) / (1 if space.labelled else 2)
        logs = np.array([prior + scale * score for _, prior, score in listed])
        chances = np.exp(logs - logs.max())
        chances /= chances.sum()
        law: Law = {}
        for (tree, *_), chance in zip(listed, chances.tolist(), strict=True):
            for whole, more in gone_on(tree, number).items():
                law[whole] = law.get(whole, 0.0) + chance * more
        return law

    def gone_on(tree: Node, number: int) -> Law:
        if len(tree) == 2 and isinstance(tree[1], tuple) and tree[1] and isinstance(tree[1][0], tuple):
            law: Law = {}
            for children in product(*(gone_on(child, number).items() for child in tree[1])):
                law[(tree[0], tuple(child for child, _ in children))] = math.prod(chance for _, chance in children)
            return law
        label, *mark = tree
        if not mark or number + 1 == len(case.levels):
            return {label: 1.0}
        here, might = np.zeros(labels.size, dtype=bool), np.zeros(could.shape[1], dtype=bool)
        here[list(mark[0])] = might[list(mark[1])] = True
        return block(here, might, number + 1)

    return block(np.ones(labels.size, dtype=bool), np.ones(could.shape[1], dtype=bool), 0)


def as_node(tree: Tree, space: TreeSpace, node: int = 0) -> Node:
    test = tree.test(node)
    if test is None:
        return int(tree.label[node]) if space.labelled else None
    return list(space.tests).index(test), tuple(as_node(tree, space, child) for child in tree.children(node))


def released(case: Case, grow: Callable[[], Tree]) -> Law:
    """Every tree that can come out, with its probability, by scripting all draws."""
    found: Law = {}
    scripts: list[tuple[int, ...]] = [()]
    while scripts:
        noise = ReplayNoise(scripts.pop())
        try:
            with use_noise(noise):
                node = as_node(grow(), case.space)
        except ScriptEnded as ended:
            scripts += [(*noise.script, outcome) for outcome in range(ended.draw.values.size)]
            continue
        found[node] = found.get(node, 0.0) + math.exp(noise.log_probability)
    return found


def worst(found: Law, wanted: Law) -> float:
    """The largest relative error; infinite where one has a tree that the other has not."""
    if found.keys() != wanted.keys():
        return math.inf
    return max(abs(found[tree] / wanted[tree] - 1) for tree in wanted)


@pytest.mark.parametrize("name", [*CASES, *(pytest.param(name, marks=pytest.mark.slow) for name in LONGER)])
def test_the_law_of_trees_in_blocks_is_that_of_the_list(name: str) -> None:
    case = (CASES | LONGER)[name]
    assert worst(released(case, case.grow), expected(case)) < 1e-11


def test_a_prior_that_is_not_renormalised_on_one_side_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the second child of a test, what is open keeps the prior it had beside what is not."""
    case = Case(ONE_NUMBER, "binary", (2,), favours=(1, 3))
    assert worst(released(case, case.grow), expected(case)) < 1e-11
    honest = TreeSpace.answers

    def one_sided(space: TreeSpace, schema: Schema) -> Answers:
        return not_renormalised(honest(space, schema), np.ones(len(space.tests), dtype=np.int64))

    monkeypatch.setattr(TreeSpace, "answers", one_sided)
    assert worst(released(case, case.grow), expected(case)) > 0.1


def not_renormalised(answers: Answers, child: np.ndarray) -> Answers:
    """Planted: below this child of each test."""
    alone = answers.alone.copy()
    wrong = 2 * np.arange(child.size) + child
    alone[wrong] = np.where(alone[wrong] > 0, answers.unasked[answers.attribute], 0.0)
    return answers._replace(alone=alone)


# ---- between neighbours -------------------------------------------------------------------------------------------


def pair(schema: Schema, relation: str) -> Pair:
    """A record of every value but the last, and one record more, or another one."""
    values = [range(2) if isinstance(a, Categorical) else np.arange(a.arity) + 0.5 for a in schema.attributes]
    *base, last = [(*row, LABEL.values[i % 2]) for i, row in enumerate(product(*values))]
    extra, other = (*last[:-1], "no"), (*base[0][:-1], "yes")
    table = base if relation == "add-remove" else [*base, other]
    return Pair("one record", schema, tuple(table), (*base, extra))


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(
    ("schema", "kind", "levels"),
    [(ONE_NUMBER, "binary", (1, 1)), (TWO, "multiway", (1, 1)), (THREE, "subtrees", (1, 1))],
    ids=["binary", "multiway", "without labels"],
)
def test_the_audit_of_blocks_holds(schema: Schema, kind: str, levels: tuple[int, ...], relation: str) -> None:
    space = Case(schema, kind, levels).space
    found = audit_learner(
        lambda data, epsilon: grow_blocks(data.level(), Blocks(space, sum(levels), levels=levels), epsilon),
        [pair(schema, relation)], 1, neighbours=relation, transcripts=6, complete=100,
    )  # fmt: skip
    assert found.verdict == "holds", found
    assert found.lower_bound > 0.01  # it would see a mechanism that draws at random


def test_a_prior_that_follows_the_records_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: not renormalised on the side that fewer records take, so that one record moves it to the other."""
    space = Case(ONE_NUMBER, "binary", (2,)).space
    even = ((0.5, "no"), (2.5, "yes"))
    majority = Pair("a majority", ONE_NUMBER, even, (*even, (0.5, "no")))
    monkeypatch.setattr(joint_tables, "tables_pay", lambda *_: False)  # bitsets count the side with fewer records

    def audited() -> AuditResult:
        return audit_learner(
            lambda data, epsilon: grow_blocks(data.level(), Blocks(space, 2), epsilon), [majority], Fraction(1, 20)
        )

    assert audited().verdict == "holds"
    honest = _Sampler.__init__

    def by_side(sampler: _Sampler, joint: Any, space: TreeSpace, answers: Answers, *others: Any) -> None:
        honest(sampler, joint, space, not_renormalised(answers, joint.met), *others)

    monkeypatch.setattr(_Sampler, "__init__", by_side)
    assert audited().lower_bound > 0.2
