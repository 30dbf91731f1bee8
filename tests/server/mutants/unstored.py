"""A planted fault: an answer is shown from memory, and stored a little later."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import privet.privacy.books.release as release
from privet.cli import main
from privet.server.slots import Slots

store, released = Slots.store, release.released
shown: dict[str, str | None] = {}


def late(self: Slots, job: str, attempt: int, answer: str | None, rung: int) -> bool:
    shown[job] = answer
    time.sleep(3)
    return store(self, job, attempt, answer, rung)


def early(books: Any, job: str, person: str, now: float, *, with_answer: bool = True) -> Any:
    view = released(books, job, person, now, with_answer=with_answer)
    if view is not None and view.state == "running" and shown.get(job) is not None:
        return replace(view, state="done", answer=shown[job])
    return view


Slots.store = late  # type: ignore[method-assign]
release.released = early

if __name__ == "__main__":
    main()
