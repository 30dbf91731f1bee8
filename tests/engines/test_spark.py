"""A real Spark, of two executors: the counts and models of records in memory, or an error that quotes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet import EngineError, Ledger, ParameterError, TableError, Unit
from privet.datasets.clinic import clinic
from privet.engines import executors, spark
from privet.engines.opening import open_engine
from privet.engines.sources.spark import SparkTable
from privet.engines.spark import SparkEngine
from privet.papers import Rana2016Classifier
from privet.privacy.counting import ROOT, Tally, class_counts, refine
from privet.privacy.dataset import PrivateDataset
from privet.recipes.ours.additive_regression import AdditiveRegression
from privet.recipes.ours.exact import ExactTree
from privet.recipes.ours.exact_regression import ExactRegression
from privet.recipes.ours.random_forest import RandomForest
from privet.recipes.papers.diffpc45 import DiffPC45
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Threshold
from privet.testing import check_engine

pa = pytest.importorskip("pyarrow")
pyspark = pytest.importorskip("pyspark", reason="NOT TESTED: Spark; pip install 'privet[spark]'")
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "sources")]  # importlib mode leaves them off
import asked  # noqa: E402
from edges import differences, edge_schema, edge_table  # noqa: E402
from servers import java_is_there, running_spark, spark_executors  # noqa: E402
from zero import every_recipe, model_of  # noqa: E402

SCHEMA, TABLE = clinic(150, seed=1)


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    if not java_is_there():
        pytest.skip("NOT TESTED: Spark; no Java is installed (Debian: apt-get install openjdk-17-jre-headless)")
    with running_spark() as session:
        yield session


def test_every_odd_cell_is_read_as_from_the_table(session: Any) -> None:
    table = edge_table()
    engine = open_engine(session.createDataFrame(table), edge_schema(table))
    assert isinstance(engine, SparkEngine)
    assert differences(engine, table) == []


def test_spark_counts_as_memory_does(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first tables hold no record, and one. Small slices: large answers are added up on the cluster."""
    monkeypatch.setattr(spark, "FEW", 64)
    check_engine(_texts_on(session), rounds=2, texts=True)


def test_questions_by_value_are_answered_as_in_memory(session: Any) -> None:
    frame = session.createDataFrame(pa.table({name: list(column) for name, column in asked.TABLE.items()}))
    assert asked.answers(frame) == asked.answers(asked.TABLE)


def _texts_on(session: Any) -> Any:
    def make(schema: Schema, table: dict[str, list[Any]]) -> Any:
        columns = {name: pa.array(column, pa.string()) for name, column in table.items()}
        frame = session.createDataFrame(pa.table(columns))
        return open_engine(frame.repartition(1) if len(table["class"]) % 2 else frame, schema)

    return make


@pytest.mark.parametrize("recipe", [DiffPC45(max_depth=2), RandomForest(n_estimators=3)], ids=lambda r: r.info.name)
def test_the_same_model(session: Any, recipe: Any) -> None:
    same_on(session, recipe, 150, 7)


@pytest.mark.parametrize(
    "recipe", [ExactRegression(max_depth=2), AdditiveRegression(pairs=0)], ids=lambda r: r.info.name
)
def test_the_same_model_of_a_number(session: Any, recipe: Any) -> None:
    same_on(session, recipe, 300, 100, Schema(SCHEMA.attributes[:2], Numeric("temperature", 35, 42)))


def same_on(session: Any, recipe: Any, records: int, size: int, schema: Schema = SCHEMA) -> None:
    _, columns = clinic(records, seed=1)
    table = pa.table({name: pa.array(list(column)) for name, column in columns.items()})
    here = model_of(recipe, schema, lambda prepared: open_engine(table, prepared))
    source, once = SparkTable(session.createDataFrame(table)), not recipe.recuts(schema)
    assert here == model_of(recipe, schema, lambda p: SparkEngine.read(source, p, for_one_fit=once, size=size))


