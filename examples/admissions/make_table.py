"""Make admissions.csv: 12,000 invented admissions of an invented hospital, as its system exports them.

`python make_table.py` writes the file into the working directory. Semicolons, decimal commas, four markers for what is
missing, several spellings, dates in two forms, diagnosis codes, and several rows a patient: each on purpose.
"""

from __future__ import annotations

import csv
import datetime
import random

ADMISSIONS, PATIENTS = 12_000, 5_000
COLUMNS = ("patient_no", "admitted", "age", "sex", "ward", "diagnosis", "weight", "days", "readmitted")
MARKERS = ("NA", "-", "?", "999")
SEX = {"female": ("f", "F", "W", "female"), "male": ("m", "M", "male")}
WARDS = ("medicine", "surgery", "cardiology")
CODES = {"I21": ("I21.0", "I21.4", "I21.9"), "I50": ("I50.0", "I50.1"), "J18": ("J18.0", "J18.9"), "S72": ("S72.00",)}
YES_NO = {"yes": ("yes", "Y", "1"), "no": ("no", "N", "0")}


def clean(seed: int = 12) -> list[dict[str, object]]:
    """What is true, one admission each; None is missing."""
    draw = random.Random(seed)
    born = {f"P{number:05}": draw.randrange(18, 96) for number in range(PATIENTS)}
    rows: list[dict[str, object]] = []
    for _ in range(ADMISSIONS):
        patient = draw.choice(list(born)) if not rows or draw.random() < 0.8 else str(rows[-1]["patient_no"])
        age, code, days = born[patient], draw.choice(list(CODES)), min(60, 1 + int(draw.expovariate(0.15)))
        risk = 0.1 + 0.35 * (age > 65) + 0.25 * (code == "I50") + 0.15 * (days > 10)
        rows.append(
            {
                "patient_no": patient,
                "admitted": datetime.date(2022, 1, 1) + datetime.timedelta(days=draw.randrange(1000)),
                "age": None if draw.random() < 0.04 else age,
                "sex": draw.choice(list(SEX)) if draw.random() > 0.03 else None,
                "ward": draw.choice(WARDS),
                "diagnosis": code,
                "weight": None if draw.random() < 0.05 else round(draw.gauss(76, 14), 1),
                "days": days,
                "readmitted": "yes" if draw.random() < risk else "no",
            }
        )
    return rows


def messy(rows: list[dict[str, object]], seed: int = 13) -> list[list[str]]:
    """The same rows as the system writes them."""
    draw = random.Random(seed)

    def cell(name: str, value: object) -> str:
        if value is None:
            return draw.choice(MARKERS if name == "age" else MARKERS[:3])
        if isinstance(value, datetime.date):
            return value.strftime(draw.choice(("%d.%m.%Y", "%Y-%m-%d")))
        if name == "ward":
            return draw.choice((str(value), str(value).upper(), f" {str(value).title()} "))
        among = {"sex": SEX, "diagnosis": CODES, "readmitted": YES_NO}.get(name)
        if among is not None:
            return draw.choice(among[str(value)])
        return str(value).replace(".", ",")

    return [[cell(name, row[name]) for name in COLUMNS] for row in rows]


if __name__ == "__main__":
    with open("admissions.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([COLUMNS, *messy(clean())])
