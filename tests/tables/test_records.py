"""Single records: a dictionary, a Series, a list of dictionaries."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import privet
from privet.datasets.clinic import clinic
from privet.errors import TableError
from privet.tables.records import as_table


def test_records_predict_as_rows_of_a_table() -> None:
    schema, columns = clinic(300)
    model = privet.ExactTreeClassifier(schema=schema, epsilon=1).fit(columns)
    frame = pandas.DataFrame({name: columns[name] for name in schema.names})
    wanted = model.predict(frame.iloc[:20])
    records = frame.iloc[:20].to_dict("records")
    assert model.predict(records).tolist() == wanted.tolist()
    assert [model.predict(record)[0] for record in records] == wanted.tolist()
    assert [model.predict(frame.iloc[i])[0] for i in range(20)] == wanted.tolist()
    np.testing.assert_array_equal(model.predict_proba(records[0]), model.predict_proba(frame.iloc[:1]))
    with pytest.raises(TableError, match="cough"):
        model.predict({name: cell for name, cell in records[0].items() if name != "cough"})
    with pytest.raises(TableError, match="record 2 lacks 'cough'"):
        model.predict([records[0], {name: cell for name, cell in records[1].items() if name != "cough"}])


def test_other_tables_stay_as_they_are() -> None:
    for table in (
        {"age": [1, 2]},
        {"age": np.array([1])},
        {"age": pandas.Series([1])},
        [[1, 2]],
        [],
        {},
        np.ones((1, 1)),
    ):
        assert as_table(table) is table
    assert as_table({"age": np.float64(3), "sex": None}) == {"age": [3.0], "sex": [None]}
