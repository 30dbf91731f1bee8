"""Spark: a DataFrame, or a table of a cluster by its address. It stays on its cluster and is counted there.

``engines/spark.py`` has the engine. A cluster is reached by ``spark://host:7077?table=ward.visits``: a host with a port
is a master of Spark's own; any other word is the master itself, as in ``spark://yarn?table=t`` and
``spark://local[2]?table=t``; without one, Spark's configuration decides.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from privet.engines.sources.places import Place, needs, opened, parse_place
from privet.errors import MissingColumnsError, TableError

QUIET = {
    "spark.log.level": "OFF",  # a line of Spark's log can quote a record
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",  # a snapshot is as large as its table
}

# Counts must come from codes that are stored once, under coins of the driver: checkpoints, broadcasts, shipped files.
CONNECT = (
    "this is a table of Spark Connect, whose sessions have no SparkContext, and privet needs one to store codes and to "
    "send itself to the executors; run on the cluster: spark-submit, a notebook of the cluster, or an address "
    "spark://MASTER?table=T without SPARK_REMOTE and spark.remote"
)


@dataclass(frozen=True, repr=False)
class SparkTable:
    """A source's header for a DataFrame. Its records never leave the cluster."""

    frame: Any

    caveats = ()

    def __post_init__(self) -> None:
        if any(kind.__module__.startswith("pyspark.sql.connect") for kind in type(self.frame).__mro__):
            raise TableError(CONNECT)

    def header(self, columns: Sequence[str]) -> Any:
        if find_spec("pyarrow") is None:
            raise needs("pyarrow", "spark", "a Spark table")
        return self.select(columns).limit(0).toArrow()

    def select(self, columns: Sequence[str]) -> Any:
        lacking = [name for name in columns if name not in self.frame.columns]
        if lacking:
            message = f"the Spark table lacks {', '.join(map(repr, lacking))}; select the columns of the schema"
            raise MissingColumnsError(message, tuple(lacking))
        return self.frame.select(*map(_ticked, columns))

    def __repr__(self) -> str:
        return "<a Spark table>"


@dataclass(frozen=True, repr=False)
class Spark:
    """A table or a query of a cluster. The session lives as long as this process, as the records' codes do."""

    master: str | None
    place: Place

    caveats = ()

    @classmethod
    def parse(cls, name: str) -> Spark:
        """Parse ``spark://host:7077?table=ward.visits``.

        >>> Spark.parse("spark://host:7077?table=visits").master, Spark.parse("spark://local[2]?table=visits").master
        ('spark://host:7077', 'local[2]')
        """
        place = parse_place(name)
        word = place.address.partition("://")[2].rstrip("/")
        if "?" in word or "@" in word:
            raise TableError(f"{place.shown} must be like spark://host:7077?table=visits, with table= or query= alone")
        return cls(f"spark://{word}" if ":" in word else word or None, place)

    def header(self, columns: Sequence[str]) -> Any:
        with self.connected() as table:
            return table.header(columns)

    def names(self) -> tuple[str, ...]:
        with self.connected() as table:
            return tuple(table.frame.columns)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        with self.connected() as table:
            yield from table.select(columns).toArrow().to_batches()

    def connected(self) -> AbstractContextManager[SparkTable]:
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise needs("pyspark", "spark", "from Spark") from None

        def opening(stack: ExitStack) -> SparkTable:
            builder = SparkSession.builder.appName("privet").config(map=QUIET)
            if self.master is not None:
                builder = builder.master(self.master)
                if self.master.startswith("local"):
                    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            session = builder.getOrCreate()
            if self.place.query is not None:
                return SparkTable(session.sql(self.place.query))
            return SparkTable(session.table(".".join(map(_ticked, self.place.parts))))

        return opened(opening, Exception, self._explain)

    def _explain(self, error: Exception) -> str:
        """Why a table cannot be opened, by the kind of Spark's error; its own message is not repeated."""
        if isinstance(error, TableError):
            return str(error)
        if type(error).__name__ in ("AnalysisException", "ParseException"):
            return f"the Spark of {self.place.shown} cannot read {self.place.asked}: check the names; try it in Spark"
        return f"there is no Spark for {self.place.shown}; check the master, and that Java is installed here"

    def __repr__(self) -> str:
        return "<a Spark cluster>"


def _ticked(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
