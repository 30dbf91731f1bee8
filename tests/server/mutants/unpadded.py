"""A planted fault: answers leave, and slots are free, as soon as the work is done."""

from __future__ import annotations

import privet.privacy.books.release as release
import privet.privacy.books.work as work
import privet.server.slots as slots
from privet.cli import main


def at_once(begun: float, seconds: float, rung: int) -> float:
    return begun + (0 if rung == 0 else work.RUNGS[rung] * seconds)


release.due_at = at_once  # what is stored is due
slots.wait_until = lambda moment, stopped: None

if __name__ == "__main__":
    main()