def test_a_bootstrap_is_refused_before_anything_is_charged(session: Any) -> None:
    frame = session.createDataFrame(pa.table({name: pa.array(list(column)) for name, column in TABLE.items()}))
    ledger = Ledger(1).allow_nonprivate()
    model = Rana2016Classifier(SCHEMA, epsilon=1, variant="as-published", ledger=ledger)
    with pytest.raises(ParameterError, match="bootstrap sample needs all records in the memory of one process"):
        model.fit(frame)
    assert ledger.spent == 0


def test_units_come_together(session: Any) -> None:
    schema = Schema((Numeric("age", 0, 10, bins=5),), Categorical("ill", ("no", "yes")), unit=Unit("who", 2))
    rows = [(float(i * 7 % 10), ("no", "yes")[i % 2], None if i % 11 == 0 else i % 13) for i in range(200)]
    table = pa.table({name: pa.array([row[i] for row in rows]) for i, name in enumerate(schema.columns)})
    frame = session.createDataFrame(table).repartition(3)
    ours, theirs = (open_engine(source, schema).answer([Tally(ROOT, ((0,),))])[0] for source in (table, frame))
    assert np.array_equal(ours, theirs)


def test_a_partition_may_hold_no_record(session: Any) -> None:
    """Whether a fit fails must not tell how records are spread."""
    frame = session.createDataFrame(pa.table({name: pa.array(list(column[:3])) for name, column in TABLE.items()}))
    engine = open_engine(frame.repartition(6), SCHEMA, for_one_fit=True)
    found = class_counts(engine, ROOT)
    assert found.sum() == 3
    assert engine.answer([Tally(ROOT, ((0,),))])[0].sum(axis=1).tolist() == found.tolist()


def test_a_column_that_is_not_there(session: Any) -> None:
    with pytest.raises(TableError, match="lacks"):
        open_engine(session.createDataFrame(pa.table({"age": [1]})), SCHEMA)


def test_privet_ships_itself(tmp_path: Path) -> None:
    """What is sent is all of the package, and has the digest of what is here."""
    with zipfile.ZipFile(spark._archive()) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert "privet/engines/executors.py" in names
    assert "privet/schema/schema.json" in names
    assert not any("__pycache__" in name for name in names)
    assert len(executors.own_digest()) == 64


SHIPPED = """
import sys
sys.path[:0] = [{here!r}]
from servers import running_spark
from privet.engines import spark
from privet.engines.opening import open_engine
from privet.privacy.counting import ROOT, class_counts
from privet.schema import Categorical, Numeric, Schema

spark._installed_there = lambda session: False
schema = Schema((Numeric("id", 0, 100),), Categorical("ill", ("0", "1")))

def where(batches):
    import privet, pyarrow
    for _ in batches:
        yield pyarrow.RecordBatch.from_pydict({{"where": [privet.__file__]}})

with running_spark() as session:
    frame = session.range(0, 100).selectExpr("id", "id % 2 as ill")
    print(class_counts(open_engine(frame, schema), ROOT).tolist())
    print(session.range(1).mapInArrow(where, "where string").collect()[0]["where"])
"""


