"""Questions in a terminal: ask until the answer can be parsed, or until it is a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Stop(Exception):
    """Leave the dialogue; what is confirmed is saved."""


class Skip(Exception):
    """Go to the next column."""


class Again(Exception):
    """Ask about the column from its first question."""


class Back(Exception):
    """Go back to the column before."""


class Page(Exception):
    """Show what is decided."""


class Go(Exception):
    """Go to the column of that name or number, and come back."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.target = target


class Drop(Exception):
    """Take the column out of the schema."""


COMMANDS = {
    ":stop": Stop,
    ":quit": Stop,
    ":skip": Skip,
    ":again": Again,
    ":back": Back,
    ":page": Page,
    ":drop": Drop,
}


def ask(question: str, read: Callable[[str], T], default: Any = None) -> T:
    """Ask until the answer can be parsed. Enter takes the default, if there is one."""
    while True:
        shown = "" if default is None else f" [{default}]"
        answer = input(f"  {question}{shown} ").strip()
        if answer in COMMANDS:
            raise COMMANDS[answer]
        if answer.startswith(":go "):
            raise Go(answer.removeprefix(":go ").strip())
        if not answer and default is not None:
            answer = str(default)
        try:
            return read(answer)
        except ValueError as error:
            print(f"  {error}")


def read_number(answer: str) -> float | int:
    try:
        number = float(answer)
    except ValueError:
        comma = ", with a decimal point" if "," in answer else ""
        raise ValueError(f"a number is needed{comma}, such as 0 or 2.5") from None
    return int(number) if number.is_integer() else number


def one_of(words: list[str]) -> Callable[[str], str]:
    def read(answer: str) -> str:
        if answer in words:
            return answer
        near = [word for word in words if answer and word.lower().startswith(answer.lower())]
        if len(near) != 1:
            raise ValueError(f"one of {', '.join(words)} is needed")
        return near[0]

    return read


def read_words(answer: str) -> list[str]:
    words = [word.strip() for word in answer.split(",") if word.strip()]
    if len(words) < 2 or len(set(words)) < len(words):
        raise ValueError("at least two are needed, separated by commas, none of them twice")
    return words


def written(values: list[Any] | None) -> str | None:
    return ", ".join(map(str, values)) if values else None


def read_list(old: list[Any] | None) -> Callable[[str], list[Any]]:
    """A parser of value lists. A leading plus or minus changes the old list. Old values keep their types."""
    before = list(old or [])
    known = {str(value): value for value in before}

    def read(answer: str) -> list[Any]:
        if answer == written(before):  # also if a value holds a comma
            return before
        sign, rest = (answer[0], answer[1:]) if before and answer[:1] in ("+", "-") else ("", answer)
        given = [known.get(word.strip(), word.strip()) for word in rest.split(",") if word.strip()]
        values = {"+": [*before, *(v for v in given if v not in before)], "-": [v for v in before if v not in given]}
        chosen = values.get(sign, given)
        if not chosen or len(set(map(str, chosen))) < len(chosen):
            raise ValueError("at least one value is needed, and none of them twice")
        return chosen

    return read
