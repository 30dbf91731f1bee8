"""The one way from records to a model: every estimator, experiment, audit and check of privet fits through here."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from privet.errors import ParameterError
from privet.growing.greedy.grower import Progress, check_progress
from privet.growing.prelude import begin, count_price
from privet.models.model import Model
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.counting import Engine
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.recipes.provenance import provenance
from privet.recipes.recipe import Recipe


def fit(
    recipe: Recipe,
    engine: Engine,
    ledger: Ledger,
    epsilon: object,
    *,
    random: np.random.Generator | None = None,
    progress: Progress | None = None,
    expected_records: int | None = None,
) -> Model:
    """Grow a model of an engine's records, paid for by a ledger.

    Parameters
    ----------
    recipe : what to grow
    engine : where the records are
    ledger : what the fit spends from; all of its price is reserved first
    epsilon : the most that it spends
    random : for public choices only, never for noise
    progress : told (steps done, steps at most)
    expected_records : about how many usable records there are, as a public number; see ``growing/prelude.py``

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> from privet.engines.opening import open_engine
    >>> from privet.recipes.papers.mohammed2015 import Mohammed2015
    >>> schema, table = clinic(2000)
    >>> model = fit(Mohammed2015(max_depth=2), open_engine(table, schema), privet.Ledger(1), epsilon=0.5)
    >>> model.recipe, model.certificate["epsilon"]
    ('mohammed2015', '1/2')
    """
    exact = _checked(recipe, epsilon, expected_records, ledger, random, progress)
    # Use the account from the start: then the certificate has all conditions.
    with ledger.reserve(recipe.loss(exact), work_of(recipe), engine.schema) as account:
        data = PrivateDataset(engine.with_schema(recipe.prepare(engine.schema)), account)
        return _grow(recipe, data, exact, random, progress, expected_records)


def fit_dataset(
    recipe: Recipe,
    data: PrivateDataset,
    epsilon: object,
    *,
    random: np.random.Generator | None = None,
    progress: Progress | None = None,
    expected_records: int | None = None,
) -> Model:
    """The same for a protected data set, so that questions and models share one ledger."""
    exact = _checked(recipe, epsilon, expected_records, data.ledger, random, progress)
    with data.for_work(recipe.loss(exact), work_of(recipe), recipe.prepare(data.schema)) as work:
        return _grow(recipe, work, exact, random, progress, expected_records)


def work_of(recipe: Recipe) -> str:
    """How a fit is called in the books."""
    return f"fit of {recipe.info.name}"


def _checked(
    recipe: Recipe, epsilon: object, expected_records: int | None, ledger: Ledger, random: object, progress: object
) -> Fraction:
    """Check these arguments before anything else happens: what is refused ties no journal to a data set."""
    exact = parse_epsilon(epsilon)
    recipe.refuse_unsound(ledger)
    check_progress(progress)
    if not isinstance(random, np.random.Generator | None):
        raise ParameterError(f"random must be a numpy.random.Generator, not {type(random).__name__}")
    if expected_records is not None:
        count_price(exact, expected_records, ledger.steps)
    return exact


def _grow(
    recipe: Recipe,
    data: PrivateDataset,
    epsilon: Fraction,
    random: np.random.Generator | None,
    progress: Progress | None,
    expected_records: int | None,
) -> Model:
    made = provenance()
    planned, prelude = recipe.survey(begin(data, epsilon, expected_records))
    trees = planned.grow_model(prelude, random or np.random.default_rng(), progress)
    params = recipe.params | {"epsilon": epsilon, "neighbours": data.ledger.neighbours.value}
    if expected_records is not None:
        params["expected_records"] = int(expected_records)
    return Model(recipe.info.name, trees, params, data.certificate().to_dict(), prelude.notes, made)


def own_ledger(recipe: Recipe, epsilon: object, neighbours: object = "add-remove") -> Ledger:
    """A budget for one fit alone. It allows a variant that is not private, since it protects nothing else."""
    loss = recipe.loss(parse_epsilon(epsilon))
    ledger = Ledger(loss.epsilon, loss.delta, neighbours=neighbours)  # type: ignore[arg-type]  # checked there
    return ledger.allow_nonprivate() if recipe.variant in recipe.unsound else ledger
