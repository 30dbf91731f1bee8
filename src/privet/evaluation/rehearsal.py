"""A rehearsal: every setting of a search, fitted on records that were made up, before anything is charged.

Once as a run would, but without a record, so that a fault shows in time; and once with plenty of all, so that every
question is asked. What a certificate then states as a condition becomes one of the search, whichever setting is drawn.
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

PLENTY = Fraction(100)  # of epsilon, so that nothing is too noisy to be asked


def rehearse(recipes: Sequence[Recipe], schema: Schema, share: Fraction, neighbours: Neighbours) -> list[Caveat]:
    """What the certificates of all settings state as conditions. Raises what a fit of one of them would raise."""
    caveats: dict[Caveat, None] = {}
    for epsilon, records in ((share, 0), (PLENTY, 1000)):
        table = invented(schema, records)
        for recipe in recipes:
            caveats |= dict.fromkeys(try_out(recipe, schema, table, epsilon, neighbours))
    return list(caveats)


def try_out(
    recipe: Recipe, schema: Schema, table: dict[str, Any], epsilon: Fraction, neighbours: Neighbours
) -> tuple[Caveat, ...]:
    """Fit made-up records on a budget of no account; what the certificate states as conditions."""
    loss = recipe.loss(epsilon)
    ledger = Ledger(loss.epsilon, loss.delta, neighbours=neighbours)
    fit(Request(recipe, table, epsilon, schema, ledger=ledger, random=np.random.default_rng(0)))
    return ledger.certificate().caveats


def invented(schema: Schema, records: int) -> dict[str, Any]:
    """A table that owes nothing to anybody: every value the schema allows, with equal chances."""
    random = np.random.default_rng(0)
    columns: dict[str, Any] = {} if schema.unit is None else {schema.unit.name: np.arange(records)}
    for attribute in (*schema.attributes, schema.label):
        if isinstance(attribute, Categorical):
            columns[attribute.name] = [attribute.values[i] for i in random.integers(0, len(attribute.values), records)]
        else:
            columns[attribute.name] = random.uniform(attribute.low, attribute.high, records)
    return columns
