"""Bai et al., *Embedding differential privacy in decision tree algorithm with different depths* (2017), run again.

Three things: the score of their Markov chain as it goes on (Fig. 3), the distance between the chain's distribution and
the one it stands for on spaces that can be listed, and accuracy against epsilon (Figs. 4 to 6) beside the exact
mechanisms. NOT PRIVATE: all of it is for tables that need no protection.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from os import PathLike
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from privet.datasets import real
from privet.encoding import Codes
from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.estimators.base import PrivateClassifier
from privet.estimators.registry import make_classifier
from privet.experiments.evaluation import WARNING, evaluate
from privet.growing.mcmc import LEAF, Chain, ExactStop, OpenBlock, Shape, all_shapes
from privet.schema import Schema

Floats = npt.NDArray[np.float64]
Result = TypeVar("Result")

EPSILONS = (0.01, 0.1, 1, 10)  # of all figures
TABLES = ("vote", "mushroom", "tic-tac-toe")
# Section 4.1: the smallest node that is split, and (buffer, step_limit) by embedding depth where a chain is used.
PAPER: dict[str, tuple[int, dict[int | str, tuple[int, int]]]] = {
    "vote": (20, {3: (50, 1000), "whole": (500, 10_000)}),
    "mushroom": (50, {2: (50, 500), 3: (75, 3000), "whole": (500, 30_000)}),
    "tic-tac-toe": (20, {2: (50, 500), 3: (50, 1000), "whole": (500, 10_000)}),
}
EMBEDDINGS: tuple[int | Literal["whole"], ...] = (1, 2, 3, "whole")
MOST_STATES = 5000  # of a chain whose transitions are written out


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
    layers: int = 20,
    chain: Chain | None = None,
    data_dir: str | PathLike[str] | None = None,
    seed: int = 0,
) -> Trace:
    """One chain for a whole tree of that many layers, as in Fig. 3. ``seed`` makes it the same each time."""
    if layers < 2:
        raise ParameterError(f"layers must be at least 2, a test and its leaves; not {layers}")
    schema, table = real.load(name, data_dir)
    min_records, chains = PAPER.get(name, PAPER["vote"])
    buffer, steps = chains["whole"]
    engine = MemoryEngine(schema, schema.encode(table))
    block = OpenBlock(engine, engine.root(), frozenset(), layers - 1, ExactStop(min_records))
    scores: list[float] = []
    (chain or Chain(buffer, steps, 1.0)).run(block, epsilon / 2 / 4, np.random.default_rng(seed), scores.append)
    return Trace(name, float(epsilon), tuple(scores))


def plot_traces(traces: Sequence[Trace], path: str | PathLike[str]) -> None:
    """Fig. 3 as a picture file; needs matplotlib (``pip install privet[plots]``)."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError(
            "pictures need matplotlib: pip install 'privet[plots]', or use Trace.to_text() or Trace.to_csv(path)"
        ) from None
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for one in traces:
        axes.plot(one.scores, label=f"epsilon = {one.epsilon:g}", linewidth=0.8)
    axes.set(xlabel="steps", ylabel="score of the subtree", title=f"Trace of the chain, {traces[0].table}")
    axes.legend()
    figure.savefig(path)


# ---- how far the chain is from what it stands for -----------------------------------------------------------------


@dataclass(frozen=True)
class Distance:
    """Total-variation distance between the chain after ``steps`` steps and the mechanism it stands for."""

    steps: int
    distance: float


@dataclass(frozen=True, eq=False)
class ChainLaw:
    """The law of a chain on a space that can be listed: where it starts, how it moves, where it should end up."""

    shapes: tuple[Shape, ...]
    start: Floats
    moves: Floats
    target: Floats

    def after(self, steps: int) -> Floats:
        """The distribution of the state after that many steps."""
        return np.asarray(self.start @ np.linalg.matrix_power(self.moves, steps))

    def distance(self, steps: int) -> float:
        return float(abs(self.after(steps) - self.target).sum() / 2)

    def distances(self, steps: Sequence[int] = (0, 1, 10, 100, 1000, 10_000)) -> list[Distance]:
        return [Distance(n, self.distance(n)) for n in steps]


def chain_law(schema: Schema, codes: Codes, depth: int, epsilon: float) -> ChainLaw:
    """The chain of Algorithm 3 at eps' = ``epsilon``, with no stopping rule, over all subtrees of ``depth`` levels.

    Nothing is simulated: every roll of the dice is followed through, and the code is that of the fit itself.
    """
    engine = MemoryEngine(schema, codes)
    block = OpenBlock(engine, engine.root(), frozenset(), depth, ExactStop(0, pure=False))
    shapes = tuple(shape for shape, _ in zip(all_shapes(schema.arities, depth), range(MOST_STATES + 1), strict=False))
    if len(shapes) > MOST_STATES:
        raise ParameterError(f"the space has more than {MOST_STATES} subtrees; lower depth, or use fewer attributes")
    place = {shape: i for i, shape in enumerate(shapes)}
    states = [block.build(shape, np.random.default_rng(0)) for shape in shapes]
    scale, scores = epsilon / 4, np.array([state.score for state in states])
    target = np.exp(scale * (scores - scores.max()))
    start, moves = np.zeros(len(shapes)), np.zeros((len(shapes), len(shapes)))
    for found, chance in _every_roll(lambda dice: block.build(LEAF, dice).shape):
        start[place[found]] += chance
    for i, state in enumerate(states):
        for found, chance in _every_roll(lambda dice, state=state: block.propose(state, dice).shape):  # type: ignore[misc]
            j = place[found]
            accepted = chance * float(np.exp(min(0.0, scale * (scores[j] - scores[i]))))
            moves[i, j] += accepted
            moves[i, i] += chance - accepted
    return ChainLaw(shapes, start, moves, target / target.sum())


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


