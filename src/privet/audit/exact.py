"""``exact``: the largest log-ratio that a recipe attains over neighbouring tables, compared with its claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from privet.audit.channels import described, listening, progress
from privet.audit.comparing import Outputs, Release, booked, open_table, walk
from privet.audit.containers import containers
from privet.audit.draws import RAISED, NotComparable
from privet.audit.fits import INTEGRATED, audit_law
from privet.audit.released import canonical
from privet.audit.result import AuditResult
from privet.audit.weighing import Concentrated, LogRatios
from privet.audit.zoo import Pair, number_schema, zoo
from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.fitting import Request, fit
from privet.models.model import Model
from privet.privacy.budget import Neighbours
from privet.privacy.budget import delta as parse_delta
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.privacy.losses import Loss
from privet.recipes.recipe import Recipe
from privet.recipes.registry import recipe_class
from privet.schema import Schema
from privet.structure.compiled import threads

TRANSCRIPTS, COMPLETE = 12, 1000
# "auto" numbers of trees stay "auto", since the formula may use private numbers, but with a small bound.
SMALL = {"max_depth": 2, "n_estimators": 2, "public_trees": 2, "max_trees": 9, "min_support": 0}

Learner = Callable[[PrivateDataset, Fraction], Any]
"""Makes a tree, a forest, a dataclass or any plain value from private data within an epsilon."""


def exact(
    recipe: str | Recipe | Any,
    pairs: Iterable[Pair] | None = None,
    claimed: object = 1,
    *,
    neighbours: str = "add-remove",
    transcripts: int = TRANSCRIPTS,
    complete: int = COMPLETE,
) -> AuditResult:
    """Audit a recipe (its name, a recipe, or an estimator of it) at a claimed epsilon.

    Parameters
    ----------
    pairs : neighbouring tables, by default the whole zoo, with numbers as labels where the recipe predicts them
    claimed : the epsilon that the recipe is given and that it promises to keep
    neighbours : "add-remove" or "replace-one"
    transcripts : how many transcripts to try on each pair
    complete : compare whole output distributions where at most so many fits of each table give them
    """
    chosen = as_recipe(recipe)
    if pairs is None and chosen.predicts == "numbers":
        pairs = zoo(number_schema(), relation=Neighbours.parse(neighbours).value)
    if chosen.predicts == "numbers":
        complete = 0  # where labels lie has too many answers to list

    def learner(data: PrivateDataset, epsilon: Fraction) -> Model:
        """The whole saved model, without time and versions."""
        random = np.random.default_rng(0)
        return replace(fit(Request(chosen, data, epsilon, random=random, progress=progress, prepared=True)), made={})

    result = audit_learner(
        learner,
        pairs,
        claimed,
        prepare=chosen.prepare,
        recuts=chosen.recuts,
        neighbours=neighbours,
        transcripts=transcripts,
        complete=complete,
        allow_nonprivate=chosen.variant in chosen.unsound,
        delta=chosen.loss(parse_epsilon(claimed, "claimed")).delta,
        concentrated=chosen.concentrates,
    )
    if chosen.makes == "additive":
        row = chosen.loss(parse_epsilon(claimed, "claimed")) / Neighbours.parse(neighbours).steps
        result = _with_law(result, row, numbers=chosen.predicts == "numbers")
    return replace(result, recipe=chosen.info.name, variant=chosen.variant)


def _with_law(result: AuditResult, claimed: Loss, *, numbers: bool) -> AuditResult:
    """Add what transcripts cannot see: the law of a perturbed fit that is given all of epsilon.

    ``claimed`` is for one row, and so is the loss. Replacing a record need not cost twice that, but a row's charge must
    cover it.
    """
    law = audit_law(claimed, numbers=numbers)
    result = replace(result, method=f"{result.method} and {INTEGRATED}")
    keeps = law.keeps(claimed)
    loss = law.loss if keeps or law.delta <= float(claimed.delta) else math.inf
    unbooked = 0.0 if keeps else loss - float(claimed.epsilon)
    reason = f"the law of a perturbed fit, on {law.case}"
    return result.with_worse(replace(result, lower_bound=loss, unbooked=unbooked, pair=law.case, reason=reason))


def audit_learner(
    learner: Learner,
    pairs: Iterable[Pair] | None = None,
    claimed: object = 1,
    *,
    prepare: Callable[[Schema], Schema] = lambda schema: schema,
    recuts: Callable[[Schema], bool] = lambda schema: False,
    neighbours: str = "add-remove",
    transcripts: int = TRANSCRIPTS,
    complete: int = COMPLETE,
    allow_nonprivate: bool = False,
    delta: object = 0,
    concentrated: bool = False,
) -> AuditResult:
    """Audit any function that makes a value from private data within an epsilon.

    Everything that comes out is compared: the value to its last field, the certificate, and all events on the way
    (:mod:`privet.audit.channels`). A loss is compared with the claim, and with the certificate of the same release. A
    learner that reports progress gets :func:`privet.audit.progress`. ``prepare`` cuts numbers for the learner;
    ``recuts`` says whether the learner cuts them anew by itself. With a delta, ``concentrated`` weighs draws under zCDP
    (:mod:`privet.audit.weighing`).
    """
    epsilon = parse_epsilon(claimed, "claimed")
    relation = Neighbours.parse(neighbours)
    delta = parse_delta(delta)

    def release(engine: MemoryEngine) -> Hashable:
        ledger = Ledger(epsilon, delta, neighbours=relation)
        if allow_nonprivate:
            ledger.allow_nonprivate()
        with listening() as released:
            try:
                model = canonical(learner(PrivateDataset(engine, ledger), epsilon))
            except NotComparable:
                raise
            except Exception as error:
                model = RAISED, described(error)
        certificate = ledger.certificate()
        return Release(model, canonical(certificate), tuple(released), booked(certificate))

    result = AuditResult("", "", float(epsilon), 0.0, relation.value, "")
    methods: dict[str, None] = {}
    fed: dict[str, None] = {}
    done: set[Hashable] = set()
    in_rho = concentrated and delta > 0
    outputs, weighing = Outputs(0 if in_rho else complete), Concentrated(delta) if in_rho else LogRatios()
    with one_thread():
        for pair, container in _in_containers(zoo(relation=relation.value) if pairs is None else pairs):
            if pair.relation != relation.value:
                raise ParameterError(f"the pair {pair.name!r} is {pair.relation}; set neighbours to that")
            schema = prepare(pair.schema)
            opened = (
                open_table(schema, table, release, recuts=recuts(pair.schema)) for table in pair.tables(container)
            )
            ours, theirs = opened
            fed[container] = None
            if (ours.key, theirs.key) in done:
                continue  # same codes: the learner sees no difference
            done.add((ours.key, theirs.key))
            ways = transcripts if pair.ways is None else min(transcripts, pair.ways)
            found = outputs.compare(ours, theirs, pair) or walk(ours.fit, theirs.fit, pair, ways, weighing)
            methods[found.method] = None
            result = replace(
                result.with_worse(replace(found, container=container)),
                method=" and ".join(methods),
                runs=result.runs + found.runs,
                lumped=max(result.lumped, found.lumped),
                leaks=result.leaks + found.leaks,
                containers=tuple(fed),
            )
            if math.isinf(result.lower_bound):
                break
    return result


def _in_containers(pairs: Iterable[Pair]) -> Iterator[tuple[Pair, str]]:
    """Each pair as lists and in one other container, in rotation. Pairs marked for all containers come in all.

    Most cost no fit: a table has the same codes in every container, unless reading one of them is wrong.
    """
    (lists, *typed) = containers()
    for number, pair in enumerate(pairs):
        for name in [lists, *(typed if pair.containers else [typed[number % len(typed)]])]:
            yield pair, name


def as_recipe(recipe: str | Recipe | Any, **params: Any) -> Recipe:
    """A recipe from its name (with small parameters, to keep the walk short), a recipe, or an estimator."""
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, str):
        kind = recipe_class(recipe)
        # Deep enough for every kind of call, shallow enough to walk.
        fields = kind.__dataclass_fields__
        small = {k: v for k, v in SMALL.items() if k in fields and not (k == "n_estimators" and "max_trees" in fields)}
        return kind(**(small | params))
    make = getattr(recipe, "recipe", None)
    if not callable(make) or not isinstance(made := make(), Recipe):
        raise ParameterError(f"cannot audit {type(recipe).__name__}; give a recipe or a privet estimator")
    return made


@contextmanager
def one_thread() -> Iterator[None]:
    """Small tables are counted faster than a second thread wakes up."""
    with threads(1):
        yield
