"""What an owner should do: late answers, bounds without a reason, frozen populations, old copies of the books."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from privet.markup import Html
from privet.privacy.books.storage import Books
from privet.server.pages.budgets import Budget
from privet.server.pages.texts import say
from privet.server.service import Service

OLD = 7 * 86_400  # seconds: a week of questions is much to settle by hand
SHOWN = 5  # columns that a line names
BACKUP = "backup"  # the fact with the time of the last copy


@dataclass(frozen=True, slots=True)
class ToDo:
    """A line of the list: what, why, and where to do it. ``post`` is a path of a form with one button."""

    title: Html
    text: Html
    link: Html
    path: str = ""
    post: str = ""


def things_to_do(here: Service, found: Sequence[Budget]) -> list[ToDo]:
    items = [item for one in found for item in of_population(one)]
    return items + _backup(here, any(one.tables for one in found))


def of_population(budget: Budget) -> list[ToDo]:
    """What there is to do about one population."""
    where, items = f"/owner/populations/{budget.id}", list[ToDo]()
    if budget.frozen is not None:
        why = say(f"todo.frozen.{budget.frozen}")
        items.append(ToDo(say("todo.frozen", title=budget.title), why, say("todo.frozen.link"), f"{where}#settle"))
    for table in budget.tables:
        path = f"/owner/tables/{table['id']}"
        if table["state"] != "closed" and table["missed"]:
            kind = "paused" if table["state"] == "paused" else "late"
            facts = say(f"todo.{kind}.why", count=table["missed"])
            title = say("todo.late", table=table["id"])
            items.append(ToDo(title, facts, say("todo.late.link"), post=f"{path}/rehearse"))
        if table["state"] != "closed" and (names := without_reason(table["schema"])):
            listed = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
            title = say("todo.basis", table=table["id"])
            items.append(ToDo(title, say("todo.basis.why", columns=listed), say("todo.basis.link"), f"{path}#why"))
    return items


def without_reason(schema: dict[str, object]) -> list[str]:
    """The columns of a schema about which nobody said why their bounds or values are public."""
    attributes = schema["attributes"]
    assert isinstance(attributes, list)
    names = [str(one["name"]) for one in attributes if not one.get("basis")]
    return names if schema.get("labels_basis") else [*names, str(schema["class"])]


def last_backup(books: Books) -> float | None:
    """When the last copy of the books was made by this server."""
    rows = books.read("SELECT value FROM facts WHERE name = ?", BACKUP)
    return float(rows[0][0]) if rows else None


def _backup(here: Service, used: bool) -> list[ToDo]:
    if here.books.engine != "sqlite" or not used:
        return []
    last, link = last_backup(here.books), say("todo.backup.link")
    if last is None:
        return [ToDo(say("todo.backup.never"), say("todo.backup.why"), link, "/owner/server#backup")]
    days = int((time.time() - last) // 86_400)
    if time.time() - last < OLD:
        return []
    return [ToDo(say("todo.backup.old", days=days), say("todo.backup.why"), link, "/owner/server#backup")]
