"""``exact``: the largest log-ratio that a recipe attains over neighbouring tables, against what it claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from privet.audit.draws import Fit
from privet.audit.explorer import Transcript, explore
from privet.audit.outputs import TooLarge, largest_log_ratio, output_distribution
from privet.audit.released import Reach, canonical
from privet.audit.zoo import Pair, zoo
from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError, RecipeError
from privet.privacy.budget import Neighbours
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.recipes import recipe_classes
from privet.recipes.recipe import Recipe
from privet.schema import Schema
from privet.schema.encoding import encode
from privet.structure.compiled import threads

TOLERANCE = 1e-9  # of a log-ratio computed in doubles
TRANSCRIPTS, COMPLETE = 12, 1000
OUTPUTS, PAIRED = "exact output distribution", "paired transcripts"
NEVER = "one of the tables never releases it"
# A number of trees that comes from a formula stays so (what it is made of may be private), but becomes a small one.
SMALL = {"max_depth": 2, "trees": 2, "public_trees": 2, "max_trees": 9, "min_support": 0}

Learner = Callable[[PrivateDataset, Fraction], Any]
"""Makes a tree, a forest or any other hashable value from private data within an epsilon."""


@dataclass(frozen=True)
class AuditResult:
    """What an audit found: ``lower_bound`` is a loss that is attained, on ``pair``, by ``witness``.

    The witness is a :class:`Transcript`, or what was released where whole output distributions were compared.
    ``leaks`` counts transcripts whose release depends on more than the draws. They put an end to every proof; only
    where one table never releases what the other does is their loss known (to be infinite).
    """

    recipe: str
    variant: str
    claimed: float
    lower_bound: float
    neighbours: str
    method: str
    pair: str = ""
    witness: Transcript | Hashable = None
    runs: int = 0
    lumped: float = 0.0
    reason: str = ""
    leaks: int = 0

    @property
    def verdict(self) -> str:
        """``holds``, ``violated``, or ``unclear``: no loss above the claim was found, but something leaks."""
        if self.lower_bound > self.claimed + TOLERANCE:
            return "violated"
        return "unclear" if self.leaks else "holds"

    def to_dict(self) -> dict[str, Any]:
        return {
            "recipe": self.recipe,
            "variant": self.variant,
            "claimed": self.claimed,
            "lower_bound": "infinity" if math.isinf(self.lower_bound) else self.lower_bound,
            "method": self.method,
            "verdict": self.verdict,
            "neighbours": self.neighbours,
            "pair": self.pair,
            "runs": self.runs,
            "lumped": self.lumped,
            "reason": self.reason,
            "leaks": self.leaks,
        }


def exact(
    recipe: str | Recipe | Any,
    pairs: Iterable[Pair] | None = None,
    claimed: object = 1,
    *,
    neighbours: str = "add-remove",
    transcripts: int = TRANSCRIPTS,
    complete: int = COMPLETE,
) -> AuditResult:
    """Audit a recipe (by name, as a value, or the estimator that wears it) at a claimed epsilon.

    Parameters
    ----------
    pairs : neighbouring tables, the whole zoo by default
    claimed : the epsilon that the recipe is given and that it promises to keep
    neighbours : "add-remove" or "replace-one"
    transcripts : how many ways through the fit to try on each pair
    complete : compare whole output distributions where at most so many fits of each table give them
    """
    chosen = as_recipe(recipe)
    result = audit_learner(
        lambda data, epsilon: chosen.grow_model(data, epsilon, np.random.default_rng(0)),
        pairs,
        claimed,
        prepare=chosen.prepare,
        neighbours=neighbours,
        transcripts=transcripts,
        complete=complete,
        allow_nonprivate=chosen.variant in chosen.unsound,
    )
    return replace(result, recipe=chosen.info.name, variant=chosen.variant)


def audit_learner(
    learner: Learner,
    pairs: Iterable[Pair] | None = None,
    claimed: object = 1,
    *,
    prepare: Callable[[Schema], Schema] = lambda schema: schema,
    neighbours: str = "add-remove",
    transcripts: int = TRANSCRIPTS,
    complete: int = COMPLETE,
    allow_nonprivate: bool = False,
) -> AuditResult:
    """Audit anything that makes a value from private data within an epsilon."""
    epsilon = parse_epsilon(claimed, "claimed")
    relation = Neighbours.parse(neighbours)

    def release(engine: MemoryEngine) -> Hashable:
        ledger = Ledger(epsilon, neighbours=relation)
        if allow_nonprivate:
            ledger.allow_nonprivate()
        model = learner(PrivateDataset(engine, ledger), epsilon)
        # A model goes out with its certificate, so what was charged for it is released too.
        return canonical(model), tuple(ledger.certificate().charges)

    result = AuditResult("", "", float(epsilon), 0.0, relation.value, "")
    methods: dict[str, None] = {}
    done: set[Hashable] = set()
    outputs = _Outputs(complete)
    with one_thread():
        for pair in zoo(relation=relation.value) if pairs is None else pairs:
            if pair.relation != relation.value:
                raise ParameterError(f"the pair {pair.name!r} is {pair.relation}; set neighbours to that")
            schema = prepare(pair.schema)
            ours, theirs = (_table(schema, pair.columns(side), release) for side in (pair.table, pair.neighbour))
            if (ours.key, theirs.key) in done:
                continue  # other values, but the same codes: a learner sees no difference
            done.add((ours.key, theirs.key))
            found = outputs.compare(ours, theirs, pair) or _walk(ours.fit, theirs.fit, pair, transcripts)
            methods[found.method] = None
            worse = found.lower_bound > result.lower_bound
            result = replace(
                result,
                method=" and ".join(methods),
                runs=result.runs + found.runs,
                lumped=max(result.lumped, found.lumped),
                leaks=result.leaks + found.leaks,
                **({k: getattr(found, k) for k in ("lower_bound", "pair", "witness", "reason")} if worse else {}),
            )
            if math.isinf(result.lower_bound):
                break
    return result


@dataclass(frozen=True)
class _Table:
    """A table as a learner sees it, and a fit of it."""

    key: Hashable
    fit: Fit


def _table(schema: Schema, columns: dict[str, list[Any]], release: Callable[[MemoryEngine], Hashable]) -> _Table:
    try:
        codes = encode(schema, columns)
    except Exception as error:
        broken = error  # an error in reading a table is as public as any other

        def fail() -> Hashable:
            raise broken

        return _Table(str(error), fail)
    assert codes.labels is not None
    key = schema, codes.features.shape, codes.features.tobytes(), codes.labels.tobytes()
    engine = MemoryEngine(schema, codes)
    return _Table(key, lambda: release(engine))


class _Outputs:
    """Whole output distributions, computed once for each table, for as long as they are small enough."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._known: dict[Hashable, tuple[dict[Hashable, float], float]] = {}

    def compare(self, ours: _Table, theirs: _Table, pair: Pair) -> AuditResult | None:
        if not self._limit:
            return None
        window = 0, max(len(pair.table), len(pair.neighbour))  # no count is outside, in either table
        try:
            p, lumped = self._of(ours, window)
            q, lumped_too = self._of(theirs, window)
        except TooLarge:
            self._limit = 0  # nor will those of the other pairs be smaller
            return None
        ratio, output = largest_log_ratio(p, q)
        reason = NEVER if math.isinf(ratio) else ""
        runs, most = len(p) + len(q), max(lumped, lumped_too)
        return AuditResult("", "", 0.0, ratio, "", OUTPUTS, pair.name, output, runs, most, reason)

    def _of(self, table: _Table, window: tuple[int, int]) -> tuple[dict[Hashable, float], float]:
        if (table.key, window) not in self._known:
            self._known[table.key, window] = output_distribution(table.fit, window=window, limit=self._limit)
        return self._known[table.key, window]


