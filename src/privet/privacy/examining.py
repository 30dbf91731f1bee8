"""What an owner can find out about a journal without changing it: what was spent, and which lines are damaged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from privet.kinds import ChargeKind
from privet.privacy.certificate import Charge
from privet.privacy.chain import START
from privet.privacy.holds import Hold
from privet.privacy.journal import Read, read_lines
from privet.privacy.ledger import Ledger
from privet.privacy.losses import Loss
from privet.privacy.records import Covered, Header


@dataclass(frozen=True)
class Examined:
    """What was found in a journal, by numbers of lines."""

    records: int  # lines after the first
    torn: tuple[int, ...]  # cut off by a crash; what they cost is known
    broken: dict[int, str]  # what is wrong with a line's link to those before it
    unread: tuple[int, ...]  # for which all counts as spent, until they are settled
    works: tuple[Hold, ...]  # all reservations, in the order of the journal
    heads: tuple[str, ...]  # of the chain, before the first line and after each
    cap: Loss  # the limit over all releases, as it is now
    books: Ledger  # the same entries in memory: sums, analysts, certificate

    @property
    def head(self) -> str:
        return self.heads[-1]

    @property
    def reservations(self) -> dict[int, Hold]:
        """Those that were not ended, by number."""
        return dict(self.books.reservations)


def examine(path: Path) -> Examined:
    """Read a journal as a ledger does, into books of no consequence."""
    data = path.read_bytes()
    first, _, rest = data.partition(b"\n")
    header = Header.read(first, path)
    books = Ledger(header.cap.epsilon, header.cap.delta, neighbours=header.neighbours, dataset=header.dataset)
    read, _ = Read().after(first, None)
    heads, torn, broken = [START, read.chain.head], list[int](), dict[int, str]()
    for after, (line, record, fault) in read_lines(read, rest):
        heads.append(after.chain.head)
        lost = isinstance(record.entry, Charge) and record.entry.kind is ChargeKind.LOST
        if lost or isinstance(record.entry, Covered):
            torn.append(line)
        if fault is not None:
            broken[line] = fault
        books._take_in(line, record, fault)
    works, unread = tuple(books._reservations.values()), tuple(books._unread)
    return Examined(len(heads) - 2, tuple(torn), broken, unread, works, tuple(heads), books._limit, books)
