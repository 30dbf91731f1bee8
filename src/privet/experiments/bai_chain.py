"""Bai et al.'s Markov chain: its score as it goes on (their Fig. 3), and how far it is from what it stands for.

NOT PRIVATE: the chain reads exact counts, and so does all of this.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from os import PathLike
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from privet.datasets import real
from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.privacy.counting import ROOT
from privet.published.mcmc import LEAF, Asked, Chain, ExactStop, OpenBlock, all_asked
from privet.schema import Categorical, Schema
from privet.schema.encoding import Codes

Floats = npt.NDArray[np.float64]
Result = TypeVar("Result")

EPSILONS = (0.01, 0.1, 1, 10)
BUFFER, STEPS, THRESHOLD = 500, 10_000, 1.0  # of Fig. 3; it shows so many steps, and the threshold is not given
LAYERS = 20
MIN_RECORDS = {"mushroom": 50}  # the smallest node that is split; 20 elsewhere (section 4.1)
MOST_STATES = 5000  # of a chain whose transitions are written out
SPACES = ((2, 2, 2, 2), (3, 3, 3), (2, 3, 3), (2, 2, 4))  # arities of attributes; two levels of them can be listed
SPACE_EPSILONS = (0.1, 1.0)
SPACE_STEPS = (0, 1, 10, 100, 1000, 10_000)


# ---- Fig. 3: the chain's score ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trace:
    """The score of every state of one chain."""

    table: str
    epsilon: float
    scores: tuple[float, ...]

    def to_csv(self, path: str | PathLike[str]) -> None:
        with open(path, "w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(("step", "score"))
            writer.writerows(enumerate(self.scores))

    def to_text(self, width: int = 72, height: int = 16) -> str:
        """The picture in characters: steps to the right, score upwards, the mean of each column."""
        columns = [float(np.mean(part)) for part in np.array_split(self.scores, min(width, len(self.scores)))]
        low, high = min(columns), max(columns)
        step = (high - low) / (height - 1) or 1.0
        rows = [round((column - low) / step) for column in columns]
        lines = []
        for row in reversed(range(height)):
            lines.append(f"{low + row * step:10.1f} |" + "".join("*" if r == row else " " for r in rows).rstrip())
        axis = f"{'':10} +{'-' * len(columns)} {len(self.scores)} steps"
        return "\n".join([f"{self.table}, epsilon {self.epsilon:g}", *lines, axis])


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
    engine = MemoryEngine(schema, schema.encode(table))
    block = OpenBlock(engine, ROOT, frozenset(), layers - 1, ExactStop(MIN_RECORDS.get(name, 20)))
    scores: list[float] = []
    (chain or Chain(BUFFER, STEPS, THRESHOLD)).run(block, epsilon / 2 / 4, np.random.default_rng(seed), scores.append)
    return Trace(name, float(epsilon), tuple(scores))


def traces(
    name: str = "mushroom",
    steps: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    data_dir: str | PathLike[str] | None = None,
) -> list[Trace]:
    """All of Fig. 3: the paper's four epsilons, two a panel. ``steps`` cuts the chains short."""
    chain = Chain(BUFFER, min(steps or STEPS, STEPS), THRESHOLD)
    found = []
    for number, epsilon in enumerate(EPSILONS):
        found.append(trace(name, epsilon, chain=chain, data_dir=data_dir, seed=number))
        if progress is not None:
            progress(number + 1, len(EPSILONS))
    return found


# ---- how far the chain is from what it stands for -----------------------------------------------------------------


@dataclass(frozen=True)
class Distance:
    """Total-variation distance between the chain after ``steps`` steps and the mechanism it stands for."""

    arities: tuple[int, ...]
    subtrees: int
    epsilon: float
    steps: int
    distance: float


def distances(records: int = 300) -> list[Distance]:
    """On tables whose class follows the first attribute but for a fifth, blocks of two levels, no stopping rule."""
    found = []
    for arities in SPACES:
        schema, codes = _toy(arities, records)
        for epsilon in SPACE_EPSILONS:
            law = chain_law(schema, codes, 2, epsilon)
            found += [Distance(arities, len(law.subtrees), epsilon, n, law.distance(n)) for n in SPACE_STEPS]
    return found


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
