"""A rehearsal: every setting of a search, fitted on invented records, before anything is charged.

Once as a run would, but without a record, so that faults show in time; and once with plenty of records and epsilon, so
that every mechanism is used. Conditions in these certificates become conditions of the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from privet.fitting import Request, fit
from privet.privacy.budget import Neighbours
from privet.privacy.certificate import Caveat
from privet.privacy.ledger import Ledger
from privet.recipes.recipe import Recipe
from privet.schema import Categorical, Schema

PLENTY = Fraction(100)  # of epsilon, so that nothing is skipped as too noisy


def rehearse(recipes: Sequence[Recipe], schema: Schema, share: Fraction, neighbours: Neighbours) -> list[Caveat]:
    """The conditions in the certificates of all settings. Raises what a fit of one of them would raise."""
    caveats: dict[Caveat, None] = {}
    for epsilon, records in ((share, 0), (PLENTY, 1000)):
        table = invented(schema, records)
        for recipe in recipes:
            caveats |= dict.fromkeys(try_out(recipe, schema, table, epsilon, neighbours))
    return list(caveats)


def try_out(
    recipe: Recipe, schema: Schema, table: dict[str, Any], epsilon: Fraction, neighbours: Neighbours
) -> tuple[Caveat, ...]:
    """Fit invented records on a throwaway budget; the conditions of the certificate."""
    loss = recipe.loss(epsilon)
    ledger = Ledger(loss.epsilon, loss.delta, neighbours=neighbours)
    fit(Request(recipe, table, epsilon, schema, ledger=ledger, random=np.random.default_rng(0)))
    return ledger.certificate().caveats


def invented(schema: Schema, records: int) -> dict[str, Any]:
    """An invented table: every value that the schema allows, uniformly."""
    random = np.random.default_rng(0)
    columns: dict[str, Any] = {} if schema.unit is None else {schema.unit.name: np.arange(records)}
    for attribute in (*schema.attributes, schema.label):
        if isinstance(attribute, Categorical):
            columns[attribute.name] = [attribute.values[i] for i in random.integers(0, len(attribute.values), records)]
        else:
            columns[attribute.name] = random.uniform(attribute.low, attribute.high, records)
    return columns
