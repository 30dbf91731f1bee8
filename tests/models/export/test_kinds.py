"""Every kind of model in every program, PostgreSQL and a PMML scorer too; large models; and faults that are seen."""

from __future__ import annotations

import sqlite3
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).parent)]  # importlib mode leaves it off
from kinds import NUMBER, PLAIN, SCHEMA, TWO, every_kind, grown, number_sum, number_tree  # noqa: E402
from runtimes import (  # noqa: E402
    check,
    expected,
    hostile,
    run_duckdb,
    run_onnx,
    run_pmml,
    run_postgres,
    run_python,
    run_sqlite,
)

from privet.errors import ParameterError  # noqa: E402
from privet.models.export import sql  # noqa: E402
from privet.models.forest import Forest  # noqa: E402
from privet.models.model import Model  # noqa: E402
from privet.models.tree import Tree  # noqa: E402
from privet.schema import Categorical, Numeric, Schema  # noqa: E402
from privet.schema.fingerprint import digest  # noqa: E402
from privet.structure.routes import Routes  # noqa: E402
from privet.structure.splits import Multiway  # noqa: E402

KINDS = every_kind()
BINARY = every_kind(TWO, seed=2)
RECORDS = hostile(SCHEMA, 200)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("run", [run_onnx, run_duckdb, run_sqlite], ids=lambda run: run.__name__)
def test_every_kind(run: Any, kind: str) -> None:
    check(KINDS[kind], RECORDS, run)
    check(BINARY[kind], RECORDS, run)


def test_a_bare_python() -> None:
    for model in (*KINDS.values(), BINARY["additive"]):
        check(model, RECORDS, run_python)


def test_postgres(postgres: Any) -> None:
    for model in (*KINDS.values(), BINARY["additive"]):
        check(model, RECORDS, run_postgres(postgres))


@pytest.mark.parametrize("kind", ["tree", "stump", "proba", "surest", "evidence", "counts", "additive"])
def test_pmml(kind: str) -> None:
    check(every_kind(PLAIN)[kind], hostile(PLAIN, 60), run_pmml)


def test_values_that_pmml_cannot_distinguish() -> None:
    with pytest.raises(ParameterError, match="rename one"):
        Model("", KINDS["additive"]).to_pmml()


@pytest.mark.parametrize("model", [number_tree(), number_sum()], ids=["tree", "sum"])
def test_models_that_predict_a_number(model: Any, postgres: Any) -> None:
    for run in (run_onnx, run_duckdb, run_sqlite, run_postgres(postgres), run_python, run_pmml):
        check(model, hostile(NUMBER, 60), run)


def test_numbers_outside_the_bounds_are_clipped() -> None:
    model, table = number_sum(), hostile(NUMBER, 60)
    assert {0.0, 80.0} < set(expected(model, table)[0])
    loose = replace(NUMBER, label=replace(NUMBER.number, high=81.0))
    assert model.routes is not None
    other = replace(model, schema=loose, routes=replace(model.routes, schema=loose))
    for run in (run_onnx, run_duckdb, run_sqlite, run_python):
        with pytest.raises(AssertionError):
            check(model, table, lambda _, records, run=run: run(Model("", other), records))


@pytest.mark.parametrize("kind", ["tree", "proba", "surest", "additive"])
def test_numbers_in_tables_of_their_own(monkeypatch: pytest.MonkeyPatch, kind: str, postgres: Any) -> None:
    small = Model("", KINDS[kind]).to_sql()
    monkeypatch.setattr(sql, "LARGE", 0)
    monkeypatch.setattr(sql, "STEP", 3)  # several steps
    assert "VALUES" in Model("", KINDS[kind]).to_sql()
    assert "VALUES" not in small
    for run in (run_duckdb, run_sqlite, run_postgres(postgres)):
        check(KINDS[kind], RECORDS, run)


def test_sqlite_joins_the_records_first() -> None:
    """Ten trees, ten classes: if tables of numbers were multiplied with each other, no number of steps would do."""
    schema = Schema(tuple(Numeric(f"x{i}", 0, 1) for i in range(5)), Categorical("state", tuple(range(10))))
    forest, table = every_kind(schema, trees=10, depth=3)["surest"], hostile(schema, 100)
    steps = iter([False] * 100)  # a hundred times 100,000 instructions
    connection = sqlite3.connect(":memory:")
    connection.set_progress_handler(lambda: next(steps, True), 100_000)
    check(forest, table, partial(run_sqlite, connection=connection))


def test_sqlite_reads_many_numbers() -> None:
    """Twice as many numbers took four times as long to read, so that a tree of 6,500 leaves took minutes."""
    schema = Schema(
        tuple(Categorical(f"x{i}", tuple(range(9))) for i in range(4)), Categorical("state", tuple("abcdefgh"))
    )
    tests = [Multiway(i) for i in range(4) for _ in range(9**i)]
    routes = Routes.in_level_order(schema, [*tests, *[None] * 9**4])
    shares = np.random.default_rng(0).dirichlet(np.ones(8), len(routes.tests))
    columns = routes.tests.attribute, routes.tests.kind, routes.tests.cut, routes.first_child
    tree = Tree(schema, *columns, shares.argmax(axis=1), shares, shares)
    start = time.process_time()
    check(tree, hostile(schema, 100), run_sqlite)
    assert time.process_time() - start < 10  # it takes about one


