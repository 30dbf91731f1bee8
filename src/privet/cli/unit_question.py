"""The questions of ``privet schema edit`` about whom epsilon protects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privet.schema.facts import MAX_ROWS

Ask = Callable[..., Any]


def ask_unit(facts: dict[str, Any], ask: Ask, one_of: Callable[[list[str]], Callable[[str], str]]) -> dict[str, Any]:
    """The facts with the unit that the owner names; ``"unit": null`` says that each person has one row.

    No number of rows is proposed: one that was read off the data would be a fact about them.
    """
    print("\nWhom does epsilon protect?")
    if ask("Can one person have several rows? (yes, no)", one_of(["yes", "no"])) == "no":
        print("  Epsilon protects one row. A person with k rows is protected at k times epsilon.")
        return facts | {"unit": None}
    name = ask("Which column says who?", _named)
    most = ask("How many rows of each are used at most? Fewer is better: each gets its share of epsilon.", _rows)
    left = [one for one in facts.get("attributes", []) if name not in (one.get("name"), one.get("from"))]
    if len(left) < len(facts.get("attributes", [])):
        print(f"  {name} is taken out of the attributes: nothing is learned from a name.")
    print(f"  Epsilon protects all rows of one {name}. At most {most} of them are used, each with 1/{most} of epsilon.")
    return facts | {"attributes": left, "unit": {"name": name, "max_rows": most}}


def _named(answer: str) -> str:
    if not answer:
        raise ValueError("name the column, spelt as in the table's header")
    return answer


def _rows(answer: str) -> int:
    if not answer.isdecimal() or not 1 <= int(answer) <= MAX_ROWS:
        raise ValueError(f"a whole number from 1 to {MAX_ROWS} is needed")
    return int(answer)
