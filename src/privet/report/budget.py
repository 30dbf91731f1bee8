"""The page of a budget, from its journal: what was promised, what was spent, by whom, when and on what.

It is for the data owner, managers and data-protection officers. Nothing in the journal is changed, and no table is
read.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from privet import promise
from privet.bidi import isolated
from privet.markup import Html, tag
from privet.privacy.examining import Examined, examine
from privet.privacy.holds import Hold
from privet.privacy.losses import NOTHING, UNLIMITED, Loss
from privet.report.chart import step_chart
from privet.report.context import certificate_context
from privet.report.page import render

METER = 100  # the width of the meter in its own units
OWNER = "the owner"  # who spends without naming an analyst
MOST_WORKS = 500  # rows of a page; earlier work is added up in one row


def budget_page(journal: str | Path) -> str:
    """The page of a journal as HTML.

    >>> import tempfile, privet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = privet.Ledger(2, journal=f"{folder}/clinic.journal", dataset="clinic")
    ...     ledger.reserve(0.5, "fit of exact").end()
    ...     page = budget_page(f"{folder}/clinic.journal")
    >>> "The privacy budget of clinic" in page, "http://" in page
    (True, False)
    """
    return render("budget.html", **budget_context(examine(Path(journal)), Path(journal).name))


def budget_context(found: Examined, file: str) -> dict[str, Any]:
    """The content of the page, as plain data."""
    books, cap = found.books, found.cap
    spent, left = books.loss, books.left
    certificate = books.certificate()
    works, before = found.works[-MOST_WORKS:], found.works[:-MOST_WORKS]
    return {
        **certificate_context(certificate),
        "promise": promise.sentence(certificate, "all that was released"),
        "title": f"The privacy budget of {isolated(books.dataset or 'a data set without a name')}",
        "amounts": [("allowed", f"{cap:brief}"), ("spent", f"{spent:brief}"), ("left", f"{left:brief}")],
        "meter": _meter(found, spent),
        "at_cap": promise.odds(float(cap.epsilon)),
        "cap_strength": promise.strength(cap.epsilon),
        "cap": f"{cap:brief}",
        "chart": _over_time(found) if len({hold.time for hold in found.works}) > 1 else None,
        "held": any(hold.open for hold in found.works),
        "people": _people(found),
        "works": [_work(hold) for hold in reversed(works)],
        "before": (len(before), f"{_sum(before):brief}") if before else None,
        "undated": f"{undated:brief}" if (undated := spent - _sum(found.works)) != NOTHING else None,
        "faults": list(_faults(found)),
        "head": found.head,
        "records": found.records,
        "file": isolated(file),
    }


@dataclass(frozen=True, slots=True)
class Person:
    """What an analyst may spend, has spent and has left."""

    name: str
    limit: str
    spent: str
    left: str
    share: float  # of all that was spent


def _people(found: Examined) -> list[Person]:
    books, total = found.books, float(found.books.loss.epsilon) or 1.0
    rows = []
    rest = books.loss
    for name, account in books.analysts.items():
        rest -= account.loss
        limit = "no limit of their own" if account._limit == UNLIMITED else f"{account._limit:brief}"
        share = float(account.loss.epsilon) / total
        rows.append(Person(isolated(name), limit, f"{account.loss:brief}", f"{account.left:brief}", share))
    owner = Person(OWNER, f"{found.cap:brief}", f"{rest:brief}", f"{books.left:brief}", float(rest.epsilon) / total)
    return [owner, *rows] if rest != NOTHING or not rows else rows


def _work(hold: Hold) -> dict[str, str]:
    """A row of the list of works. What is not ended counts in full."""
    return {
        "time": _readable(hold.time),
        "who": OWNER if hold.analyst is None else isolated(hold.analyst),
        "what": isolated(hold.work),
        "cost": f"{_cost(hold):brief}",
        "state": f"not ended: all of {hold.reserved:brief} counts" if hold.open else "done",
    }


def _cost(hold: Hold) -> Loss:
    return hold.reserved | hold.charged if hold.open else hold.charged


def _sum(works: tuple[Hold, ...]) -> Loss:
    return sum((_cost(hold) for hold in works), NOTHING)


def _readable(time: str) -> str:
    return time.replace("T", " ").removesuffix("Z") + " UTC"


def _faults(found: Examined) -> list[str]:
    """What is wrong with the journal, each with what follows from it."""
    faults = [f"Line {line} was cut off by a crash. What it cost counts as spent." for line in found.torn]
    faults += [f"Line {line}: {fault}." for line, fault in found.broken.items()]
    faults += [
        f"Line {line} cannot be read or trusted. All that was left counts as spent until the owner settles it."
        for line in found.unread
    ]
    return faults


# -- pictures ----------------------------------------------------------------------------------------------------------


def _meter(found: Examined, spent: Loss) -> Html:
    """A bar of what is spent for good, and of what is reserved for work that is not ended."""
    held = sum((_cost(hold) - hold.charged for hold in found.works if hold.open), NOTHING)
    whole = max(float(found.cap.epsilon), 1e-300)
    parts = [min(METER * float(part.epsilon) / whole, METER) for part in (spent - held, spent)]
    label = f"epsilon {spent:brief} of {found.cap:brief} is spent, of which {held:brief} is reserved"
    return tag(
        "svg",
        tag("rect", width=METER, height=6, class_="of"),
        tag("rect", width=f"{parts[1]:.2f}", height=6, class_="held"),
        tag("rect", width=f"{parts[0]:.2f}", height=6),
        viewBox=f"0 0 {METER} 6",
        preserveAspectRatio="none",
        class_="meter bar",
        role="img",
        aria_label=label,
    )


def _over_time(found: Examined) -> Html:
    """All that was spent by then, a step for each piece of work; the level above is what is allowed."""
    times = [datetime.strptime(hold.time, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC).timestamp() for hold in found.works]
    level, points = found.books.loss - _sum(found.works), []
    for time, hold in zip(times, found.works, strict=True):
        points.append((time, float(level.epsilon)))
        level += _cost(hold)
        points.append((time, float(level.epsilon)))
    return step_chart(points, float(found.cap.epsilon), "Epsilon spent over time, below what is allowed")
