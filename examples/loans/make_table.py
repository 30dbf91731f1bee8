"""Make loans.csv: invented loans of an invented bank. `python make_table.py`; the file beside is what it wrote."""

from __future__ import annotations

import csv
import random
from pathlib import Path

LOANS = 3000
COLUMNS = ("id", "opened", "income", "amount", "years_employed", "purpose", "late_payments", "defaulted")
PURPOSES = ("car", "car", "home", "study", "other")


def loans(seed: int = 4) -> list[tuple[object, ...]]:
    """Who pays back? A large loan for a small income, and payments that came late, tell a good deal."""
    draw = random.Random(seed)
    rows: list[tuple[object, ...]] = []
    for number in range(LOANS):
        income = round(draw.lognormvariate(10.3, 0.5), -2)
        amount = round(draw.lognormvariate(9.2, 0.7), -2)
        years = min(40, int(draw.expovariate(0.15)))
        purpose = draw.choice(PURPOSES)
        late = min(12, int(draw.expovariate(0.8)))
        risk = 0.06 + 0.45 * (amount > 0.45 * income) + 0.45 * (late >= 2) - 0.04 * (years > 8)
        opened = f"20{draw.randint(18, 23)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        told = int(income) if draw.random() > 0.04 else ""  # some did not say
        defaulted = "yes" if draw.random() < risk else "no"
        rows.append((10_000 + number, opened, told, int(amount), years, purpose, late, defaulted))
    return rows


if __name__ == "__main__":
    with open(Path(__file__).with_name("loans.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(loans())
