"""Where the tables of the thesis's chapter 8 come from: SynthA to SynthG are made, the others are real."""

from __future__ import annotations

from typing import Any

from privet.datasets import real
from privet.datasets.fletcher import SYNTH, synth
from privet.schema import Schema
from privet_experiments.papers.fletcher.fig81 import SEEDS

SYNTHETIC = tuple(f"Synth{letter}" for letter in SYNTH)
REAL = ("wall-robot-4", "pendigits", "magic", "adult-complete", "mushroom", "claves", "nursery")
TABLES = (*SYNTHETIC, *REAL)
TWO_CLASSES = (*SYNTHETIC, "magic", "mushroom", "adult-complete")


def load(table: str) -> tuple[Schema, Any]:
    """A table by its name here. "SynthF: 3000 of 30000" is the first records of a larger one.

    SynthA to SynthG are the instances that Fig. 8.1 was found nearest with; the thesis does not say which it drew.
    """
    name, _, part = table.partition(": ")
    if name not in SYNTHETIC:
        return real.load(table)
    letter = name.removeprefix("Synth")
    if not part:
        return synth(letter, SEEDS[letter])
    few, _, many = part.partition(" of ")
    schema, columns = synth(letter, SEEDS[letter], int(many))
    return schema, {column: values[: int(few)] for column, values in columns.items()}
