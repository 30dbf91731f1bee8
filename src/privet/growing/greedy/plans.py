"""Plans: how the budget of a tree is shared among the questions on a path. Exact rationals that add up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Plan:
    """The epsilon of each question at each depth; None where the question is not asked.

    A path that ends in a leaf at depth k pays ``node[0..k]``, ``choice[0..k-1]`` and ``leaf[k]``.
    """

    node: tuple[Fraction | None, ...]
    choice: tuple[Fraction | None, ...]
    leaf: tuple[Fraction, ...]

    @property
    def depth(self) -> int:
        return len(self.leaf) - 1

    def path_cost(self, depth: int) -> Fraction:
        """What a path with its leaf at ``depth`` pays."""
        node = sum((cost or Fraction(0) for cost in self.node[: depth + 1]), Fraction(0))
        return node + sum((cost or Fraction(0) for cost in self.choice[:depth]), Fraction(0)) + self.leaf[depth]

    @classmethod
    def shares(
        cls,
        total: Fraction,
        depth: int,
        *,
        node: Fraction | int = 0,
        choice: Fraction | int = 1,
        leaf: Fraction | int = 1,
        ask_last: bool = True,
    ) -> Plan:
        """A plan by weights: every question of a kind gets the same share, and a path of full depth spends it all.

        ``node`` is the weight of the question that every node is asked first (at full depth, where each node is a leaf,
        only with ``ask_last``). ``choice`` is the weight of choosing a test, ``leaf`` that of a leaf's counts.
        """
        asked = depth + 1 if ask_last else depth
        unit = total / (Fraction(node) * asked + Fraction(choice) * depth + Fraction(leaf))
        levels = depth + 1
        return cls(
            node=(unit * node or None,) * asked + (None,) * (levels - asked),
            choice=(unit * choice or None,) * depth + (None,),
            leaf=(unit * leaf,) * levels,
        )