@pytest.mark.engines
def test_executors_run_what_was_shipped() -> None:
    if not java_is_there():
        pytest.skip("NOT TESTED: Spark; no Java is installed (Debian: apt-get install openjdk-17-jre-headless)")
    script = SHIPPED.format(here=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    counts, where = done.stdout.split("\n")[:2]
    assert counts == "[[50, 50]]"
    assert "privet.zip" in where


# ---- the full matrix ------------------------------------------------------------------------------------------------


@pytest.mark.engines
@pytest.mark.parametrize(("size", "records"), [(1, 20), (7, 60), (2**17, 150)])
@pytest.mark.parametrize(
    "recipe",
    [*every_recipe(), ExactTree(max_depth=3)],
    ids=lambda r: f"{r.info.name}-{r.variant}-{r.params.get('max_depth')}",
)
def test_every_recipe_grows_the_same_model(session: Any, recipe: Any, size: int, records: int) -> None:
    if (recipe.info.name, recipe.variant) in WHOLE:
        with pytest.raises(ParameterError, match="in the memory of one process"):
            same_on(session, recipe, records, size)
        return
    same_on(session, recipe, records, size)


WHOLE = {("rana2016", "as-published"), ("patil-singh2014", "as-published"), ("embedded", "as-published")}


@pytest.mark.engines
def test_spark_counts_as_memory_does_at_length(session: Any) -> None:
    check_engine(_texts_on(session), rounds=8, seed=1, texts=True)


@pytest.mark.engines
@pytest.mark.parametrize("reliable", [False, True], ids=["local checkpoint", "checkpoint folder"])
def test_an_executor_that_dies(session: Any, reliable: bool, tmp_path: Path) -> None:
    """Identical counts, or an error that quotes nothing; the books hold; and a second fit works."""
    context = session.sparkContext
    if reliable:
        context.setCheckpointDir(str(tmp_path))
    schema = Schema((Numeric("age", 0, 100), Categorical("ward", ("a", "b"))), Categorical("ill", ("no", "yes")))
    frame = session.range(0, 400_000, numPartitions=4).selectExpr(
        "cast(id % 100 as double) as age", "if(id % 3 = 0, 'a', 'b') as ward", "if(id % 7 < 3, 'yes', 'no') as ill"
    )
    engine = open_engine(frame, schema)
    cells = refine(ROOT, schema, [Threshold(0, 5)])
    before = class_counts(engine, cells)
    ledger = Ledger(1)
    half = PrivateDataset(engine, ledger).partition(Threshold(0, 5))[0]
    victim = spark_executors()[0]
    killer = threading.Timer(0.3, os.kill, (victim, signal.SIGKILL))
    killer.start()
    failures = []
    for _ in range(6):  # whenever the kill falls, one of the passes meets it
        try:
            assert np.array_equal(class_counts(engine, cells), before)
        except EngineError as error:
            failures.append(error)
    killer.join()
    failed = bool(failures)
    for error in failures:
        assert error.__context__ is None
        assert not any(word in str(error) for word in ("ward", "Exception", "block"))
    assert not (reliable and failed)  # a folder survives its executors
    spent = ledger.spent
    if failed:
        with pytest.raises(EngineError):
            half.noisy_count(0.25)
        assert ledger.spent == spent + 0.25  # charged, and not released
    for _ in range(20):  # Spark starts another executor
        if len(spark_executors()) == 2:
            break
        time.sleep(0.5)
    assert np.array_equal(class_counts(open_engine(frame, schema), cells), before)


class TestConnect:
    """Spark Connect is refused before anything is read, with what to do instead."""

    def frame(self) -> Any:
        """A frame of Connect's class; its package needs a server and libraries that Spark itself does not."""

        def lacks(_: Any, name: str) -> Any:
            raise AttributeError(name)

        content = {"__module__": "pyspark.sql.connect.dataframe", "__getattr__": lacks}
        return object.__new__(type("DataFrame", (pyspark.sql.DataFrame,), content))

    def test_a_frame_is_refused(self) -> None:
        ledger = Ledger(1)
        with pytest.raises(TableError, match=r"Spark Connect.*spark-submit"):
            open_engine(self.frame(), SCHEMA)
        assert ledger.spent == 0

    def test_an_address_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from pyspark.sql import SparkSession

        class Builder:
            def __getattr__(self, name: str) -> Any:
                return lambda *given, **more: self

        builder = Builder()
        monkeypatch.setattr(SparkSession, "builder", builder)
        monkeypatch.setattr(Builder, "table", lambda *_: self.frame(), raising=False)
        with pytest.raises(TableError, match="without SPARK_REMOTE"):
            open_engine("spark://?table=visits", SCHEMA)
