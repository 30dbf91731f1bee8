"""Compare two neighbouring tables: by their whole output distributions, or by transcripts that both fits can take."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from privet.audit.channels import described, listening
from privet.audit.draws import RAISED, Fit
from privet.audit.explorer import Transcript, explore
from privet.audit.outputs import TooLarge, log_ratios, output_distribution
from privet.audit.released import Reach
from privet.audit.result import TOLERANCE, AuditResult
from privet.audit.seam import ScriptedNoise
from privet.audit.weighing import LogRatios, Weighing
from privet.audit.zoo import Pair
from privet.engines.memory import MemoryEngine
from privet.kinds import ChargeKind
from privet.privacy.certificate import Certificate
from privet.schema import Schema
from privet.tables.frozen import admitted, freeze

OUTPUTS, PAIRED = "exact output distribution", "paired transcripts"
NEVER = "one of the tables never releases it"
OF_ALL = 10  # all tables together may use this many times the runs of one


class Release(NamedTuple):
    """Everything a fit releases, and the loss ``booked`` in its certificate for the draws that an audit weighs."""

    model: Hashable
    certificate: Hashable
    declared: tuple[Hashable, ...]
    booked: Fraction | float


def booked(certificate: Certificate) -> Fraction | float:
    """The loss that a certificate states, as if its noise were real; infinite where it is void for another reason.

    An audit of draws finds no loss of a perturbed fit, so the charges for fits must not cover up another loss. They are
    left out where charges simply add up. Where some are for disjoint records, charges cannot be assigned to records.
    """
    if any(caveat.voids and caveat.text != ScriptedNoise.caveat for caveat in certificate.caveats):
        return math.inf
    charges = certificate.charges
    in_a_row = all(charge.added == charge.loss for charge in charges)
    return sum((c.adds for c in charges if not (in_a_row and c.kind is ChargeKind.FIT)), Fraction(0))


def _unbooked(loss: float, released: Any) -> tuple[float, str]:
    """By how much a loss exceeds the certificate of the same release, and a sentence about it."""
    release = released[0] if isinstance(released, tuple) and released else None
    if not isinstance(release, Release) or loss <= release.booked + TOLERANCE:
        return 0.0, ""
    stated = float(release.booked)
    return loss - stated, f"the certificate has booked {stated:.4g} for a loss of {loss:.4g}"


@dataclass(frozen=True)
class Table:
    """A table as a learner sees it, and a fit on it."""

    key: Hashable
    fit: Fit


def open_table(
    schema: Schema, table: Any, release: Callable[[MemoryEngine], Hashable], *, recuts: bool = False
) -> Table:
    """Read a table. Warnings, output and errors of reading are released too.

    A learner that cuts numbers anew (``recuts``) sees the numbers themselves; others see only their codes.
    """
    frozen = None
    with listening() as declared:
        try:
            frozen = freeze(schema, table) if recuts else None
            codes = admitted(schema, table) if frozen is None else frozen.codes(schema)
        except Exception as error:
            refused = (RAISED, described(error)), tuple(declared)
            return Table(refused, lambda: refused)
    assert codes.labels is not None
    while_reading = tuple(declared)
    seen = [codes.features] if frozen is None else frozen.columns
    labels = codes.labels if frozen is None else frozen.labels
    key = schema, codes.features.shape, tuple(array.tobytes() for array in seen), labels.tobytes(), while_reading
    engine = MemoryEngine(schema, codes, frozen)
    return Table(key, lambda: (release(engine), while_reading))


def _raised(released: Any) -> bool:
    """Whether a release is an error, of the reading or of the fit."""
    return isinstance(released, tuple) and bool(released) and (released[0] == RAISED or _raised(released[0]))


class Outputs:
    """Whole output distributions, computed once per table, as long as they are small enough."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = OF_ALL * limit
        self._known: dict[Hashable, tuple[dict[Hashable, float], float]] = {}

    def compare(self, ours: Table, theirs: Table, pair: Pair) -> AuditResult | None:
        if not self._limit:
            return None
        window = 0, max(len(pair.table), len(pair.neighbour))  # bounds every count of both tables
        try:
            p, lumped = self._of(ours, window)
            q, lumped_too = self._of(theirs, window)
        except TooLarge:
            self._limit = 0  # the other pairs will be too large as well
            return None
        runs, most = len(p) + len(q), max(lumped, lumped_too)
        worst = AuditResult("", "", 0.0, 0.0, "", OUTPUTS, pair.name, runs=runs, lumped=most)
        for output, ratio in log_ratios(p, q):
            more, reason = (0.0, NEVER) if math.isinf(ratio) else _unbooked(ratio, output)
            found = replace(worst, lower_bound=ratio, witness=output, unbooked=more, reason=reason)
            worst = worst.with_worse(found)
        return worst

    def _of(self, table: Table, window: tuple[int, int]) -> tuple[dict[Hashable, float], float]:
        if (table.key, window) not in self._known:
            found = output_distribution(table.fit, window=window, limit=min(self._limit, self._left))
            self._left -= len(found[0])
            self._known[table.key, window] = found
        return self._known[table.key, window]


def walk(
    ours: Fit,
    theirs: Fit,
    pair: Pair,
    limit: int,
    weighing: Weighing = LogRatios(),  # noqa: B008 - frozen
) -> AuditResult:
    worst, runs, leaks = AuditResult("", "", 0.0, 0.0, "", PAIRED, pair.name), 0, 0
    reach = Reach(ours), Reach(theirs)
    for transcript in explore(ours, theirs, place=pair.place, limit=limit, weighing=weighing):
        runs += 2
        loss = weighing.loss(transcript.total)
        more, reason = _unbooked(loss, transcript.released)
        if not transcript.follows_from_the_draws:
            leaks += 1
            more = 0.0
            loss, reason = _loss_of_leak(transcript, *reach)
        worst = worst.with_worse(replace(worst, lower_bound=loss, witness=transcript, unbooked=more, reason=reason))
        if math.isinf(loss):
            break
    return replace(worst, runs=runs, leaks=leaks)


def _loss_of_leak(transcript: Transcript, ours: Reach, theirs: Reach) -> tuple[float, str]:
    """Infinite where one of the tables never releases what the other did; otherwise unknown."""
    released, other = transcript.released, transcript.released_by_neighbour
    if released == other or (theirs.has(released, transcript.outcomes) and ours.has(other, transcript.outcomes)):
        return 0.0, ""
    if _raised(released) or _raised(other):
        return math.inf, "whether it fails depends on the records"
    return math.inf, NEVER
