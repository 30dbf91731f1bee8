"""The label of a leaf of two classes: how often mechanisms draw the wrong one, by exact arithmetic.

    python benchmarks/leaf_labels.py [--epsilon 0.5] [--delta 1e-6]

The thesis's Theorem 8.1 divides a score by a smooth sensitivity that is not one. Sound mechanisms that adapt to the
records could take its place: shifted local dampening (Farias et al. 2020), and propose-test-release (Dwork and Lei
2009) with permute-and-flip where the test fails, each getting half of epsilon. They are compared with what privet uses,
permute-and-flip on class counts. Exits with 1 if local dampening breaks its promise on small tables, or if one of the
two beats permute-and-flip at every lead. No table is read.
"""

from __future__ import annotations

import argparse
import math

LEADS = (1, 2, 4, 8, 16, 32)
SMALL = 12  # records of a class in the tables on which local dampening is checked


def winner(a: int, b: int) -> int:
    """The class with more records; ties go to the first."""
    return 0 if a >= b else 1


def away(a: int, b: int) -> int:
    """How many records must be added or removed until the other class wins."""
    return a - b + 1 if winner(a, b) == 0 else b - a


def local_dampening(a: int, b: int, epsilon: float) -> tuple[float, float]:
    """The chances of both labels: scores are 0 for the winner and -1 for the other, dampened by how far a change is.

    Scores of tables that are t records away can change by nothing while t is below ``away`` - 1, and by 1 from there
    on. So the winner's dampened score is ``away`` - 1, and that of the other label is -``away``.
    """
    far = away(a, b)
    lead = epsilon * (far - 1 + far) / 2
    chance = 1 / (1 + math.exp(-lead))
    return (chance, 1 - chance) if winner(a, b) == 0 else (1 - chance, chance)


def wrong_by_dampening(lead: int, epsilon: float) -> float:
    """On average over which class leads: the first one wins ties, which makes its lead longer by one."""
    return (local_dampening(lead, 0, epsilon)[1] + local_dampening(0, lead, epsilon)[0]) / 2


def exponential(lead: int, epsilon: float) -> float:
    """The chance of the wrong label; the score is the class count, which moves one way."""
    return 1 / (1 + math.exp(epsilon * lead))


def permute_and_flip(lead: int, epsilon: float) -> float:
    return math.exp(-epsilon * lead) / 2


def propose_test_release(lead: int, epsilon: float, delta: float) -> float:
    """Half of epsilon tests by a noisy distance whether all tables near by have one winner; else it buys a draw."""
    half = epsilon / 2
    above = half * lead - math.log(1 / delta)  # by how much the distance, which is the lead, exceeds the threshold
    fails = math.exp(-above) / 2 if above > 0 else 1 - math.exp(above) / 2
    return fails * permute_and_flip(lead, half)


def largest_loss(epsilon: float) -> float:
    """Of local dampening, over small tables and all their neighbours."""
    losses = []
    for a in range(SMALL):
        for b in range(SMALL):
            ours = local_dampening(a, b, epsilon)
            for other in ((a + 1, b), (a, b + 1)):
                losses += [abs(math.log(p / q)) for p, q in zip(ours, local_dampening(*other, epsilon), strict=True)]
    return max(losses)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", type=float, default=0.5)
    parser.add_argument("--delta", type=float, default=1e-6)
    given = parser.parse_args()
    epsilon, delta = given.epsilon, given.delta
    rows = {
        "permute-and-flip": [permute_and_flip(lead, epsilon) for lead in LEADS],
        "exponential, one-sided": [exponential(lead, epsilon) for lead in LEADS],
        "local dampening": [wrong_by_dampening(lead, epsilon) for lead in LEADS],
        f"propose-test-release, delta {delta:g}": [propose_test_release(lead, epsilon, delta) for lead in LEADS],
    }
    print(f"| wrong label at a lead of | {' | '.join(map(str, LEADS))} |\n|---|{'---|' * len(LEADS)}")
    for name, chances in rows.items():
        print(f"| {name} | {' | '.join(f'{chance:.2g}' for chance in chances)} |")
    loss = largest_loss(epsilon)
    print(f"largest loss of local dampening on small tables: {loss:.4f} of {epsilon:g}")
    best, *_, dampened, proposed = rows.values()
    better = [all(a < b for a, b in zip(one, best, strict=True)) for one in (dampened, proposed)]
    return int(loss > epsilon + 1e-9 or any(better))


if __name__ == "__main__":
    raise SystemExit(main())
