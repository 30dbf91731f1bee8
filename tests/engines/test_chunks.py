"""Records in chunks: the counts and the models of records in memory, wherever chunks end and wherever they lie."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet import EngineError, Ledger, ParameterError
from privet.datasets.clinic import clinic
from privet.engines import spill
from privet.engines.chunks import ChunkEngine
from privet.engines.memory import MemoryEngine
from privet.engines.opening import open_engine
from privet.engines.spill import Spill, Spilled
from privet.fitting import Request, fit
from privet.papers import DiffPC45Classifier, Rana2016Classifier
from privet.privacy.counting import ROOT, Tally, class_counts, level_sums, refine
from privet.privacy.dataset import PrivateDataset
from privet.recipes.ours.exact import ExactTree
from privet.recipes.ours.random_forest import RandomForest
from privet.recipes.papers.diffpc45 import DiffPC45
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Tests
from privet.testing import check_engine, schemas, tables

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode leaves it off the path
from zero import every_recipe, model_of

SCHEMA, TABLE = clinic(150, seed=1)


class Batches:
    """A table as a source, in batches of the given sizes, again and again."""

    caveats = ()

    def __init__(self, table: dict[str, Any], *sizes: int) -> None:
        self.table, self.sizes = table, sizes or (2**20,)

    def header(self, columns: Any) -> Any:
        return {name: [] for name in columns}

    def batches(self, columns: Any) -> Iterator[Any]:
        start, turn = 0, 0
        while start < len(self.table[columns[0]]):
            size = self.sizes[turn % len(self.sizes)]
            yield {name: self.table[name][start : start + size] for name in columns}
            start, turn = start + size, turn + 1


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No room in memory: everything lies in the file."""
    monkeypatch.setattr(spill.Spill.__init__, "__defaults__", (0,))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("size", "rounds"), [(1, 3), (7, 12), (2**17, 12)])
def test_chunks_count_as_memory_does(size: int, rounds: int) -> None:
    check_engine(lambda schema, table: ChunkEngine.read(Batches(table, 3, 11), schema, size=size), rounds=rounds)


def test_a_file_counts_as_memory_does(on_disk: Path) -> None:
    check_engine(lambda schema, table: ChunkEngine.read(Batches(table), schema, size=5), rounds=5)


