"""The dialogue of ``privet schema edit``: ask for public facts column by column, and save after each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import typer

from privet.cli.output import complain, say
from privet.cli.unit_question import ask_unit
from privet.errors import ParameterError, SchemaError
from privet.models.drafts import why

T = TypeVar("T")

UNCONFIRMED = "unconfirmed"
INTERRUPTED = 130  # what shells report for SIGINT
BASES = {
    "documented": "it is written down: a codebook, a form, a manual",
    "meaning": "it follows from what the column is: an age is 0 to 120",
    "round": "a guess of somebody who has seen the data; certificates say so",
}
WELCOME = f"""\
Public facts only: what everyone may know before anyone looks into the table.
Answer from documents and from the meaning of a column; no table is read here.
Enter takes what stands in brackets. Instead of an answer you can say

  :again  to begin the column again        :drop  to take it out of the schema
  :skip   to come back to it later         :stop  to leave; answers are saved

A list is separated by commas: +a, b adds to the one in brackets, -a, b takes
away from it. "How do you know?" is answered by one of these words, or in your
own words, which certificates quote:

{"".join(f"  {name:12}{what}{chr(10)}" for name, what in BASES.items())}"""
KINDS = {"number": "continuous", "list": "categorical"}
KIND_WORDS = {kind: word for word, kind in KINDS.items()}


class Stop(Exception):
    """Leave the dialogue; what is confirmed is saved."""


class Skip(Exception):
    """Go to the next column."""


class Again(Exception):
    """Ask about the column from its first question."""


class Drop(Exception):
    """Take the column out of the schema."""


COMMANDS = {":stop": Stop, ":quit": Stop, ":skip": Skip, ":again": Again, ":back": Again, ":drop": Drop}


class Editor:
    """A schema file that is being edited. Each save replaces the whole file at once."""

    def __init__(self, file: Path, everything: bool = False) -> None:
        from privet.schema.written import read_facts

        self.file = file
        self.everything = everything
        self.facts: dict[str, Any] = read_facts(file) if file.exists() else {}
        listed = self.facts.get("attributes") or [] if isinstance(self.facts, dict) else None
        if not isinstance(listed, list):
            raise SchemaError(f"{str(file)!r} holds no schema; see `privet schema keys`")
        if any(not isinstance(one, dict) or not isinstance(one.get("name"), str) for one in listed):
            raise SchemaError(f"every attribute in {str(file)!r} must be an object with a name; correct that by hand")

    def run(self) -> None:
        """Run the dialogue. The exit code is 0 if the schema is complete, 1 if not, 130 after Ctrl-C."""
        from privet.schema.written import schema_of

        print(WELCOME)
        try:
            while not self._begun():
                print("  That can be said of a column, and comes later.")
            self._attributes()
            self._class()
            self._unit()
        except (Stop, EOFError):
            print()
        except KeyboardInterrupt:
            print()
            say(self._left())
            raise typer.Exit(INTERRUPTED) from None
        if self._waiting():
            complain(self._left())
            raise typer.Exit(1)
        print(f"\n{schema_of(self.facts)}\nThe schema is complete: {self.file}. See whether the table keeps to it:")
        print(f"  privet schema check TABLE --schema {self.file}")

    def _waiting(self) -> list[str]:
        waiting = [one["name"] for one in self.facts.get("attributes", []) if not _is_whole(one)]
        return waiting + ([] if self._class_is_whole() else [self.facts.get("class") or "the class"])

    def _left(self) -> str:
        return (
            f"still to do: {', '.join(self._waiting()) or 'nothing'}. What is confirmed is saved; to go on, run "
            f"`privet schema edit {self.file}` again"
        )

    def save(self) -> None:
        """Replace the whole file, or leave the old one."""
        from privet.models.drafts import Draft
        from privet.schema.written import facts_text

        try:
            with Draft(self.file) as draft:
                draft.save(facts_text(self.facts, self.file), replace=True)
        except OSError as error:
            raise ParameterError(f"cannot write the schema {str(self.file)!r}: {why(error)}") from error

    # -- the parts of the dialogue ---------------------------------------------------------------------------------

    def _begun(self) -> bool:
        """Ask the first questions; False if the answer was a command for columns."""
        try:
            self._begin()
        except (Again, Skip, Drop):
            return False
        return True

    def _begin(self) -> None:
        """Ask for the names of the columns, and for the one to predict."""
        if not self.facts.get("attributes"):
            names = ask("Which columns does the table have, in any order, separated by commas?", _words)
            self.facts = {"name": self.file.name.split(".")[0]} | self.facts
            self.facts |= {"attributes": [{"name": name, "type": None, "basis": UNCONFIRMED} for name in names]}
            self.facts |= {"class": None, "labels": None, "labels_basis": UNCONFIRMED}
            self.save()
        if not self.facts.get("class"):
            names = [one["name"] for one in self.facts["attributes"]]
            label = ask(f"Which column is to be predicted? One of {', '.join(names)}", _one_of(names))
            (facts,) = (one for one in self.facts["attributes"] if one["name"] == label)
            self.facts["attributes"] = [one for one in self.facts["attributes"] if one is not facts]
            self.facts |= {"class": label, "labels": facts.get("values"), "labels_basis": UNCONFIRMED}
            self.save()

    def _attributes(self) -> None:
        asked = [one for one in self.facts["attributes"] if self.everything or not _is_whole(one)]
        for number, facts in enumerate(asked, start=1):
            print(f"\n{number} of {len(asked) + 1}: {facts['name']}")
            place = next(i for i, one in enumerate(self.facts["attributes"]) if one is facts)
            try:
                self.facts["attributes"][place] = _until_whole(facts)
            except Skip:
                continue
            except Drop:
                del self.facts["attributes"][place]
            self.save()

    def _class(self) -> None:
        if self._class_is_whole() and not self.everything:
            return
        print(f"\nThe class: {self.facts['class']}")
        try:
            labels = _asked_labels(self.facts.get("labels"))
            self.facts |= {"labels": labels, "labels_basis": _ask_basis(self.facts.get("labels_basis"))}
            self.save()
        except Again:
            self._class()
        except (Skip, Drop):
            return

    def _unit(self) -> None:
        if "unit" in self.facts and not self.everything:
            return
        try:
            self.facts = ask_unit(self.facts, ask, _one_of)
            self.save()
        except Again:
            self._unit()
        except (Skip, Drop):
            return

    def _class_is_whole(self) -> bool:
        labels = self.facts.get("labels")
        known = None not in (labels.get("min"), labels.get("max")) if isinstance(labels, dict) else bool(labels)
        return bool(self.facts.get("class") and known) and self.facts.get("labels_basis") != UNCONFIRMED


def _until_whole(facts: dict[str, Any]) -> dict[str, Any]:
    """Ask for the facts of one column, again if they contradict each other."""
    while True:
        try:
            given = _asked(facts)
        except Again:
            continue
        if (fault := _fault(given)) is None:
            return given
        print(f"  {fault}")


def _asked_labels(old: Any) -> Any:
    """The classes of a list, or the bounds of a number to predict."""
    words = list(KINDS)
    is_number = isinstance(old, dict) and KINDS[ask("Predict a number, or one of a list?", _one_of(words), words[0])]
    if is_number == "continuous":
        while True:
            facts = _asked_number(old)
            if facts["min"] < facts["max"]:
                return facts
            print("  the least value must be below the greatest")
    known = old if isinstance(old, list) else None
    return ask("Every value it can have, two at least", _list(known), _written(known))


def _asked_number(old: dict[str, Any]) -> dict[str, Any]:
    """Bounds, whole or not, and the marker of a missing value."""
    facts: dict[str, Any] = {"min": ask("The least value that can be?", _number, old.get("min"))}
    facts["max"] = ask("The greatest value that can be?", _number, old.get("max"))
    if ask("Whole numbers only?", _one_of(["yes", "no"]), "yes" if old.get("integer") else "no") == "yes":
        facts["integer"] = True
    before = old.get("missing", "-")
    shown = _written(before) if isinstance(before, list) else str(before)
    marker = ask("What stands for a missing value? Several by commas (- if none can be missing)", str, shown)
    if marker == shown:  # -999 stays a number
        return facts | ({} if marker == "-" else {"missing": before})
    several = [word.strip() for word in marker.split(",") if word.strip()]
    return facts if marker == "-" else facts | {"missing": several if len(several) > 1 else marker}


def _asked(old: dict[str, Any]) -> dict[str, Any]:
    kind = KINDS[ask("A number, or one of a list?", _one_of(list(KINDS)), KIND_WORDS.get(old.get("type") or ""))]
    facts: dict[str, Any] = {"name": old["name"], "type": kind}
    kept: tuple[str, ...]  # not asked for, and kept
    if kind == "categorical":
        values = old.get("values")
        facts["values"] = ask('Every value that can occur, "?" for all others', _list(values), _written(values))
        kept = ("other",) if old.get("other") in facts["values"] else ()
        kept += ("missing", "spellings", "fold", "prefix")
    else:
        facts |= _asked_number(old)
        kept = ("thresholds", "bins")
    kept += ("from", "date")
    facts |= {key: old[key] for key in kept if old.get(key) is not None}
    return facts | {"basis": _ask_basis(old.get("basis"))}


def _ask_basis(old: str | None) -> str:
    known = None if old == UNCONFIRMED else old
    return ask(f"How do you know? ({', '.join(BASES)} or your own words)", _basis, known)


def _is_whole(facts: dict[str, Any]) -> bool:
    return facts.get("basis") != UNCONFIRMED and _fault(facts) is None


def _fault(facts: dict[str, Any]) -> str | None:
    from privet.schema.written import attribute_of

    try:
        attribute_of(facts)
    except SchemaError as error:
        return str(error)
    return None


# ---- questions and the parsing of answers --------------------------------------------------------------------------


def ask(question: str, read: Callable[[str], T], default: Any = None) -> T:
    """Ask until the answer can be parsed. Enter takes the default, if there is one."""
    while True:
        shown = "" if default is None else f" [{default}]"
        answer = input(f"  {question}{shown} ").strip()
        if answer in COMMANDS:
            raise COMMANDS[answer]
        if not answer and default is not None:
            answer = str(default)
        try:
            return read(answer)
        except ValueError as error:
            print(f"  {error}")


def _number(answer: str) -> float | int:
    try:
        number = float(answer)
    except ValueError:
        comma = ", with a decimal point" if "," in answer else ""
        raise ValueError(f"a number is needed{comma}, such as 0 or 2.5") from None
    return int(number) if number.is_integer() else number


def _one_of(words: list[str]) -> Callable[[str], str]:
    def read(answer: str) -> str:
        if answer in words:
            return answer
        near = [word for word in words if answer and word.lower().startswith(answer.lower())]
        if len(near) != 1:
            raise ValueError(f"one of {', '.join(words)} is needed")
        return near[0]

    return read


def _words(answer: str) -> list[str]:
    words = [word.strip() for word in answer.split(",") if word.strip()]
    if len(words) < 2 or len(set(words)) < len(words):
        raise ValueError("at least two are needed, separated by commas, none of them twice")
    return words


def _written(values: list[Any] | None) -> str | None:
    return ", ".join(map(str, values)) if values else None


def _list(old: list[Any] | None) -> Callable[[str], list[Any]]:
    """A parser of value lists. A leading plus or minus changes the old list. Old values keep their types."""
    before = list(old or [])
    known = {str(value): value for value in before}

    def read(answer: str) -> list[Any]:
        if answer == _written(before):  # also if a value holds a comma
            return before
        sign, rest = (answer[0], answer[1:]) if before and answer[:1] in ("+", "-") else ("", answer)
        given = [known.get(word.strip(), word.strip()) for word in rest.split(",") if word.strip()]
        values = {"+": [*before, *(v for v in given if v not in before)], "-": [v for v in before if v not in given]}
        chosen = values.get(sign, given)
        if not chosen or len(set(map(str, chosen))) < len(chosen):
            raise ValueError("at least one value is needed, and none of them twice")
        return chosen

    return read


def _basis(answer: str) -> str:
    near = [name for name in BASES if answer and name.startswith(answer.lower())]
    if len(near) == 1:
        return near[0]
    if not answer or answer == UNCONFIRMED:
        raise ValueError("say where the facts come from: without that no fit takes the schema")
    return answer
