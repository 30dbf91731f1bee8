"""The dialogue of ``privet schema edit``: ask for public facts column by column, and save after each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from privet.cli.dialogue import (
    Again,
    Back,
    Drop,
    Go,
    Page,
    Skip,
    Stop,
    ask,
    one_of,
    read_list,
    read_number,
    read_words,
    written,
)
from privet.cli.output import complain, say
from privet.cli.overview import overview
from privet.cli.spellings_question import ask_spellings
from privet.cli.unit_question import ask_unit
from privet.errors import ParameterError, SchemaError
from privet.models.drafts import why

UNCONFIRMED = "unconfirmed"
INTERRUPTED = 130  # what shells report for SIGINT
BASES = {
    "documented": "it is written down: a codebook, a form, a manual",
    "meaning": "it follows from the meaning of the column: an age is 0 to 120",
    "round": "a guess by someone who has seen the data; certificates say so",
}
WELCOME = f"""\
Public facts only: what everyone may know before anyone looks into the table.
Answer from documents and from the meaning of a column; no table is read here.
Enter accepts the answer in brackets. Instead of an answer you can type

  :again  to begin the column again        :drop  to take it out of the schema
  :back   to go to the column before       :go C  to go to column C and come back
  :skip   to come back to it later         :page  to see what is decided
  :stop   to leave; answers are saved, and the next edit goes on from there

A list is separated by commas: +a, b adds to the one in brackets, -a, b takes
away from it. "How do you know?" is answered by one of these words, or in your
own words, which certificates quote:

