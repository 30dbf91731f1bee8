"""The owner's way: from the first start to a registered table and an analyst who may ask, all by clicks."""

from __future__ import annotations

import random
import re
from pathlib import Path

from walking import FirstHouse, Walker

SCRIPT = "<script>alert(1)</script>"
TURNED = "\u05d2\u05d9\u05dc \u202eabc"  # from right to left, and a control character for directions
HOSTILE = (SCRIPT, TURNED, "x" * 300)
PLAIN = ("ward", "insured", "visit")
MARKERS = ("NA", "-", "?", "", "n/a")


def messy_file(folder: Path, names: tuple[str, str, str] = HOSTILE, patients: int = 200) -> Path:
    """Semicolons, decimal commas, several markers of missing values, several spellings, three rows a person."""
    dice = random.Random(1)
    lines = [";".join(("patient_nr", "age", "crp", "sex", *names, "readmitted"))]
    for i in range(3 * patients):
        crp = dice.choice(MARKERS) if dice.random() < 0.1 else f"{dice.uniform(0, 90):.1f}".replace(".", ",")
        sex = dice.choice(("f", "F", "female", "m", "M", "n/a"))
        row = (str(i // 3), str(dice.randint(18, 95)), crp, sex, dice.choice("abc"), dice.choice(("yes", "no")))
        lines.append(";".join((*row, dice.choice("pqr"), dice.choice(("yes", "no")))))
    path = folder / "Visits 2026.csv"
    path.write_text("\ufeff" + "\r\n".join(lines) + "\r\n", "utf-8")
    return path


def walk(owner: Walker, house: FirstHouse, file: Path) -> str:
    """Walk all of it, and look at every screen; returns the new analyst's key."""
    owner.go("/").look("sign-in")
    owner.go(house.link).look("welcome")
    owner.open_link("Add a population").look("population-new")
    owner.fill(title="Patients of Clinic North", unit="patient", epsilon="2").submit("Promise").look("population-empty")
    owner.open_link("Add a table").look("file")
    owner.page.set_input_files("input[type=file]", str(file))
    owner.submit("Send").look("draft-new")
    describe_table(owner)
    owner.look("draft")
    owner.open_link("Describe the next").look("column-number")
    while "/columns/" in owner.page.url:
        describe_column(owner)
        assert owner.status == 200, owner.text
    owner.submit("Check").look("draft-checked")
    assert "All 600 records follow what you said" in owner.text
    owner.submit("Register").look("table")
    owner.open_link("Patients of Clinic North")
    owner.fill(who="ben", epsilon="0.4").submit("What does").look("population-buys")
    assert "off by at most 180" in owner.text  # 8 questions, 3 rows of each: 8 * 3 * ln(20) / 0.4
    owner.submit("Grant it").look("population-key")
    found = re.search(r"privet_[0-9a-f]{8}_[\w-]{43}", owner.text)
    assert found is not None
    return found[0]


def describe_table(owner: Walker) -> None:
    owner.page.select_option("[name=label]", "readmitted")
    owner.choose("several", "yes")
    owner.page.select_option("[name=unit]", "patient_nr")
    owner.fill(max_rows="3", most_records="10000").submit("Save")


def describe_column(owner: Walker) -> None:
    """Say what is public about the column on the screen."""
    match owner.page.inner_text("h1"):
        case "age":
            owner.fill(low="0", high="120").choose("basis", "meaning")
        case "crp":
            assert "where missing" in owner.text  # several markers were seen, for the owner's eyes
            owner.fill(low="0", high="500", missing=", ".join(filter(None, MARKERS))).choose("basis", "own")
            owner.fill(why="the device shows 0 to 500")
        case "sex":
            owner.fill(values="female\nmale\n?", spellings="female: f; male: m", missing="n/a")
            owner.page.check("#fold")
            owner.choose("basis", "documented").look("column-list")
        case _:
            owner.choose("basis", "documented")
    owner.submit("Save, and go on")
