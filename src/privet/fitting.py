"""The fit service: every command, estimator, search, audit and experiment fits through here.

A request is resolved once: open the table, read its header, refuse invalid input, prepare the schema for the recipe,
compute the price. Then it is run, in the order of ``work.py``.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from privet.errors import ModelFileError, ParameterError
from privet.growing.prelude import begin, count_price
from privet.models.codec import to_text
from privet.models.drafts import Draft
from privet.models.model import Model
from privet.privacy.budget import Neighbours
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.concentrated import Currency, rho_of
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.progress import Progress, check_progress, tell_stage
from privet.recipes.provenance import provenance
from privet.recipes.recipe import Recipe
from privet.schema import Schema
from privet.schema.identifiers import unit_hint
from privet.structure.compiled import thread_count
from privet.work import Purse, Work, deliver, ledger_of, schema_of


@dataclass(frozen=True, eq=False, repr=False)  # the source is private records, or an address with a password
class Request:
    """The arguments of a fit.

    Parameters
    ----------
    recipe : what to grow
    source : a table, a path, an address or a reader; an engine; or what :func:`privet.protect` returns
    epsilon : the most that the fit spends
    schema : the public facts; an engine and a protected table bring their own
    labels : one for each record, if the table does not hold them
    ledger : the ledger to charge, or a journal that is opened once the price is known; without one, a budget of its own
    neighbours : the relation of a budget of its own; a given ledger must have the same
    random : for public choices only, never for noise
    progress : called with (steps done, steps at most)
    expected_records : about how many usable records there are, as a public number; see ``growing/prelude.py``
    prepared : whether the source's schema has already been through the recipe's ``prepare``
    quoted_line_breaks : whether cells of a CSV file may hold line breaks
    """

    recipe: Recipe
    source: Any
    epsilon: Any
    schema: Schema | None = None
    labels: Any = None
    ledger: Ledger | Purse | None = None
    neighbours: str | Neighbours | None = None
    random: np.random.Generator | None = None
    progress: Progress | None = None
    expected_records: int | None = None
    prepared: bool = False
    quoted_line_breaks: bool = False

    def __post_init__(self) -> None:
        """Parse epsilon, and refuse what is invalid for every table. No table and no journal is opened here."""
        epsilon = parse_epsilon(self.epsilon)
        object.__setattr__(self, "epsilon", epsilon)
        check_progress(self.progress)
        if not isinstance(self.random, np.random.Generator | None):
            raise ParameterError(f"random must be a numpy.random.Generator, not {type(self.random).__name__}")
        ledger = self.spends_from()
        # A journal never holds a non-private charge, so it need not be opened to refuse one.
        self.recipe.refuse_unsound(ledger if isinstance(ledger, Ledger) else Ledger(epsilon))
        if self.expected_records is not None:
            relation = Neighbours.parse(ledger.neighbours or Neighbours.ADD_REMOVE)  # until a journal says otherwise
            steps = ledger.steps if isinstance(ledger, Ledger) else relation.steps
            loss = self.recipe.loss(epsilon)
            if self.recipe.concentrates and loss.delta:
                count_price(rho_of(loss.epsilon, loss.delta), self.expected_records, steps, Currency.RHO)
            else:
                count_price(epsilon, self.expected_records, steps)

    def __repr__(self) -> str:
        return f"<Request of {self.recipe.info.name} for epsilon {self.epsilon}>"

    def spends_from(self) -> Ledger | Purse:
        """The given ledger, or a budget for this fit alone.

        The latter allows a non-private variant, since it protects nothing else.
        """
        given = ledger_of(self.source, self.ledger, self.neighbours)
        if given is not None:
            return given
        loss, recipe = self.recipe.loss(self.epsilon), self.recipe
        ledger = Ledger(loss.epsilon, loss.delta, neighbours=self.neighbours)
        return ledger.allow_nonprivate() if recipe.variant in recipe.unsound else ledger


class Fit(Work):
    """A resolved request: its table is open, its price known. It can be run once."""

    def __init__(self, request: Request) -> None:
        """Open the table and refuse invalid input. A refused request binds no journal to a data set."""
        recipe, self.request = request.recipe, request
        schema = schema_of(request.source, request.schema)
        recipe.refuse_label(schema)
        super().__init__(
            request.source,
            schema,
            recipe.loss(request.epsilon),
            f"fit of {recipe.info.name}",
            request.spends_from(),
            labels=request.labels,
            cut=schema if request.prepared else recipe.prepare(schema),
            for_one_fit=not recipe.recuts(schema),
            quoted_line_breaks=request.quoted_line_breaks,
        )

    def run(self) -> Model:
        """Reserve the price, read the records, grow the model."""
        if hint := unit_hint(self.schema, "unit=privet.Unit({!r}, max_rows=K) in the schema, without that attribute"):
            warnings.warn(hint, stacklevel=3)  # before anything is spent; the command line prints it by itself
        with self.records(self._stage) as data:
            return self.grow(data)

    def save(self, draft: Draft, *, replace: bool = False) -> Saved:
        """The same, and publish the model from an open draft before the reservation ends."""
        with self.records(self._stage) as data:
            model = self.grow(data)
            where = f"cannot write the model file {str(draft.path)!r}"

            def text() -> str:
                return to_text(model, where)

            place = deliver(draft, data.ledger, text, "the model", replace=replace, error=ModelFileError)
            return Saved(model, place, data.ledger)

    def grow(self, data: PrivateDataset) -> Model:
        """Grow the model from these records; their account holds the whole price."""
        request, recipe, made = self.request, self.request.recipe, provenance()
        self._stage(f"growing {recipe.info.name}")
        data, amount = recipe.budget(data, request.epsilon)
        planned, prelude = recipe.survey(begin(data, amount, request.expected_records))
        random = request.random or np.random.default_rng()
        trees = planned.grow_model(prelude, random, request.progress)
        params = recipe.params | {"epsilon": request.epsilon, "neighbours": data.ledger.neighbours.value}
        if request.expected_records is not None:
            params["expected_records"] = int(request.expected_records)
        return Model(recipe.info.name, trees, params, data.certificate().to_dict(), prelude.notes, made)

    def _stage(self, what: str) -> None:
        tell_stage(self.request.progress, what)


class Saved(NamedTuple):
    """A model that was charged and written."""

    model: Model
    place: Path
    account: Ledger
    """What it was paid from."""


def fit(request: Request) -> Model:
    """Grow a model from private records, charged to a ledger.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> from privet.recipes.papers.mohammed2015 import Mohammed2015
    >>> schema, table = clinic(2000)
    >>> model = fit(Request(Mohammed2015(max_depth=2), table, 0.5, schema, ledger=privet.Ledger(1)))
    >>> model.recipe, model.certificate["epsilon"]
    ('mohammed2015', '1/2')
    """
    with Fit(request) as work:
        return work.run()


def fit_to_file(request: Request, draft: Draft, *, replace: bool = False) -> Saved:
    """Fit, and publish the model from ``draft``, in the safe order.

    The draft must be open (:func:`privet.models.drafts.drafted`): a model that cannot be written would waste its
    budget. The reservation ends with the hash of the file, once the model is in place.
    """
    with Fit(request) as work:
        return work.save(draft, replace=replace)


def public_random(state: np.random.RandomState) -> np.random.Generator:
    """The generator for public choices of a seed. Noise never comes from it."""
    return np.random.default_rng(state.randint(2**31 - 1, size=4))


def threads_of(jobs: object) -> int:
    """The number of threads for ``n_jobs``; negative numbers count from the end, as in scikit-learn."""
    most = thread_count()
    if jobs is None:
        return most
    if isinstance(jobs, bool) or not isinstance(jobs, int | np.integer) or jobs == 0:
        problem = f"must be None or a whole number other than 0, not {jobs!r}"
        raise ParameterError(parameter="n_jobs", problem=problem, fix="-1 uses all")
    return int(jobs) if jobs > 0 else max(most + 1 + int(jobs), 1)
