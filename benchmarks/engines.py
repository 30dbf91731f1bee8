"""A greedy private tree of depth 5 where the data live, against reading or grouping the same columns once.

    python benchmarks/engines.py [--records 1000000] [--only parquet exact numbers duckdb ...] [--one-row-group]
    python benchmarks/engines.py --records 10000000 --only executors

The table has 7 numbers and 7 texts a record, and a label. Figures are CPU seconds of all processes that take part (a
server's and executors' too), each in the same run as what it is compared with; memory is the peak above what the
process held before. PostgreSQL needs its server on the machine, Spark a Java; what is missing is left out, and said.
``numbers`` compares a regression tree with a tree of 16 classes. Exits with 1 when a target is missed. The targets are
meant for 10,000,000 records and more: below, constants count.
``executors`` compares a Spark of two executors with one by the clock, so it wants a machine that is quiet, with a core
for each; beside it stands the CPU time of the driver and of the busiest executor, which other work disturbs less.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from privet import Categorical, ExactTreeClassifier, ExactTreeRegressor, Numeric, Schema
from privet.papers import DiffPC45Classifier

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "engines"))
from servers import java_is_there, postgres_programs, running_postgres, running_spark, spark_executors

DEPTH, PIECE = 5, 2**20
NUMBERS, TEXTS = 7, 7
STREAM, MEMORY, POSTGRES, SPARK, EXACT = 4.0, 256.0, 1.5, 2.0, 90.0  # targets
TWO_EXECUTORS = 1.4  # times as fast as one
BURIED = 0.5  # seconds after which a server has taken notice of a process of its own that ended


def schema() -> Schema:
    numbers = [Numeric(f"n{i}", 0, 100, integer=i < 3) for i in range(NUMBERS)]
    texts = [Categorical(f"c{i}", tuple(f"value {j}" for j in range(4 + 2 * i))) for i in range(TEXTS)]
    return Schema((*numbers, *texts), Categorical("ill", ("no", "yes")))


def pieces(records: int, seed: int = 0) -> Any:
    """The table, a million records at a time."""
    for start in range(0, records, PIECE):
        random, n = np.random.default_rng((seed, start)), min(PIECE, records - start)
        columns: dict[str, Any] = {}
        for i in range(NUMBERS):
            columns[f"n{i}"] = random.integers(0, 100, n) if i < 3 else random.random(n) * 100
        for i in range(TEXTS):
            listed = pa.array([f"value {j}" for j in range(4 + 2 * i)])
            columns[f"c{i}"] = listed.take(pa.array(random.integers(0, len(listed), n)))
        ill = columns["n0"] + columns["n3"] + random.normal(0, 30, n) > 100
        columns["ill"] = pa.array(["no", "yes"]).take(pa.array(ill.astype(np.int8)))
        yield pa.table(columns)


def write(path: Path, records: int, one_row_group: bool) -> None:
    group = 2**31 if one_row_group else 2**20
    with parquet.ParquetWriter(path, next(iter(pieces(1))).schema) as file:
        if one_row_group:
            file.write_table(pa.concat_tables(pieces(records)), row_group_size=group)
        else:
            for piece in pieces(records):
                file.write_table(piece, row_group_size=group)


# ---- measuring ---------------------------------------------------------------------------------------------------


def cpu_seconds(root: int) -> dict[int, float]:
    """CPU seconds of a process and of all below it."""
    ticks, below, spent = os.sysconf("SC_CLK_TCK"), dict[int, list[int]](), dict[int, float]()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                told = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            below.setdefault(int(told[1]), []).append(int(entry.name))
            spent[int(entry.name)] = (int(told[11]) + int(told[12]) + int(told[13]) + int(told[14])) / ticks
    found, waiting = dict[int, float](), [root]
    while waiting:
        pid = waiting.pop()
        waiting += below.get(pid, [])
        found[pid] = spent.get(pid, 0.0)
    return found


def cpu_of(work: Callable[[], Any], *roots: int) -> float:
    """What some work costs here and in the processes below ``roots``, where a server works for it."""

    def once() -> float:
        return sum({pid: s for root in (os.getpid(), *roots) for pid, s in cpu_seconds(root).items()}.values())

    def now() -> float:
        """A process that ends while others are looked at is missed, until its parent answers for it."""
        first = once()
        time.sleep(BURIED)
        return max(first, once())

    before = now()
    work()
    return now() - before


def peak_of(work: Callable[[], Any]) -> float:
    """Megabytes above what this process holds now, at the most."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the old peak
    before = _status("VmRSS")
    work()
    return _status("VmHWM") - before


def _status(key: str) -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return int(line.split()[1]) / 1024


