"""Sheets: the tokens of many fits as a matrix, one row per fit, NaN where a fit lacks a token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.audit.sampling.tokens import Tokens

Floats = npt.NDArray[np.float64]

COLUMNS = 1_000  # the most frequent tokens: rarer ones prove little
RARE = 3  # a token of fewer fits is left out: no bound can be built on it
DISCRETE = 12  # values of a column that a linear score takes one by one


def sheet(fits: Sequence[Tokens], names: Sequence[str]) -> Floats:
    """The named tokens of each fit."""
    place = {name: j for j, name in enumerate(names)}
    filled = np.full((len(fits), len(names)), np.nan)
    rows: dict[int, list[int]] = {}
    for i, fit in enumerate(fits):
        rows.setdefault(id(fit.names), []).append(i)
    for some in rows.values():
        known = [(i, place[name]) for i, name in enumerate(fits[some[0]].names) if name in place]
        if known:
            source, target = zip(*known, strict=True)
            filled[np.ix_(some, target)] = np.array([fits[i].values for i in some])[:, source]
    return filled


def names_of(fits: Sequence[Tokens]) -> list[str]:
    """The tokens that can tell fits apart: not too rare, and not the same in every fit."""
    kinds: Counter[tuple[str, ...]] = Counter(fit.names for fit in fits)
    seen: Counter[str] = Counter()
    for names, times in kinds.items():
        for name in names:
            seen[name] += times
    frequent = [name for name, times in seen.most_common() if times >= min(RARE, len(fits))]
    filled = sheet(fits, frequent)
    return [name for name, column in zip(frequent, filled.T, strict=True) if _varies(column)][:COLUMNS]


def _varies(column: Floats) -> bool:
    absent = np.isnan(column)
    if absent.any():
        return not bool(absent.all())
    return bool((column != column[0]).any())


@dataclass(frozen=True, eq=False)
class Linear:
    """How a linear score reads a sheet: columns of few values one by one, others scaled; absent is a value too."""

    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    centres: Floats
    scales: Floats

    @classmethod
    def of(cls, filled: Floats, names: Sequence[str]) -> Linear:
        values, centres, scales = [], [], []
        for column in filled.T:
            known = column[~np.isnan(column)]
            few = np.unique(known)
            values.append(tuple(few.tolist()) if len(few) <= DISCRETE else ())
            centres.append(float(np.median(known)))
            scales.append(float(np.subtract(*np.percentile(known, [90, 10]))) or 1.0)
        return cls(tuple(names), tuple(values), np.array(centres), np.array(scales))

    def read(self, filled: Floats) -> Floats:
        columns = []
        for column, values, centre, scale in zip(filled.T, self.values, self.centres, self.scales, strict=True):
            columns += [column == value for value in values]
            if not values:
                # Clipped: one far value must not decide the weight of all others.
                columns += [np.clip(np.nan_to_num((column - centre) / scale), -5, 5), np.isnan(column)]
        return np.stack(columns, axis=1).astype(np.float64)
