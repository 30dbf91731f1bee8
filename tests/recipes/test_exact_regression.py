"""The exact tree for numbers: from a fit to predictions, rules, pages, files and the command line."""

import json
import pickle

import numpy as np
import pytest

import privet
from privet.errors import ParameterError, RecipeError
from privet.models.codec import from_text, to_text
from privet.models.number_tree import NumberTree
from privet.report.page import model_page
from privet.schema import Categorical, Numeric, Schema, Unit
from privet.structure.splits import Threshold

SCHEMA = Schema(
    (Numeric("age", 0, 100), Categorical("sex", ("f", "m")), Categorical("ward", ("a", "b", "c"))),
    Numeric("wage", 0, 100),
    name="wages",
)


def table(n=4000, seed=0):
    random = np.random.default_rng(seed)
    age, sex, ward = random.integers(18, 80, n), random.integers(0, 2, n), random.integers(0, 3, n)
    wage = 20 + 0.5 * (age > 50) * age + 10 * sex + random.normal(0, 2, n)
    return {"age": age, "sex": np.array(["f", "m"])[sex], "ward": np.array(["a", "b", "c"])[ward], "wage": wage}


@pytest.fixture(scope="module")
def fitted():
    return privet.ExactTreeRegressor(SCHEMA, epsilon=2).fit(table())


def r2(model, records):
    y = records["wage"]
    return 1 - ((y - model.predict(records)) ** 2).mean() / y.var()


def test_it_learns_what_is_there_and_spends_what_it_says(fitted):
    assert r2(fitted, table(seed=1)) > 0.8
    assert fitted.certificate_.epsilon <= 2  # less if no leaf is left for the last block
    assert sum(c.adds for c in fitted.certificate_.charges) <= 2


@pytest.mark.parametrize("times", [50, 10**6])
def test_bounds_that_are_far_too_wide_cost_little(times):
    wide = Schema(SCHEMA.attributes, Numeric("wage", 0, 100 * times))
    model = privet.ExactTreeRegressor(wide, epsilon=2).fit(table())
    assert r2(model, table(seed=1)) > 0.7


def test_few_records_get_the_mean():
    records = table(300)
    model = privet.ExactTreeRegressor(SCHEMA, epsilon=0.2, n_public=300).fit(records)
    assert model.tree_.n_leaves == 1
    assert "too few records" in " ".join(model.model_.notes)


def test_words_of_rules_text_and_pages(fitted):
    rule = fitted.rules_[0]
    assert isinstance(rule.label, float)
    assert rule.deviation > 0
    assert " ± " in rule.describe(SCHEMA)
    assert "value: about " in str(fitted.shown())
    page = model_page(fitted.model_)
    assert " ± " in page
    assert "of these" not in page


def test_a_leaf_whose_count_noise_made_negative_keeps_its_value():
    leaves = [Threshold(0, 0), None, None]
    counts, nothing = np.array([[np.nan], [-3.0], [50.0]]), np.zeros(3)
    tree = NumberTree.of(SCHEMA, leaves, counts, np.array([0.0, 31.0, 42.0]), nothing + 2.5)
    assert tree.value[1:].tolist() == [31, 42]
    assert tree.deviation[1:].tolist() == [2.5, 2.5]
    assert 41 < tree.value[0] < 42


def test_importances_go_to_what_matters(fitted):
    shares = dict(zip(fitted.feature_names_in_, fitted.feature_importances_, strict=True))
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["age"] > shares["ward"]


def test_files_and_pickles_hold_all_of_it(fitted, tmp_path):
    tree = from_text(to_text(fitted.model_, "a model")).trees
    assert isinstance(tree, NumberTree)
    fitted.save(tmp_path / "m.json")
    records = table(50, seed=2)
    for again in (privet.load_model(tmp_path / "m.json"), pickle.loads(pickle.dumps(fitted))):
        assert np.array_equal(again.predict(records), fitted.predict(records))


def test_other_relations_and_units():
    unit = Schema(SCHEMA.attributes, SCHEMA.label, unit=Unit("who", 2))
    records = table() | {"who": np.arange(4000) // 2}
    model = privet.ExactTreeRegressor(unit, epsilon=4).fit(records)
    assert r2(model, table(seed=1)) > 0.6
    model = privet.ExactTreeRegressor(SCHEMA, epsilon=4, neighbours="replace-one").fit(table())
    assert r2(model, table(seed=1)) > 0.6


def test_what_it_cannot_do_is_refused_with_words():
    with pytest.raises(ParameterError, match="multiway"):
        privet.ExactTreeRegressor(SCHEMA, tests="multiway").fit(table())
    classes = Schema(SCHEMA.attributes, Categorical("wage", ("low", "high")))
    with pytest.raises(RecipeError, match="predicts numbers"):
        privet.ExactTreeRegressor(classes).fit(table())


def test_chunks_give_the_same_kind_of_model(tmp_path):
    import polars

    path = tmp_path / "wages.parquet"
    polars.DataFrame(table()).write_parquet(path)
    model = privet.ExactTreeRegressor(SCHEMA, epsilon=2).fit(str(path))
    assert r2(model, table(seed=1)) > 0.7


def test_the_command_line_chooses_it_by_the_label(tmp_path):
    import polars
    from typer.testing import CliRunner

    from privet.cli.app import app

    def run(*arguments):
        found = CliRunner().invoke(app, [str(one) for one in arguments])
        assert found.exit_code == 0, found.output
        return found.stdout

    polars.DataFrame(table(1500)).write_csv(tmp_path / "t.csv")
    SCHEMA.to_json(tmp_path / "s.json")
    model = tmp_path / "m.json"
    run("fit", tmp_path / "t.csv", "--schema", tmp_path / "s.json", "--epsilon", 2, "-o", model)
    assert len(json.loads(run("predict", model, tmp_path / "t.csv", "--json"))["predictions"]) == 1500
    assert " ± " in run("show", model)
