"""Make orders.csv: invented orders of an invented shop. `python make_table.py`; the file beside is what it wrote.

It is written as a spreadsheet in Vienna would save it: UTF-8 with a mark, semicolons, decimal commas, dates with dots.
"""

from __future__ import annotations

import csv
import datetime
import math
import random
from pathlib import Path

ORDERS = 3000
COLUMNS = (
    "Customer no",
    "Order date",
    "Age",
    "Basket (EUR)",
    "Country",
    "Channel",
    "Visits",
    "Size",
    "Returned",
)


def orders(seed: int = 7) -> list[tuple[object, ...]]:
    """Who sends it back? Large baskets from the web tell a good deal; those who came often keep what they bought."""
    draw = random.Random(seed)
    rows: list[tuple[object, ...]] = []
    for number in range(ORDERS):
        day = datetime.date(2023, 1, 1) + datetime.timedelta(days=draw.randrange(700))
        age = max(18, min(95, int(draw.gauss(48, 17))))
        basket = draw.lognormvariate(3.9, 0.8)
        country = draw.choices(("Österreich", "Deutschland", "Schweiz", "Italia"), (5, 8, 2, 1))[0]
        channel = draw.choices(("shop", "web", "phone"), (5, 8, 1))[0]
        visits = min(40, int(draw.expovariate(1 / 4)))
        size = draw.choice(("S", "M", "L", "XL")) if draw.random() > 0.06 else "n/a"
        told = age if draw.random() > 0.04 else "n/a"  # some did not say
        odds = -1.6 + 1.4 * (channel == "web") + 0.02 * (basket - 50) - 0.25 * (visits - 4)
        returned = "yes" if draw.random() < 1 / (1 + math.exp(-odds)) else "no"
        price = f"{basket:.2f}".replace(".", ",")
        rows.append((f"K{10_000 + number}", f"{day:%d.%m.%Y}", told, price, country, channel, visits, size, returned))
    return rows


if __name__ == "__main__":
    with open(Path(__file__).with_name("orders.csv"), "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(COLUMNS)
        writer.writerows(orders())
