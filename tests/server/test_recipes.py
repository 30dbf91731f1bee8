"""Every sound recipe through a server: the client gets the ordinary estimator back, and can have it scored."""

from __future__ import annotations

import csv
import io
import json
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from house import House, Stage, facts, form, rows

import privet
from privet.client.connection import RemoteDataset
from privet.errors import ParameterError
from privet.recipes.compiling import SMALL
from privet.recipes.registry import NUMBERS, recipe_class

EPSILON = Fraction(2)
SHALLOW = SMALL | {"max_depth": 2}


def opened(house: House, stage: Stage, table: str) -> RemoteDataset:
    house.warm("fits")
    key = stage.analyst(1000, table).key
    return privet.connect(f"http://127.0.0.1:{house.port}", key)[table]


@pytest.fixture(autouse=True)
def _heads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def fitted(data: RemoteDataset) -> dict[str, Any]:
    """A small model of every recipe on offer; several at a time, since most of it is waiting for deadlines."""

    def fit(name: str) -> Any:
        has = {field.name for field in fields(recipe_class(name))}
        return data.fit(name, epsilon=EPSILON, **{key: value for key, value in SHALLOW.items() if key in has})

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(data.recipes, pool.map(fit, data.recipes), strict=True))


def test_every_sound_recipe_for_classes(house: House) -> None:
    stage = Stage(house)
    data = opened(house, stage, stage.table(rows(60), most=100))
    before = data.left
    sound = {info.name for info in privet.list_recipes() if "sound" in info.variants}
    assert set(data.recipes) == {name for name in sound if "sound" not in recipe_class(name).unsound}
    frame = data.invented(20)
    models = fitted(data)
    for name, model in models.items():
        assert set(model.predict(frame)) <= {"healthy", "ill"}, name
        assert model.certificate_.epsilon <= EPSILON, name  # a tree that stops early spends less
    assert before - data.left == len(models) * EPSILON
    assert data.score(models["exact"], 1)  # with noise


def test_regressors_where_the_label_is_a_number(house: House) -> None:
    stage, dice, text = Stage(house), random.Random(3), io.StringIO()
    records = [(*one[:3], f"{dice.uniform(0, 30):.1f}") for one in rows(60)]
    csv.writer(text).writerows([("age", "dose", "ward", "stay"), *records])
    declared = facts("stays") | {"class": "stay", "labels": {"min": 0, "max": 30}}
    declared.pop("labels_basis")
    given = {"population": stage.tag, "schema": json.dumps(declared), "most_records": 100, "one_row_each": "true"}
    raw, head = form(given, text.getvalue().encode())
    stage.must(stage.owner("PUT", f"/v1/datasets/{stage.tag}-n", raw=raw, head=head))
    data = opened(house, stage, f"{stage.tag}-n")
    assert set(data.recipes) == set(NUMBERS)
    for name, model in fitted(data).items():
        assert all(0 <= value <= 30 for value in model.predict(data.invented(20))), name
    before = data.left
    for refused in ({"recipe": "exact"}, {"recipe": "rana2016"}):
        with pytest.raises(ParameterError):
            data.fit(**refused, epsilon=1)
    assert data.left == before