def fit_of(what: str, source: Any) -> None:
    """A greedy tree, or an exact one that predicts a number, or sixteen classes."""
    if what == "tree":
        DiffPC45Classifier(schema(), epsilon=1, max_depth=DEPTH).fit(source)
        return
    column = {"number": NUMBERS - 1, "classes": NUMBERS + TEXTS - 1}[what]
    others = tuple(one for i, one in enumerate(schema().attributes) if i not in (NUMBERS - 1, NUMBERS + TEXTS - 1))
    facts = Schema(others, schema().attributes[column])
    (ExactTreeRegressor if what == "number" else ExactTreeClassifier)(facts, epsilon=1).fit(source)


def fit(source: Any) -> None:
    fit_of("tree", source)


def warm_up() -> None:
    """Kernels compiled and libraries loaded, which no table's size changes."""
    table = next(iter(pieces(30_000)))
    with tempfile.TemporaryDirectory() as folder:
        parquet.write_table(table, Path(folder) / "few.parquet")
        fit(str(Path(folder) / "few.parquet"))
    ExactTreeClassifier(schema(), epsilon=1, max_depth=3).fit(table.slice(0, 5000))


def said(what: str, figure: float, target: float, unit: str) -> bool:
    print(f"{what}: {figure:.2f}{unit}, target {target:g}{unit}{'' if figure <= target else '  MISSED'}")
    return figure <= target


# ---- what is measured --------------------------------------------------------------------------------------------


def of_parquet(path: Path) -> bool:
    def stream() -> None:
        with parquet.ParquetFile(path) as file:
            for _ in file.iter_batches(2**17, columns=list(schema().columns)):
                pass

    stream()
    once = min(cpu_of(stream) for _ in range(2))
    spent = cpu_of(lambda: fit(str(path)))
    peak = float(apart("--peak", str(path)))
    print(f"Parquet: streaming the columns {once:.2f} CPU s, a tree of depth {DEPTH} {spent:.2f} CPU s")
    return said("  ratio", spent / once, STREAM, "") & said("  memory", peak, MEMORY, " MB")


def apart(*arguments: str) -> str:
    """What a process of its own prints: it holds nothing that others have left in memory."""
    done = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def of_exact(path: Path) -> bool:
    spent = cpu_of(lambda: ExactTreeClassifier(schema(), epsilon=1, max_depth=4).fit(str(path)))
    return said("Exact tree of depth 4", spent, EXACT, " CPU s")


def of_numbers(path: Path) -> bool:
    few = next(iter(pieces(5000)))
    for what in ("classes", "number"):
        fit_of(what, few)  # compiled
    spent = {what: cpu_of(lambda what=what: fit_of(what, str(path))) for what in ("classes", "number")}
    peak = {what: float(apart("--peak", str(path), "--fit", what)) for what in spent}
    for what, name in (("classes", "16 classes"), ("number", "a number")):
        print(f"Exact tree of {name}: {spent[what]:.1f} CPU s, {peak[what]:.0f} MB")
    ratios = [measured["number"] / measured["classes"] for measured in (spent, peak)]
    return said("  ratio of time", ratios[0], 1, "") & said("  ratio of memory", ratios[1], 1, "")


def groups(table: str, cut: str) -> list[str]:
    """A plain count of every column by label, numbers cut as the tree cuts them."""
    cuts = [cut.format(f"n{i}") for i in range(NUMBERS)] + [f"c{i}" for i in range(TEXTS)]
    return [f"select {one} as g, ill, count(*) from {table} group by 1, 2" for one in cuts]


def of_duckdb(path: Path) -> bool:
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "t.db"
        with duckdb.connect(str(file)) as connection:
            connection.execute(f"create table t as from '{path}'")
            asked = groups("t", "cast(floor({} / 5) as int)")
            plain = cpu_of(lambda: [connection.execute(one).fetchall() for one in asked])
        spent = cpu_of(lambda: fit(f"duckdb:///{file}?table=t"))
    print(f"DuckDB: plain group-bys {plain:.2f} CPU s, a tree {spent:.2f} CPU s, ratio {spent / plain:.2f}")
    return True


def of_postgres(records: int) -> bool:
    programs = postgres_programs()
    if programs is None:
        print("PostgreSQL: NOT MEASURED, no server is installed")
        return True
    with running_postgres(programs) as server:
        for number, piece in enumerate(pieces(records)):
            server.ingest("t", piece, mode="append" if number else "replace")
        server.run("vacuum analyze t")
        root = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
        asked = groups("t", "floor({} / 5)::int")
        server.run("set max_parallel_workers_per_gather = 0", asked[0])  # pages into the cache
        plain = cpu_of(lambda: server.run("set max_parallel_workers_per_gather = 0", *asked), root)
        spent = cpu_of(lambda: fit(server.address(table="t")), root)
    print(f"PostgreSQL: plain group-bys {plain:.2f} CPU s, a tree {spent:.2f} CPU s")
    return said("  ratio", spent / plain, POSTGRES, "")