def _walk(ours: Fit, theirs: Fit, pair: Pair, limit: int) -> AuditResult:
    worst, runs, leaks = AuditResult("", "", 0.0, 0.0, "", PAIRED, pair.name), 0, 0
    reach = Reach(ours), Reach(theirs)
    for transcript in explore(ours, theirs, place=pair.place, limit=limit):
        runs += 2
        loss, reason = transcript.log_ratio, ""
        if not transcript.follows_from_the_draws:
            leaks += 1
            loss, reason = _loss_of_leak(transcript, *reach)
        if loss > worst.lower_bound:
            worst = replace(worst, lower_bound=loss, witness=transcript, reason=reason)
        if math.isinf(loss):
            break
    return replace(worst, runs=runs, leaks=leaks)


def _loss_of_leak(transcript: Transcript, ours: Reach, theirs: Reach) -> tuple[float, str]:
    """Infinite where one of the tables never releases what the other did; else nothing is known about it."""
    released, other = transcript.released, transcript.released_by_neighbour
    if released == other or (theirs.has(released, transcript.outcomes) and ours.has(other, transcript.outcomes)):
        return 0.0, ""
    if "raised" in (isinstance(part, tuple) and part[0] for part in (released, other)):
        return math.inf, "whether it fails depends on the records"
    return math.inf, NEVER


def as_recipe(recipe: str | Recipe | Any, **params: Any) -> Recipe:
    """A recipe from its name (small, so that it can be walked), itself, or the estimator that wears it."""
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, str):
        classes = recipe_classes()
        if recipe not in classes:
            raise RecipeError(f"unknown recipe {recipe!r}; choose one of {', '.join(classes)}")
        # Deep enough for every kind of question to be asked, shallow enough to walk.
        fields = classes[recipe].__dataclass_fields__
        small = {k: v for k, v in SMALL.items() if k in fields and not (k == "trees" and "max_trees" in fields)}
        return classes[recipe](**(small | params))
    make = getattr(recipe, "recipe", None)
    if not callable(make) or not isinstance(made := make(), Recipe):
        raise ParameterError(f"cannot audit {type(recipe).__name__}; give a recipe or a privet classifier")
    return made


@contextmanager
def one_thread() -> Iterator[None]:
    """Tables this small are counted faster than a second thread wakes up."""
    with threads(1):
        yield
