"""A standalone cluster of two workers, as administrators start one: the command line, and a worker that is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from privet.cli import __main__ as entry
from privet.datasets.clinic import clinic

pa = pytest.importorskip("pyarrow")
pyspark = pytest.importorskip("pyspark", reason="NOT TESTED: Spark; pip install 'privet[spark]'")
sys.path[:0] = [str(Path(__file__).parent)]  # importlib mode leaves it off
from servers import java_is_there  # noqa: E402

pytestmark = pytest.mark.slow  # test_spark.py has a cluster inside one process, and kills an executor of it
SPARK = Path(pyspark.__file__).parent
EXAMPLE = Path(__file__).parents[2] / "examples" / "spark" / "fit_visits.py"
WAIT = 120  # seconds for a process to come up, on a machine that is busy
SCHEMA, TABLE = clinic(4000, seed=1)
# Opens the table, says so, waits until a worker was killed, and counts on.
COUNTS = """
import sys, time
from pathlib import Path
from pyspark.sql import SparkSession
from privet.engines.opening import open_engine
from privet.privacy.counting import ROOT, class_counts, refine
from privet.schema import Schema
from privet.structure.splits import OneCategory

records, schema, folder = sys.argv[1], Schema.from_json(sys.argv[2]), Path(sys.argv[3])
session = SparkSession.builder.getOrCreate()
session.sparkContext.setCheckpointDir(str(folder / "codes"))
engine = open_engine(session.read.parquet(records).repartition(4), schema)
cells = refine(ROOT, schema, [OneCategory(schema.names.index("cough"), 0)])
before = class_counts(engine, cells).tolist()
(folder / "ready").touch()
while not (folder / "go").exists():
    time.sleep(0.1)
after = class_counts(engine, cells).tolist()
print("SAME" if before == after else "DIFFERENT", sum(map(sum, after)))
"""


class Cluster:
    """A master and two workers, each a process with a group of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        # Executors start with the environment of their worker.
        self.environment = os.environ | {
            "SPARK_HOME": str(SPARK),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(folder / "work"),
            "SPARK_NO_DAEMONIZE": "1",
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        self.master = self._start("master", "deploy.master.Master", "--host", "127.0.0.1", "--port", "0")
        self.address = self._await("master", r"Starting Spark master at (spark://\S+)")
        for number in (1, 2):
            self.workers.append(
                self._start(f"worker-{number}", "deploy.worker.Worker", self.address, "--cores", "1", "--memory", "1g")
            )
            self._await(f"worker-{number}", "Successfully registered with (master)")

    def _start(self, name: str, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.{kind}", *arguments, "--webui-port", "0"]
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, start_new_session=True)

    def _await(self, name: str, pattern: str) -> str:
        log = self.folder / f"{name}.log"
        for _ in range(10 * WAIT):
            if found := re.search(pattern, log.read_text(errors="replace")):
                return found[1]
            time.sleep(0.1)
        raise AssertionError(log.read_text(errors="replace"))

    def submit(self, *arguments: str) -> subprocess.Popen[str]:
        settings = {
            "spark.ui.enabled": "false",
            "spark.executor.memory": "600m",
            "spark.driver.host": "127.0.0.1",
            "spark.log.level": "OFF",
        }
        given = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        command = [str(SPARK / "bin" / "spark-submit"), "--master", self.address, *given, *arguments]
        return subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def kill_worker(self) -> None:
        """End a worker and its executors at once, as a machine that loses its power."""
        worker = self.workers.pop()
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def stop(self) -> None:
        for process in (*self.workers, self.master):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if not java_is_there():
        pytest.skip("NOT TESTED: Spark; no Java is installed (Debian: apt-get install openjdk-17-jre-headless)")
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    import pyarrow.parquet as pq

    records, schema = tmp_path / "visits.parquet", tmp_path / "visits.schema.json"
    pq.write_table(pa.table({name: list(column) for name, column in TABLE.items()}), records)
    SCHEMA.to_json(schema)
    return records, schema


def test_the_command_line_fits_on_the_cluster(cluster: Cluster, files: tuple[Path, Path], tmp_path: Path) -> None:
    """By spark-submit with its own settings: the address names no master, so spark-submit's holds."""
    records, schema = files
    model = tmp_path / "tree.json"
    query = f"spark://?query=SELECT * FROM parquet.`{records}`"
    asked = ["fit", query, "--schema", str(schema), "--epsilon", "1", "--max-depth", "2", "-o", str(model)]
    running = cluster.submit(str(entry.__file__), *asked)
    output, errors = running.communicate(timeout=4 * WAIT)
    assert running.returncode == 0, output + errors
    assert json.loads(model.read_text())["model"]["certificate"]["epsilon"] == "1"


def test_an_address_with_a_master_needs_no_spark_submit(
    cluster: Cluster, files: tuple[Path, Path], tmp_path: Path
) -> None:
    records, schema = files
    model = tmp_path / "tree.json"
    query = f"{cluster.address}?query=SELECT * FROM parquet.`{records}`"
    asked = ["fit", query, "--schema", str(schema), "--epsilon", "1", "--max-depth", "2", "-o", str(model)]
    command = [sys.executable, "-m", "privet", *asked]
    done = subprocess.run(command, env=cluster.environment, capture_output=True, text=True, timeout=4 * WAIT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(model.read_text())["model"]["certificate"]["epsilon"] == "1"


def test_the_script_of_the_guide(cluster: Cluster, files: tuple[Path, Path], tmp_path: Path) -> None:
    """It keeps the journal, the model and the codes in a folder."""
    running = cluster.submit(str(EXAMPLE), *map(str, files), str(tmp_path))
    output, errors = running.communicate(timeout=4 * WAIT)
    assert running.returncode == 0, output + errors
    assert "epsilon = 1" in output
    assert {"tree.json", "visits.journal", "codes"} <= {path.name for path in tmp_path.iterdir()}


def test_a_worker_that_is_killed_changes_no_count(cluster: Cluster, files: tuple[Path, Path], tmp_path: Path) -> None:
    """Codes are in the checkpoint folder, so the other worker goes on."""
    script = tmp_path / "counts.py"
    script.write_text(COUNTS)
    running = cluster.submit(str(script), *map(str, files), str(tmp_path))
    try:
        while not (tmp_path / "ready").exists():
            assert running.poll() is None, running.communicate()
            time.sleep(0.1)
        cluster.kill_worker()
        (tmp_path / "go").touch()
        output, errors = running.communicate(timeout=4 * WAIT)
    finally:
        running.kill()
    assert running.returncode == 0, output + errors
    assert output.split()[-2:] == ["SAME", "4000"]
