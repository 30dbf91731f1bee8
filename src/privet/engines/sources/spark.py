"""A Spark DataFrame: a table that stays on its cluster and is counted there (``engines/spark.py``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from privet.engines.sources.places import needs
from privet.errors import TableError


@dataclass(frozen=True, repr=False)
class SparkTable:
    """A source's header for a DataFrame. Its records never leave the cluster."""

    frame: Any

    caveats = ()

    def header(self, columns: Sequence[str]) -> Any:
        if find_spec("pyarrow") is None:
            raise needs("pyarrow", "spark", "a Spark table")
        return self.select(columns).limit(0).toArrow()

    def select(self, columns: Sequence[str]) -> Any:
        lacking = [name for name in columns if name not in self.frame.columns]
        if lacking:
            raise TableError(f"the Spark table lacks {', '.join(map(repr, lacking))}; select the columns of the schema")
        return self.frame.select(*(f"`{name.replace('`', '``')}`" for name in columns))

    def __repr__(self) -> str:
        return "<a Spark table>"