@pytest.mark.parametrize("table", ["cells", "Found", "sums0", "v0", "weights"])
def test_a_table_called_like_a_step(monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    """SQLite read the step of that name instead, and spoke of a circular reference."""
    monkeypatch.setattr(sql, "LARGE", 0)
    connection = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in SCHEMA.names)
    connection.execute(f"CREATE TABLE {table} ({names})")
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", zip(*RECORDS.values(), strict=True))
    found = connection.execute(Model("", KINDS["proba"]).to_sql("sqlite", table, keep=[])).fetchall()
    connection.close()
    assert [row[0] for row in found] == expected(KINDS["proba"], RECORDS)[0]


@pytest.mark.parametrize("affinity", ["REAL", "TEXT", ""])
def test_texts_in_a_numeric_column_of_sqlite(affinity: str) -> None:
    """As privet reads them: a text that is no number is missing, not 0."""
    cells = ["", "NA", "-", "4.9", " -3 ", "1e0", "5 years", None, 4.9, 2**53 + 1]
    schema = Schema((Numeric("dose", -5, 5, missing="?"),), SCHEMA.label)
    tree = grown(schema, np.random.default_rng(5), depth=6)
    right = expected(tree, {"dose": cells})[0]
    assert right[0] != expected(tree, {"dose": [0.0]})[0][0]
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE records (dose {affinity})")
    connection.executemany("INSERT INTO records VALUES (?)", [(cell,) for cell in cells])
    found = connection.execute(Model("", tree).to_sql("sqlite")).fetchall()
    connection.close()
    assert [row[1] for row in found] == right


@pytest.mark.parametrize("run", [run_onnx, run_duckdb, run_python], ids=lambda run: run.__name__)
def test_a_fault_is_seen(run: Any) -> None:
    """A model whose trees vote in another way, or that has one wrong number, does not pass for the right one."""
    forest = KINDS["confidence"]
    assert isinstance(forest, Forest)
    with pytest.raises(AssertionError):
        check(forest, RECORDS, lambda _, table: run(Model("", KINDS["counts"]), table))
    wrong = forest.trees[0].proba.copy()
    wrong[forest.trees[0].is_leaf] += 1e-9
    changed = replace(forest, trees=(replace(forest.trees[0], proba=wrong), *forest.trees[1:]))
    with pytest.raises(AssertionError):
        check(forest, RECORDS, lambda _, table: run(Model("", changed), table))


def test_certificate_and_fingerprint_travel() -> None:
    onnx = pytest.importorskip("onnx", reason="NOT TESTED: ONNX; pip install 'privet[onnx]'")
    certificate = {"epsilon": "1/2", "what": 'a "quoted"\nline -- */ ]]>'}
    model = Model("sulq", KINDS["tree"], certificate=certificate)
    props = {prop.key: prop.value for prop in onnx.load_from_string(model.to_onnx()).metadata_props}
    for text in (
        str(props),
        model.to_sql(),
        replace(model, trees=every_kind(PLAIN)["tree"]).to_pmml(),
        model.to_python(),
        str(model.to_shap()),
    ):
        assert digest(SCHEMA) in text or digest(PLAIN) in text
        assert "1/2" in text
    for run in (run_duckdb, run_sqlite, run_python):
        check(KINDS["tree"], RECORDS, run, certificate)


def test_outputs_of_onnx() -> None:
    onnx = pytest.importorskip("onnx", reason="NOT TESTED: ONNX; pip install 'privet[onnx]'")
    graph = onnx.load_from_string(Model("", KINDS["additive"]).to_onnx()).graph
    assert [value.name for value in graph.input] == list(SCHEMA.names)
    assert [value.name for value in graph.output] == ["label_1", "probabilities"]  # a column is called label
    kinds = [value.type.tensor_type.elem_type for value in graph.output]
    assert kinds == [onnx.TensorProto.STRING, onnx.TensorProto.DOUBLE]


@pytest.mark.parametrize("model", [*(KINDS[kind] for kind in ("tree", "majority", "proba", "evidence")), number_tree()])
def test_shap_values_add_up(model: Any) -> None:
    shap = pytest.importorskip("shap", reason="NOT TESTED: SHAP; pip install shap")
    from privet.tables.encoding import encode_features

    codes = encode_features(model.schema, RECORDS)
    rows = codes.T.astype(float)
    explainer = shap.TreeExplainer(Model("", model).to_shap(), data=rows[:30])
    found = explainer.shap_values(rows[:50], check_additivity=False)
    total = (found.sum(axis=1) + explainer.expected_value).reshape(50, -1)
    np.testing.assert_allclose(total, model.predict_scores(codes[:, :50]), atol=1e-5)  # SHAP's own tolerance


@pytest.mark.parametrize(
    ("model", "words"),
    [(KINDS["additive"], "its parts add up"), (number_sum(), "its parts add up"), (KINDS["surest"], "most confident")],
    ids=["additive", "sum of numbers", "surest"],
)
def test_what_shap_cannot_explain(model: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Model("", model).to_shap()


def test_refusals() -> None:
    model = Model("", KINDS["tree"])
    with pytest.raises(ParameterError, match="duckdb, postgres, sqlite"):
        model.to_sql("oracle")
    with pytest.raises(ParameterError, match="'state'"):
        model.to_sql(keep=["state"])
