"""Bai et al., *Embedding differential privacy in decision tree algorithm with different depths* (2017), run again.

Accuracy against epsilon (their Figs. 4 to 6), beside privet's exact mechanisms: does one mechanism for a block of
levels beat one per level, and where does a tree stand that is drawn exactly? With it go the chain's score (Fig. 3) and
its distance from what it stands for (``bai_chain``). NOT PRIVATE: all of it is for tables that need no protection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from os import PathLike
from typing import Any, Literal

from privet.datasets import real
from privet.errors import ParameterError
from privet.estimators.base import PrivateClassifier
from privet.estimators.registry import make_classifier
from privet.experiments.bai_chain import Distance
from privet.experiments.evaluation import WARNING, evaluate

EPSILONS = (0.01, 0.1, 1, 10)  # of all figures
TABLES = ("vote", "mushroom", "tic-tac-toe")
FOLDS, QUICK_FOLDS, QUICK_STEPS = 5, 2, 100
LAYERS = 5
# Section 4.1: the smallest node that is split, and (buffer, step_limit) by embedding depth where a chain is used.
PAPER: dict[str, tuple[int, dict[int | str, tuple[int, int]]]] = {
    "vote": (20, {3: (50, 1000), "whole": (500, 10_000)}),
    "mushroom": (50, {2: (50, 500), 3: (75, 3000), "whole": (500, 30_000)}),
    "tic-tac-toe": (20, {2: (50, 500), 3: (50, 1000), "whole": (500, 10_000)}),
}
EMBEDDINGS: tuple[int | Literal["whole"], ...] = (1, 2, 3, "whole")
PER_LEVEL, *BLOCKS = (f"as published, d = {d}" for d in EMBEDDINGS)
EXACT = "exact"
CLEAR = 2  # standard errors of a difference; one cell in twenty is so far apart by chance


@dataclass(frozen=True)
class Point:
    """One learner at one epsilon on one table; accuracy as a fraction over all folds, and its standard error."""

    table: str
    method: str
    epsilon: float
    layers: int
    folds: int
    repeats: int
    accuracy_mean: float
    accuracy_error: float
    fit_seconds_mean: float
    private: bool

    @property
    def text(self) -> str:
        """In per cent."""
        return f"{100 * self.accuracy_mean:.1f} ± {100 * self.accuracy_error:.1f}"


@dataclass(frozen=True)
class Contest:
    """In how many cells (a table at an epsilon) a method is clearly ahead of another, or behind."""

    method: str
    against: str
    ahead: int
    behind: int
    cells: int

    def __str__(self) -> str:
        counts = f"ahead in {self.ahead} and behind in {self.behind} of {self.cells} cells"
        return f"{self.method}, against {self.against}: {counts}"


@dataclass(frozen=True)
class Figures:
    """What the benchmark page shows."""

    points: tuple[Point, ...]
    distances: tuple[Distance, ...] = ()

    def with_distances(self, distances: Sequence[Distance]) -> Figures:
        return replace(self, distances=tuple(distances))

    @property
    def by_table(self) -> dict[str, list[Point]]:
        found: dict[str, list[Point]] = {}
        for point in self.points:
            found.setdefault(point.table, []).append(point)
        return found

    @property
    def by_space(self) -> dict[tuple[tuple[int, ...], float], list[Distance]]:
        found: dict[tuple[tuple[int, ...], float], list[Distance]] = {}
        for distance in self.distances:
            found.setdefault((distance.arities, distance.epsilon), []).append(distance)
        return found

    @property
    def contests(self) -> list[Contest]:
        """Blocks against one mechanism per level, and the exact tree against the best of all published forms."""
        published = [PER_LEVEL, *BLOCKS]
        ours = [self._contest(EXACT, published, "the best published form")]
        return [self._contest(block, [PER_LEVEL], "d = 1, a mechanism per level") for block in BLOCKS] + ours

    def _contest(self, method: str, rivals: Sequence[str], against: str) -> Contest:
        cells: dict[tuple[str, float], dict[str, Point]] = {}
        for point in self.points:
            cells.setdefault((point.table, point.epsilon), {})[point.method] = point
        apart = []
        for found in cells.values():
            mine, best = found[method], max((found[rival] for rival in rivals), key=lambda p: p.accuracy_mean)
            error = (mine.accuracy_error**2 + best.accuracy_error**2) ** 0.5
            apart.append((mine.accuracy_mean - best.accuracy_mean, CLEAR * error))
        ahead = sum(difference > clear for difference, clear in apart)
        return Contest(method, against, ahead, sum(-difference > clear for difference, clear in apart), len(apart))

    def to_dict(self) -> dict[str, Any]:
        return {
            "experiment": "bai",
            "source": "Bai et al., Sci. China Inf. Sci. 2017, Figs. 3 to 6",
            "warning": WARNING,
            "contests": [asdict(contest) for contest in self.contests],
            "points": [asdict(point) for point in self.points],
            "distances": [asdict(distance) for distance in self.distances],
        }

    def to_markdown(self) -> str:
        """A table a figure (methods down, epsilons across, accuracy and standard error in per cent), then distances."""
        lines = []
        for table, mine in self.by_table.items():
            epsilons = list(dict.fromkeys(f"eps {point.epsilon:g}" for point in mine))
            lines += [f"**{table}** ({mine[0].layers} layers, {mine[0].folds} folds x {mine[0].repeats})", ""]
            lines += _head("method", "private", *epsilons)
            for method in dict.fromkeys(point.method for point in mine):
                row = [point for point in mine if point.method == method]
                lines.append(_row(method, "yes" if row[0].private else "no", *(point.text for point in row)))
            lines.append("")
        if self.distances:
            lines += _head("arities", "subtrees", "eps'", *dict.fromkeys(f"{d.steps:,} steps" for d in self.distances))
        for (arities, epsilon), found in self.by_space.items():
            cells = (f"{distance.distance:.3f}" for distance in found)
            lines.append(_row(" ".join(map(str, arities)), str(found[0].subtrees), f"{epsilon:g}", *cells))
        return "\n".join([*lines, ""])


def _head(*titles: str) -> list[str]:
    return [_row(*titles), "|" + "---|" * len(titles)]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def methods(table: str, layers: int, *, steps: int | None = None) -> dict[str, Callable[[float], PrivateClassifier]]:
    """The learners of a figure by name. ``steps`` cuts the paper's chains short, for a quick look."""
    min_records, chains = PAPER[table]
    depth = layers - 1

    def maker(recipe: str, **params: Any) -> Callable[[float], PrivateClassifier]:
        return lambda epsilon: make_classifier(recipe, epsilon=epsilon, **params)

    made = {
        EXACT: maker("exact"),
        "exact, multiway": maker("exact", tests="multiway", max_depth=depth),
        "diffpc45": maker("diffpc45", max_depth=depth),
        "embedded, exact search": maker("embedded", max_depth=min(depth, 3)),  # its default: no rule stops it early
    }
    for d, name in zip(EMBEDDINGS, (PER_LEVEL, *BLOCKS), strict=True):
        buffer, limit = chains.get(d, (None, None))
        if limit is not None and steps is not None:
            limit = min(limit, steps)
        made[name] = maker(
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


def check_tables(tables: Sequence[str]) -> None:
    for table in tables:
        if table not in PAPER:
            raise ParameterError(f"no figure shows {table!r}; choose among {', '.join(TABLES)}")


def run(
    tables: Sequence[str] = TABLES,
    epsilons: Sequence[float] = EPSILONS,
    *,
    layers: int = LAYERS,
    folds: int = FOLDS,
    repeats: int = 1,
    steps: int | None = None,
    data_dir: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Figures:
    """Cross-validate every learner of every figure."""
    check_tables(tables)
    points: list[Point] = []
    loaded = {table: real.load(table, data_dir) for table in tables}
    jobs = [(table, *job) for table in tables for job in product(methods(table, layers, steps=steps), epsilons)]
    for number, (table, method, epsilon) in enumerate(jobs):
        classifier = methods(table, layers, steps=steps)[method](epsilon)
        score = evaluate(*loaded[table], [classifier], folds=folds, repeats=repeats, references=()).results[0]
        points.append(
            Point(
                table=table,
                method=method,
                epsilon=float(epsilon),
                layers=layers,
                folds=folds,
                repeats=repeats,
                accuracy_mean=score.accuracy_mean,
                accuracy_error=score.accuracy_std / (folds * repeats - 1) ** 0.5,
                fit_seconds_mean=score.fit_seconds_mean,
                private=score.private,
            )
        )
        if progress is not None:
            progress(number + 1, len(jobs))
    return Figures(tuple(points))