@settings(max_examples=25)
@given(st.data())
def test_no_table_and_no_cut_of_it_shows(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    table = data.draw(tables(schema, 20))
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    engine = ChunkEngine.read(Batches(table, *sizes), schema, size=data.draw(st.integers(1, 12)))
    pairs = tuple((0, a) for a in range(len(schema.attributes)))
    wanted, found = (e.answer([Tally(ROOT, pairs)])[0] for e in (open_engine(table, schema), engine))
    assert np.array_equal(wanted, found)


@pytest.mark.parametrize("recipe", list(every_recipe()), ids=lambda r: f"{r.info.name}-{r.variant}")
def test_every_recipe_grows_the_same_model(recipe: Any) -> None:
    schema, table = SCHEMA, TABLE
    here = model_of(recipe, schema, lambda prepared: open_engine(table, prepared))
    for size in (7, 2**17):
        assert here == model_of(recipe, schema, lambda p, size=size: ChunkEngine.read(Batches(table), p, size=size))


@pytest.mark.engines
@pytest.mark.parametrize("recipe", list(every_recipe()), ids=lambda r: f"{r.info.name}-{r.variant}")
def test_every_recipe_grows_the_same_model_from_chunks_of_one(recipe: Any) -> None:
    schema, table = clinic(40, seed=1)
    here = model_of(recipe, schema, lambda prepared: open_engine(table, prepared))
    assert here == model_of(recipe, schema, lambda prepared: ChunkEngine.read(Batches(table), prepared, size=1))


def test_a_protected_source_is_read_once_and_cut_again() -> None:
    reads = []

    class Once(Batches):
        def batches(self, columns: Any) -> Iterator[Any]:
            reads.append(columns)
            return super().batches(columns)

    engine = ChunkEngine.read(Once(TABLE), SCHEMA, size=40)
    data = PrivateDataset(engine, Ledger(9))
    for bins in (3, 11):
        model = ExactTree(max_depth=2, max_bins=bins)
        prepared = model.prepare(SCHEMA)
        ours, theirs = engine.with_schema(prepared), open_engine(TABLE, prepared)
        pairs = Tally(ROOT, tuple((a,) for a in range(len(SCHEMA.attributes))))
        assert np.array_equal(ours.answer([pairs])[0], theirs.answer([pairs])[0])
    for depth in (1, 2):
        DiffPC45Classifier(epsilon=1, max_depth=depth).fit(data)
    assert len(reads) == 1


@pytest.mark.parametrize(
    ("recipe", "most"),
    [
        (DiffPC45(max_depth=4), 5),
        (RandomForest(), 2),  # all trees, and how much they count
        (ExactTree(max_depth=2, leaf_share=0), 1),
    ],
    ids=["diffpc45", "random-forest", "exact"],
)
def test_a_pass_a_level(recipe: Any, most: int) -> None:
    """How many records there are is known from reading them: nobody reads them again for it."""
    engine = ChunkEngine.read(Batches(TABLE), recipe.prepare(SCHEMA), for_one_fit=True, size=40)
    fit(Request(recipe, engine, 100, random=np.random.default_rng(0), prepared=True))
    assert engine.passes <= most


def test_an_engine_for_one_fit_has_only_its_own_cuts() -> None:
    schema = Schema((Numeric("age", 0, 120),), Categorical("ill", ("no", "yes")))
    engine = ChunkEngine.read(Batches({"age": [3, 99], "ill": ["no", "yes"]}), schema, for_one_fit=True)
    assert engine.with_schema(schema) is engine
    with pytest.raises(ParameterError, match="codes of another schema"):
        engine.with_schema(schema.with_bins(3))
    with pytest.raises(ParameterError, match="no values of"):
        level_sums(engine, ROOT, 0)


def test_records_that_come_together_bring_their_coins() -> None:
    engine = ChunkEngine.read(Batches(TABLE), SCHEMA, size=11)
    cells = engine.shards(ROOT, 4, lambda sides, size: np.arange(size) % sides)
    whole = engine.gather()
    assert isinstance(whole, MemoryEngine)
    assert np.array_equal(class_counts(engine, cells), class_counts(whole, cells))
    model = Rana2016Classifier(Schema(SCHEMA.attributes, SCHEMA.label), epsilon=1, variant="as-published")
    model.fit(Batches(TABLE, 40))


# ---- the file ------------------------------------------------------------------------------------------------------


def test_what_was_put_comes_back() -> None:
    store = Spill(room=100)
    arrays = [np.arange(5), np.zeros((3, 40), np.uint8)[:, ::2], np.array([]), np.array([1.5, np.nan])]
    kept = [store.put(array) for array in arrays]
    assert [isinstance(one, Spilled) for one in kept] == [False, False, False, True]
    for one, array in zip(kept, arrays, strict=True):
        assert np.array_equal(store.get(one), array, equal_nan=True)
        assert store.get(one).dtype == array.dtype


def test_the_file_has_no_name_and_is_its_owners(on_disk: Path) -> None:
    engine = ChunkEngine.read(Batches(TABLE), SCHEMA)
    assert list(on_disk.iterdir()) == []
    assert engine._spill._file is not None
    status = os.fstat(engine._spill._file.fileno())
    assert status.st_nlink == 0
    assert status.st_mode & 0o777 == 0o600
    assert status.st_size > 0


def test_the_file_is_gone_after_a_kill(tmp_path: Path) -> None:
    script = (
        "import os, signal\nfrom privet.engines.spill import Spill\nimport numpy as np\n"
        "store = Spill(room=0)\nkept = store.put(np.arange(1000))\n"
        "assert store.get(kept).sum() == 499500\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], env=os.environ | {"TMPDIR": str(tmp_path)})
    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_engine_error_before_any_charge(on_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device", "the cell Smith")

    monkeypatch.setattr(os, "pwrite", full)
    ledger = Ledger(1)
    with pytest.raises(EngineError, match="TMPDIR") as raised:
        DiffPC45Classifier(SCHEMA, epsilon=1, ledger=ledger).fit(Batches(TABLE))
    assert raised.value.__context__ is None
    assert ledger.spent == 0


@pytest.mark.parametrize("failures", [2, 10**9])
def test_a_failing_disk_is_tried_three_times(on_disk: Path, monkeypatch: pytest.MonkeyPatch, failures: int) -> None:
    """A question that could be answered in the end is answered; else the books say what was charged."""
    left, read = [failures], os.preadv

    def flaky(*arguments: Any) -> int:
        left[0] -= 1
        if left[0] >= 0:
            raise OSError(5, "Input/output error")
        return read(*arguments)

    engine = ChunkEngine.read(Batches(TABLE), SCHEMA)
    test = Tests.binary(SCHEMA)[0]
    halves = refine(ROOT, SCHEMA, [test])
    wanted = class_counts(engine, halves)
    monkeypatch.setattr(os, "preadv", flaky)
    if failures == 2:
        assert np.array_equal(class_counts(engine, halves), wanted)
        return
    ledger = Ledger(1)
    half = PrivateDataset(engine, ledger).partition(test)[0]
    with pytest.raises(EngineError):
        half.noisy_count(0.5)
    assert ledger.spent == 0.5
    monkeypatch.setattr(os, "preadv", read)
    half.noisy_count(0.5)