{"".join(f"  {name:12}{what}{chr(10)}" for name, what in BASES.items())}"""
COLUMN, CLASS, UNIT = "column", "class", "unit"  # kinds of steps
Step = tuple[str, str]
"""What is asked for: its kind, and the name of a column."""
KINDS = {"number": "continuous", "list": "categorical"}
KIND_WORDS = {kind: word for word, kind in KINDS.items()}


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
            if any(_is_whole(one) for one in self.facts["attributes"]):
                self._show()
            self._walk()
        except (Stop, EOFError):
            print()
        except KeyboardInterrupt:
            print()
            say(self._left())
            raise typer.Exit(INTERRUPTED) from None
        if self._waiting():
            complain(self._left())
            raise typer.Exit(1)
        self._show()
        print(f"\n{schema_of(self.facts)}\nThe schema is complete: {self.file}. Check whether the table follows it:")
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
        except (Again, Back, Drop, Go, Page, Skip):
            return False
        return True

    def _begin(self) -> None:
        """Ask for the names of the columns, and for the one to predict."""
        if not self.facts.get("attributes"):
            names = ask("Which columns does the table have, in any order, separated by commas?", read_words)
            self.facts = {"name": self.file.name.split(".")[0]} | self.facts
            self.facts |= {"attributes": [{"name": name, "type": None, "basis": UNCONFIRMED} for name in names]}
            self.facts |= {"class": None, "labels": None, "labels_basis": UNCONFIRMED}
            self.save()
        if not self.facts.get("class"):
            names = [one["name"] for one in self.facts["attributes"]]
            label = ask(f"Which column is to be predicted? One of {', '.join(names)}", one_of(names))
            (facts,) = (one for one in self.facts["attributes"] if one["name"] == label)
            self.facts["attributes"] = [one for one in self.facts["attributes"] if one is not facts]
            self.facts |= {"class": label, "labels": facts.get("values"), "labels_basis": UNCONFIRMED}
            self.save()

    def _walk(self) -> None:
        """Ask for all that is missing: columns, then the class, then the unit. Steps can be gone back to."""
        steps = [(COLUMN, one["name"]) for one in self.facts["attributes"] if self.everything or not _is_whole(one)]
        steps += [(CLASS, "")] if self.everything or not self._class_is_whole() else []
        steps += [(UNIT, "")] if self.everything or "unit" not in self.facts else []
        place = 0
        while place < len(steps):
            try:
                self._ask(steps[place], f"{place + 1} of {len(steps)}")
                place += 1
            except Skip:
                place += 1
            except Drop:
                self._drop(steps[place])
                place += 1
            except Back:
                if place:
                    place -= 1
                elif (before := self._before(steps[0])) is not None:
                    steps.insert(0, before)
                else:
                    print("  There is nothing before this.")
            except Page:
                self._show()
            except Go as asked:
                if (found := self._found(asked.target)) is None:
                    print("  There is no such column; :page lists them.")
                else:
                    steps.insert(place, found)
            except Again:
                continue

    def _ask(self, step: Step, number: str) -> None:
        """One step, whether it is decided already or not."""
        kind, name = step
        if kind == COLUMN:
            print(f"\n{number}: {name}")
            place = self._columns().index(name)
            self.facts["attributes"][place] = _until_whole(self.facts["attributes"][place])
        elif kind == CLASS:
            print(f"\n{number}, the class: {self.facts['class']}")
            labels = _asked_labels(self.facts.get("labels"))
            self.facts |= {"labels": labels, "labels_basis": _ask_basis(self.facts.get("labels_basis"))}
        else:
            self.facts = ask_unit(self.facts, ask, one_of)
        self.save()

    def _drop(self, step: Step) -> None:
        if step[0] == COLUMN:
            del self.facts["attributes"][self._columns().index(step[1])]
            self.save()

    def _before(self, step: Step) -> Step | None:
        """What stands before a step in the file, decided or not."""
        every = self._every()
        return every[every.index(step) - 1] if step in every[1:] else None

    def _found(self, target: str) -> Step | None:
        """The step of a name, or of a number of the page."""
        every = self._every()
        if target.isdecimal() and 1 <= int(target) <= len(every):
            return every[int(target) - 1]
        named = [step for step in every if target in (step[1] if step[0] == COLUMN else step[0], f"the {step[0]}")]
        return (CLASS, "") if target == self.facts["class"] else named[0] if named else None

    def _every(self) -> list[Step]:
        return [*((COLUMN, name) for name in self._columns()), (CLASS, ""), (UNIT, "")]

    def _columns(self) -> list[str]:
        return [one["name"] for one in self.facts["attributes"]]

    def _show(self) -> None:
        print(f"\n{overview(self.facts, _is_whole, class_is_whole=self._class_is_whole())}")

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
    is_number = isinstance(old, dict) and KINDS[ask("Predict a number, or one of a list?", one_of(words), words[0])]
    if is_number == "continuous":
        while True:
            facts = _asked_number(old)
            if facts["min"] < facts["max"]:
                return facts
            print("  the least value must be below the greatest")
    known = old if isinstance(old, list) else None
    return ask("Every value it can have, two at least", read_list(known), written(known))


def _asked_number(old: dict[str, Any]) -> dict[str, Any]:
    """Bounds, whole or not, and the marker of a missing value."""
    facts: dict[str, Any] = {"min": ask("The least possible value?", read_number, old.get("min"))}
    facts["max"] = ask("The greatest possible value?", read_number, old.get("max"))
    if ask("Whole numbers only?", one_of(["yes", "no"]), "yes" if old.get("integer") else "no") == "yes":
        facts["integer"] = True
    before = old.get("missing", "-")
    shown = written(before) if isinstance(before, list) else str(before)
    marker = ask("Which texts mean a missing value? Separate several by commas (- if none can be missing)", str, shown)
    if marker == shown:  # -999 stays a number
        return facts | ({} if marker == "-" else {"missing": before})
    several = [word.strip() for word in marker.split(",") if word.strip()]
    return facts if marker == "-" else facts | {"missing": several if len(several) > 1 else marker}


def _asked(old: dict[str, Any]) -> dict[str, Any]:
    kind = KINDS[ask("A number, or one of a list?", one_of(list(KINDS)), KIND_WORDS.get(old.get("type") or ""))]
    facts: dict[str, Any] = {"name": old["name"], "type": kind}
    kept: tuple[str, ...]  # not asked for, and kept
    if kind == "categorical":
        values = old.get("values")
        facts["values"] = ask('Every value that can occur, "?" for all others', read_list(values), written(values))
        facts |= ask_spellings(facts["values"], old, ask)
        kept = ("other",) if old.get("other") in facts["values"] else ()
        kept += ("prefix",)
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


def _basis(answer: str) -> str:
    near = [name for name in BASES if answer and name.startswith(answer.lower())]
    if len(near) == 1:
        return near[0]
    if not answer or answer == UNCONFIRMED:
        raise ValueError("say where the facts come from: without that no fit takes the schema")
    return answer