# ---- Figs. 4 to 6: accuracy against epsilon -----------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """One learner at one epsilon on one table; accuracy as a fraction over all folds."""

    table: str
    method: str
    epsilon: float
    layers: int
    folds: int
    repeats: int
    accuracy_mean: float
    accuracy_std: float
    fit_seconds_mean: float
    private: bool


@dataclass(frozen=True)
class Figures:
    """What the benchmark page shows."""

    points: tuple[Point, ...]

    def to_dict(self) -> dict[str, Any]:
        source = "Bai et al., Sci. China Inf. Sci. 2017, Figs. 4 to 6"
        return {"experiment": "bai", "source": source, "warning": WARNING, "points": [asdict(p) for p in self.points]}

    def to_markdown(self) -> str:
        """A table a figure: methods down, epsilons across, accuracy in per cent."""
        lines = []
        for table in dict.fromkeys(point.table for point in self.points):
            mine = [point for point in self.points if point.table == table]
            epsilons = list(dict.fromkeys(point.epsilon for point in mine))
            lines += [f"**{table}** ({mine[0].layers} layers, {mine[0].folds} folds x {mine[0].repeats})", ""]
            lines.append("| method | private | " + " | ".join(f"eps {epsilon:g}" for epsilon in epsilons) + " |")
            lines.append("|" + "---|" * (len(epsilons) + 2))
            for method in dict.fromkeys(point.method for point in mine):
                row = [point for point in mine if point.method == method]
                cells = " | ".join(f"{100 * point.accuracy_mean:.1f}" for point in row)
                lines.append(f"| {method} | {'yes' if row[0].private else 'no'} | {cells} |")
            lines.append("")
        return "\n".join(lines)


def methods(table: str, layers: int, *, steps: int | None = None) -> dict[str, Callable[[float], PrivateClassifier]]:
    """The learners of a figure by name. ``steps`` cuts the paper's chains short, for a quick look."""
    min_records, chains = PAPER[table]
    depth = layers - 1

    def maker(recipe: str, **params: Any) -> Callable[[float], PrivateClassifier]:
        return lambda epsilon: make_classifier(recipe, epsilon=epsilon, **params)

    made = {
        "exact": maker("exact"),
        "diffpc45": maker("diffpc45", max_depth=depth),
        "embedded, exact search": maker("embedded", max_depth=min(depth, 3)),  # its default: no rule stops it early
    }
    for d in EMBEDDINGS:
        buffer, limit = chains.get(d, (None, None))
        if limit is not None and steps is not None:
            limit = min(limit, steps)
        made[f"embedded as published, d = {d}"] = maker(
            "embedded",
            variant="as-published",
            max_depth=depth,
            embedding_depth=d,
            search="exhaustive" if buffer is None else "mcmc",
            min_records=min_records,
            buffer=buffer,
            step_limit=limit,
        )
    return made


def run(
    tables: Sequence[str] = TABLES,
    epsilons: Sequence[float] = EPSILONS,
    *,
    layers: int = 5,
    folds: int = 10,
    repeats: int = 1,
    steps: int | None = None,
    data_dir: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Figures:
    """Cross-validate every learner of every figure."""
    unknown = [table for table in tables if table not in PAPER]
    if unknown:
        raise ParameterError(f"no figure shows {unknown[0]!r}; choose among {', '.join(TABLES)}")
    points: list[Point] = []
    jobs = [(table, *job) for table in tables for job in product(methods(table, layers, steps=steps), epsilons)]
    for number, (table, method, epsilon) in enumerate(jobs):
        schema, columns = real.load(table, data_dir)
        classifier = methods(table, layers, steps=steps)[method](epsilon)
        score = evaluate(schema, columns, [classifier], folds=folds, repeats=repeats, references=()).results[0]
        points.append(
            Point(
                table=table,
                method=method,
                epsilon=float(epsilon),
                layers=layers,
                folds=folds,
                repeats=repeats,
                accuracy_mean=score.accuracy_mean,
                accuracy_std=score.accuracy_std,
                fit_seconds_mean=score.fit_seconds_mean,
                private=score.private,
            )
        )
        if progress is not None:
            progress(number + 1, len(jobs))
    return Figures(tuple(points))