def of_spark(path: Path) -> bool:
    if not java_is_there():
        print("Spark: NOT MEASURED, no Java is installed")
        return True
    with running_spark() as session:
        frame = session.read.parquet(str(path)).repartition(4)
        frame.count()
        frame.createOrReplaceTempView("t")
        asked = groups("t", "cast(floor({} / 5) as int)")
        fit(frame.limit(1000))  # executors load privet, as they have loaded Spark
        plain = cpu_of(lambda: [session.sql(one).collect() for one in asked])
        begun = time.perf_counter()
        spent = cpu_of(lambda: fit(frame))
        print(
            f"Spark: plain group-bys {plain:.2f} CPU s, a tree {spent:.2f} CPU s ({time.perf_counter() - begun:.1f} s)"
        )
    return said("  ratio", spent / plain, SPARK, "")


def of_executors(path: Path) -> bool:
    if not java_is_there():
        print("Executors: NOT MEASURED, no Java is installed")
        return True
    clusters = [apart("--cluster", str(number), "--table", str(path)) for number in (1, 2)]
    (one, work_of_one), (two, work_of_two) = (map(float, told.split()) for told in clusters)
    faster = one / two
    print(f"Spark by the clock: one executor {one:.1f} s, two {two:.1f} s")
    print(f"  {faster:.2f} times as fast, target {TWO_EXECUTORS:g}{'' if faster >= TWO_EXECUTORS else '  MISSED'}")
    ratio = work_of_one / work_of_two
    print(f"  driver and busiest executor: {work_of_one:.1f} and {work_of_two:.1f} CPU s, ratio {ratio:.2f}")
    return faster >= TWO_EXECUTORS


def on_cluster(executors: int, path: Path) -> tuple[float, float]:
    """Seconds that a fit takes there, and CPU seconds of the driver and of the executor that had most to do."""
    with running_spark(executors) as session:
        session.conf.set("spark.sql.files.maxPartitionBytes", 2**25)  # several for each, so that all are done together
        frame = session.read.parquet(str(path))
        while len(spark_executors()) < executors:
            time.sleep(0.2)
        fit(frame.limit(20_000).repartition(2 * executors))  # every executor loads privet

        def now() -> dict[int, float]:
            return {pid: sum(cpu_seconds(pid).values()) for pid in (os.getpid(), *spark_executors())}

        before, begun = now(), time.perf_counter()
        fit(frame)
        seconds, after = time.perf_counter() - begun, now()
    everything, *shares = (after[pid] - before[pid] for pid in before)
    return seconds, everything - sum(shares) + max(shares)


def main() -> int:
    every = ("parquet", "exact", "numbers", "duckdb", "postgres", "spark")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="*", default=every, choices=(*every, "executors"))
    parser.add_argument("--one-row-group", action="store_true", help="all records in one row group of the file")
    parser.add_argument("--peak", help=argparse.SUPPRESS)  # in a process of its own: memory of a fit of this file
    parser.add_argument("--fit", default="tree", help=argparse.SUPPRESS)  # which fit
    parser.add_argument("--cluster", type=int, help=argparse.SUPPRESS)  # or a fit on so many executors
    parser.add_argument("--table", type=Path, help=argparse.SUPPRESS)  # of this file
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)  # or write a table to this file
    parser.add_argument("--folder", type=Path, help="where the table is written; kept and used again")
    given = parser.parse_args()
    if given.peak:
        warm_up()
        if given.fit != "tree":
            fit_of(given.fit, next(iter(pieces(5000))))
        print(peak_of(lambda: fit_of(given.fit, given.peak)))
        return 0
    if given.cluster:
        print(*on_cluster(given.cluster, given.table))
        return 0
    if given.write:
        write(given.write, given.records, given.one_row_group)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        name = f"t{given.records}{'-one' if given.one_row_group else ''}.parquet"
        path = (given.folder or Path(temporary)) / name
        if not path.exists():
            more = ["--one-row-group"] if given.one_row_group else []
            apart("--write", str(path), "--records", str(given.records), *more)
        warm_up()
        kept = {
            "parquet": lambda: of_parquet(path),
            "exact": lambda: of_exact(path),
            "numbers": lambda: of_numbers(path),
            "duckdb": lambda: of_duckdb(path),
            "postgres": lambda: of_postgres(given.records),
            "spark": lambda: of_spark(path),
            "executors": lambda: of_executors(path),
        }
        met = [kept[one]() for one in given.only]  # all of them, also after one that misses its target
        return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
