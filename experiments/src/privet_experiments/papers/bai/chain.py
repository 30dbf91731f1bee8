"""Bai et al.'s Markov chain: its score as it goes on (their Fig. 3), and how far it is from what it stands for.

The paper says of its traces that they become stable, and later so for a larger epsilon. Stable is not near: on spaces
small enough to be listed the distance from the mechanism is computed, with nothing left to chance. NOT PRIVATE: the
chain reads exact counts, and so does all of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from os import PathLike
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from privet.datasets import real
from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.evaluation.figure import Figure, Point, Series
from privet.privacy.counting import ROOT
from privet.recipes.unsound.mcmc import LEAF, Asked, Chain, ExactStop, OpenBlock, all_asked
from privet.schema import Categorical, Schema
from privet.tables.encoding import Codes, encode
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.judge import Measure, judge
from privet_experiments.outcome import Outcome, Table

Floats = npt.NDArray[np.float64]
Result = TypeVar("Result")

EPSILONS = (0.01, 0.1, 1.0, 10.0)
BUFFER, STEPS, THRESHOLD = 500, 10_000, 1.0  # of Fig. 3; it shows so many steps, and the threshold is not given
LAYERS = 20
MIN_RECORDS = {"mushroom": 50}  # the smallest node that is split; 20 elsewhere (section 4.1)
MOST_STATES = 5000  # of a chain whose transitions are written out
SPACES = ((2, 2, 2, 2), (3, 3, 3), (2, 3, 3), (2, 2, 4))  # arities of attributes; two levels of them can be listed
SPACE_EPSILONS = (0.1, 1.0)
DRAWN = 200  # points of a trace that are kept, each a mean of its stretch
SPACE_STEPS = (0, 1, 10, 100, 1000, 10_000)


@dataclass(frozen=True)
class BaiChain(Experiment):
    """Traces of the chain's score at four epsilons, and the distance of chains from what they stand for, on tables
    whose class follows the first attribute but for a fifth: blocks of two levels, no stopping rule.
    """

    tables: tuple[str, ...] = axis(("mushroom",), "A table of PRIVET_DATA; may be repeated.")
    epsilons: tuple[float, ...] = axis(EPSILONS, "A budget; may be repeated.")
    steps: int = axis(STEPS, "Steps of a chain at most.")
    spaces: int = axis(len(SPACES), "How many of the small spaces, from the smallest on.", least=0)
    records: int = axis(300, "Records of a small space.", option="--records")

    def check(self) -> None:
        real.fetch(self.tables)

    def jobs(self) -> list[Job]:
        traced = [{"table": table, "epsilon": epsilon} for table in self.tables for epsilon in self.epsilons]
        spaces = SPACES[: self.spaces]
        return traced + [{"space": list(space), "epsilon": epsilon} for space in spaces for epsilon in SPACE_EPSILONS]

    def run(self, job: Job) -> Found:
        if "space" in job:
            law = chain_law(*_toy(tuple(job["space"]), self.records), 2, job["epsilon"])
            return {"subtrees": len(law.subtrees), "distances": [law.distance(steps) for steps in SPACE_STEPS]}
        chain = Chain(min(BUFFER, self.steps), self.steps, THRESHOLD)
        found = trace(job["table"], job["epsilon"], chain=chain, seed=self.epsilons.index(job["epsilon"]))
        parts = np.array_split(found.scores, min(DRAWN, len(found.scores)))
        spread = float(np.std(found.scores[-BUFFER:]))
        return {"steps": len(found.scores), "spread": spread, "scores": [float(np.mean(part)) for part in parts]}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        traced, spaces = ([row for row in rows if key in row] for key in ("scores", "subtrees"))
        chains = [(f"{r['table']}", f"{r['epsilon']:g}", f"{r['steps']}", f"{r['spread']:.1f}") for r in traced]
        tables = [Table("Chains of Fig. 3", ("table", "epsilon", "steps", "sd of the last scores"), tuple(chains))]
        if spaces:
            cells = [
                (
                    " ".join(map(str, row["space"])),
                    f"{row['subtrees']}",
                    f"{row['epsilon']:g}",
                    *(f"{distance:.3f}" for distance in row["distances"]),
                )
                for row in spaces
            ]
            heads = ("arities", "subtrees", "eps'", *(f"{steps:,} steps" for steps in SPACE_STEPS))
            tables.append(Table("How far the chain is from the mechanism (total variation)", heads, tuple(cells)))
        statements = judge("bai.chain", (one for table in self.tables for one in self._measures(traced, table)))
        return Outcome(tuple(tables), tuple(self._figures(traced)), statements)

    def _figures(self, traced: Sequence[Row]) -> Iterator[Figure]:
        for table in self.tables:
            series = []
            for row in (row for row in traced if row["table"] == table):
                width = row["steps"] / len(row["scores"])
                points = tuple(Point((i + 1) * width, score) for i, score in enumerate(row["scores"]))
                series.append(Series(f"epsilon {row['epsilon']:g}", points, dashed=True))
            yield Figure(f"BAI Fig. 3: score of the chain on {table}", "steps", "score of the tree", tuple(series))

    def _measures(self, traced: Sequence[Row], table: str) -> Iterator[Measure]:
        mine = {row["epsilon"]: row for row in traced if row["table"] == table}
        low, high = min(mine), max(mine)
        drifts = {epsilon: _drift(row) for epsilon, row in mine.items()}
        told = ", ".join(f"{drift:+.1f} at epsilon {epsilon:g}" for epsilon, drift in drifts.items())
        spreads = [row["spread"] for row in mine.values()]
        yield Measure("stable", table=table, told=told, drifts=list(drifts.values()), spreads=spreads)
        if low < high:
            spreads = [mine[epsilon]["spread"] for epsilon in (low, high)]
            yield Measure("epsilon", table=table, spreads=spreads, low=low, high=high)


def _drift(row: Row) -> float:
    """How far the mean score of the last eighth is from that of the eighth before."""
    scores = np.array(row["scores"])
    eighth = max(len(scores) // 8, 1)
    return float(scores[-eighth:].mean() - scores[-2 * eighth : -eighth or None].mean())


# ---- Fig. 3: the chain's score ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trace:
    """The score of every state of one chain."""

    table: str
    epsilon: float
    scores: tuple[float, ...]


def trace(
    name: str = "mushroom",
    epsilon: float = 1,
    *,
    layers: int = LAYERS,
    chain: Chain | None = None,
    data_dir: str | PathLike[str] | None = None,
    seed: int = 0,
) -> Trace:
    """One chain for a whole tree of that many layers, as in Fig. 3. ``seed`` makes it the same each time."""
    if layers < 2:
        raise ParameterError(f"layers must be at least 2, a test and its leaves; not {layers}")
    schema, table = real.load(name, data_dir)
    engine = MemoryEngine(schema, encode(schema, table))
    block = OpenBlock(engine, ROOT, frozenset(), layers - 1, ExactStop(MIN_RECORDS.get(name, 20)))
    scores: list[float] = []
    (chain or Chain(BUFFER, STEPS, THRESHOLD)).run(block, epsilon / 2 / 4, np.random.default_rng(seed), scores.append)
    return Trace(name, float(epsilon), tuple(scores))


# ---- how far the chain is from what it stands for -----------------------------------------------------------------


def _toy(arities: tuple[int, ...], records: int) -> tuple[Schema, Codes]:
    schema = Schema(
        tuple(Categorical(f"a{i}", tuple(range(arity))) for i, arity in enumerate(arities)), Categorical("c", (0, 1))
    )
    dice = np.random.default_rng(0)
    features = np.array([dice.integers(0, arity, records) for arity in arities], dtype=np.uint8)
    labels = (features[0] ^ (dice.random(records) < 0.2)) % 2
    return schema, Codes(features, labels.astype(np.uint8))


@dataclass(frozen=True, eq=False)
class ChainLaw:
    """The law of a chain on a space that can be listed: where it starts, how it moves, where it should end up."""

    subtrees: tuple[Asked, ...]
    start: Floats
    moves: Floats
    target: Floats

    def after(self, steps: int) -> Floats:
        """The distribution of the state after that many steps."""
        return np.asarray(self.start @ np.linalg.matrix_power(self.moves, steps))

    def distance(self, steps: int) -> float:
        return float(abs(self.after(steps) - self.target).sum() / 2)


def chain_law(schema: Schema, codes: Codes, depth: int, epsilon: float) -> ChainLaw:
    """The chain of Algorithm 3 at eps' = ``epsilon``, with no stopping rule, over all subtrees of ``depth`` levels.

    Nothing is simulated: every roll of the dice is followed through, and the code is that of the fit itself.
    """
    engine = MemoryEngine(schema, codes)
    block = OpenBlock(engine, ROOT, frozenset(), depth, ExactStop(0, pure=False))
    subtrees = tuple(islice(all_asked(schema.arities, depth), MOST_STATES + 1))
    if len(subtrees) > MOST_STATES:
        raise ParameterError(f"the space has more than {MOST_STATES} subtrees; lower depth, or use fewer attributes")
    place = {subtree: i for i, subtree in enumerate(subtrees)}
    states = [block.build(subtree, np.random.default_rng(0)) for subtree in subtrees]
    scale, scores = epsilon / 4, np.array([state.score for state in states])
    target = np.exp(scale * (scores - scores.max()))
    start, moves = np.zeros(len(subtrees)), np.zeros((len(subtrees), len(subtrees)))
    for found, chance in _every_roll(lambda dice: block.build(LEAF, dice).asked):
        start[place[found]] += chance
    for i, state in enumerate(states):
        for found, chance in _every_roll(lambda dice, state=state: block.propose(state, dice).asked):  # type: ignore[misc]
            j = place[found]
            accepted = chance * float(np.exp(min(0.0, scale * (scores[j] - scores[i]))))
            moves[i, j] += accepted
            moves[i, i] += chance - accepted
    return ChainLaw(subtrees, start, moves, target / target.sum())


class _NextRoll(Exception):
    def __init__(self, sides: int) -> None:
        self.sides = sides


@dataclass
class _Script:
    """Dice that fall as told, and ask how to go on when they run out of orders."""

    orders: tuple[int, ...]
    chance: float = 1.0
    rolled: int = field(default=0)

    def integers(self, sides: int, /) -> int:
        if self.rolled == len(self.orders):
            raise _NextRoll(sides)
        self.rolled += 1
        self.chance /= sides
        return self.orders[self.rolled - 1]

    def random(self) -> float:
        raise AssertionError("building and proposing roll whole numbers only")


def _every_roll(act: Callable[[_Script], Result]) -> Iterator[tuple[Result, float]]:
    """What an act can come to, with the chance of each way there."""
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        script = _Script(waiting.pop())
        try:
            result = act(script)
        except _NextRoll as more:
            waiting += [(*script.orders, side) for side in range(more.sides)]
        else:
            yield result, script.chance
