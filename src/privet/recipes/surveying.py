"""What recipes buy before they grow: about how many records there are, and where their numbers lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from privet.growing.cutting.cuts import cut_at, find
from privet.growing.forests.leaf_counts import Counted, size_of
from privet.growing.whole.depth_rules import COUNT_SHARE, cuts_share
from privet.privacy.dataset import PrivateDataset
from privet.schema import Numeric, Schema


@dataclass(frozen=True)
class Strength:
    """What a mechanism can see of a table: its records, counted with noise or declared, times epsilon."""

    records: int
    epsilon: Fraction
    declared: bool
    steps: int  # of the neighbour relation: a replaced record is one less and one more

    def __float__(self) -> float:
        return float(self.records * self.epsilon / self.steps)

    def __str__(self) -> str:
        how = "declared" if self.declared else "a noisy count"
        return f"Planned for about {self.records:,} records ({how}) at epsilon {float(self.epsilon):g}."


def buy_count(
    data: PrivateDataset, n_public: int | None, epsilon: Fraction, share: Fraction = COUNT_SHARE
) -> tuple[Strength, Fraction]:
    """The signal, and what is left of epsilon: the number of records is bought unless it is known."""
    records, left = size_of(data, n_public, epsilon, share)
    declared = n_public is not None and not isinstance(n_public, Counted)
    return Strength(records, epsilon, declared, data.ledger.steps), left


def cut_where_records_lie(
    data: PrivateDataset,
    signal: Strength,
    numbers: Sequence[int],
    count: int,
    otherwise: Schema,
    part: Fraction = Fraction(1),
    likely: Schema | None = None,
) -> tuple[PrivateDataset, Fraction, str]:
    """The records with ``numbers`` cut where they lie, into about ``count`` + 1 parts each; what it cost; and why.

    A number of which too little is heard, and all of them where the signal is too small to be worth it, keep the public
    cuts of ``otherwise``. ``part`` is as in ``cuts_share``. ``likely`` has the cuts that a number is heard with
    (``Whereabouts.cuts``), if not those.
    """
    share = cuts_share(float(signal), len(numbers), part)
    if not share:
        text = (
            "Numbers are cut on a public grid: there are too few records, at this epsilon, to find out where they lie."
        )
        return data.recut(otherwise), Fraction(0), text
    found, cost = find(data, numbers, share * signal.epsilon)
    likely = likely or otherwise
    public = {a: attribute.cuts for a, attribute in enumerate(likely.attributes) if isinstance(attribute, Numeric)}
    cuts = {a: where.cuts(count, public[a].tolist()) for a, where in found.items()}
    noise_ratio = [otherwise.names[a] for a, points in cuts.items() if not points]
    text = f"{len(numbers)} numbers are cut where their records lie, at about {count} points each"
    text += f", for {float(cost / signal.epsilon):.2g} of epsilon."
    if noise_ratio:
        text += f" On a public grid, since noise hides them: {', '.join(noise_ratio)}."
    return data.recut(cut_at(otherwise, cuts)), cost, text
