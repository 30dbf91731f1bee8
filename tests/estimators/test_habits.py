"""What scikit-learn users expect beyond the contract: lists, importances, verbosity, warnings, looks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import privet
from privet.models.forest import Forest
from privet.models.tree import Tree
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import OneCategory, Threshold
from privet.tables.encoding import encode
from privet.testing import ZeroNoise, use_noise

SCHEMA = Schema(
    (Numeric("age", 0, 100, bins=10), Numeric("noise", 0, 100, bins=10)), Categorical("ill", ("no", "yes")), name="ward"
)
ROWS = [[20.0, 30.0], [80.0, 30.0], [30.0, 60.0], [90.0, 60.0]] * 50
LABELS = ["no", "yes"] * 100


def fitted(**params: Any) -> privet.ExactTreeClassifier:
    with use_noise(ZeroNoise()):
        return privet.ExactTreeClassifier(SCHEMA, 1, max_depth=2, **params).fit(ROWS, LABELS)


def test_lists_of_lists() -> None:
    tree = fitted()
    assert tree.predict([[10, 50], [95, 50]]).tolist() == ["no", "yes"]
    assert tree.score(ROWS, LABELS) == 1
    with pytest.raises(privet.TableError, match="a list must hold records"):
        tree.predict([10, 50])


def test_a_list_after_a_frame_has_lost_its_names() -> None:
    columns = dict(zip(SCHEMA.names, zip(*ROWS, strict=True), strict=True))
    tree = privet.ExactTreeClassifier(SCHEMA, 1, max_depth=1).fit(columns, LABELS)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        tree.predict(ROWS[:1])


def test_a_schema_that_is_inferred_warns() -> None:
    for table in (ROWS, [[str(a), b] for a, b in ROWS]):
        with pytest.warns(privet.PrivacyWarning, match="epsilon = infinity") as caught:
            privet.papers.DiffPID3Classifier("infer").fit(table, LABELS)
        assert caught[0].filename == __file__  # it points at the call of fit
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted()


def test_frames_that_a_pipeline_makes() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=["age", "noise"])[["noise", "age"]]  # names decide, not places
    scaled = Schema((Numeric("age", 0, 1), Numeric("noise", 0, 1)), SCHEMA.label)
    with sklearn.config_context(transform_output="pandas"), use_noise(ZeroNoise()):
        pipe = make_pipeline(MaxAbsScaler(), privet.ExactTreeClassifier(scaled, 1, max_depth=1)).fit(frame, LABELS)
        assert pipe.score(frame, LABELS) == 1
        assert pipe[-1].feature_names_in_.tolist() == ["age", "noise"]


# ---- importances --------------------------------------------------------------------------------------------------


def test_importances_find_what_decides() -> None:
    tree = fitted()
    assert tree.feature_importances_.tolist() == [1.0, 0.0]
    assert SelectFromModel(tree, prefit=True, threshold=0.5).transform(np.array(ROWS)).shape == (200, 1)
    with pytest.raises(AttributeError):
        privet.ExactTreeClassifier(SCHEMA).feature_importances_  # noqa: B018


def test_importances_by_hand() -> None:
    # age takes 24 of the root's impurity, noise 6.67 of what is left: 2 x 10 x 30 / 40 against 0 and 2 x 10 x 5 / 15.
    counts = np.array([[np.nan] * 2, [np.nan] * 2, [-5.0, 50.0], [25.0, 5.0], [5.0, -3.0]])
    tests = [Threshold(0, 4), Threshold(1, 4), None, None, None]
    tree = Tree.build(SCHEMA, tests, [1, 3, -1, -1, -1], [0, 0, 1, 0, 0], counts=counts)
    root, left, leaf = 2 * 30 * 55 / 85, 2 * 30 * 5 / 35, 2 * 25 * 5 / 30
    expected = np.array([root - left, left - leaf])
    assert np.allclose(tree.importances(), expected / expected.sum())


def test_importances_agree_with_scikit_learn() -> None:
    from privet.estimators.references import SklearnTreeReference, binary_columns

    rng = np.random.default_rng(1)
    schema = Schema(tuple(Numeric(f"x{i}", 0, 1, bins=8) for i in range(4)), SCHEMA.label)
    table = rng.random((400, 4))
    labels = np.where(table[:, 0] + 0.3 * table[:, 2] + 0.2 * rng.random(400) > 0.7, "yes", "no")
    ours = SklearnTreeReference(schema, 4, max_bins=8).fit(table, labels)
    codes = encode(schema, table, labels)
    theirs = sklearn.tree.DecisionTreeClassifier(max_depth=4, random_state=0)
    theirs.fit(binary_columns(schema, codes.features)[0], codes.labels)
    assert np.allclose(ours.feature_importances_, theirs.feature_importances_)


def test_without_counts_all_branches_weigh_the_same() -> None:
    schema = Schema(tuple(Categorical(name, (0, 1)) for name in "ab"), SCHEMA.label)
    tests = [OneCategory(0, 0), None, OneCategory(1, 0), None, None]
    tree = Tree.build(schema, tests, [1, -1, 3, -1, -1], [0, 0, 0, 1, 0])
    # Half go left; of the others half are "yes": 3/8 of impurity, of which 1/4 is left below the root.
    assert np.allclose(tree.importances(), [1 / 3, 2 / 3])
    lone = Tree.build(schema, [None], [-1], [0])
    assert lone.importances().tolist() == [0, 0]
    assert np.allclose(Forest(schema, (tree, lone)).importances(), [1 / 6, 1 / 3])


# ---- what is said and shown ---------------------------------------------------------------------------------------


def test_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    fitted()
    assert capsys.readouterr() == ("", "")
    steps: list[tuple[int, int]] = []
    with use_noise(ZeroNoise()):
        privet.PrivateForestClassifier(SCHEMA, 1, verbose=1).fit(
            ROWS, LABELS, progress=lambda *step: steps.append(step)
        )
    out, told = capsys.readouterr()
    assert out == ""
    assert "[PrivateForestClassifier] 0 s: begins" in told
    assert "reading the records\n" in told
    assert "growing random-forest\n" in told
    assert "ends: <Forest of 2 trees" in told
    assert steps


class Listening:
    """Progress that wants to know what begins, too."""

    def __init__(self) -> None:
        self.told = list[object]()

    def __call__(self, done: int, total: int) -> None:
        self.told.append((done, total))

    def stage(self, what: str) -> None:
        self.told.append(what)


@pytest.mark.parametrize("verbose", [0, 1])
def test_stages_are_reported_without_the_number_of_records(verbose: int) -> None:
    heard = []
    for times in (1, 7):
        listening = Listening()
        with use_noise(ZeroNoise()):
            model = privet.papers.DiffPID3Classifier(SCHEMA, 1, max_depth=1, verbose=verbose)
            model.fit(ROWS * times, LABELS * times, progress=listening)
        heard.append(listening.told)
    assert heard[0][:2] == ["reading the records", "growing diffpid3"]
    assert heard[0] == heard[1]


def test_short_reprs() -> None:
    tree = fitted()
    assert repr(tree.tree_) == "<Tree of 2 leaves, depth 1, for 'ill'>"
    assert repr(SCHEMA) == "<Schema ward: 2 numeric and 0 categorical attributes, label 'ill' with 2 values>"
    assert repr(tree.model_) == "<Model of exact: <Tree of 2 leaves, depth 1, for 'ill'>>"
    assert repr(privet.Ledger(1).certificate()) == "<Certificate: epsilon = 0, add-remove, 0 charges>"
    assert len(repr(tree)) < 200


def test_what_a_notebook_shows() -> None:
    tree = fitted()
    shown = tree._repr_mimebundle_()["text/html"]
    assert "age ≤ " in shown
    assert "NOT differentially private" in shown  # no noise was added
    assert "age ≤ " not in privet.ExactTreeClassifier(SCHEMA)._repr_html_()
    assert "age ≤ " in (tree._repr_html_() or "")  # scikit-learn gives each diagram an id of its own
    with sklearn.config_context(display="text"):
        assert tree._repr_html_() is None


def test_a_ledger_in_a_notebook() -> None:
    ledger = privet.Ledger(2)
    ledger.charge(0.5, "a <count>")
    shown = ledger._repr_html_()
    assert '<progress value="0.2500" max="1">' in shown
    assert "a &lt;count&gt;" in shown
    assert "0.5 spent, 1.5 left" in shown
    assert ledger.certificate()._repr_html_() in shown
    tree = fitted().tree_
    forest = Forest(tree.schema, (tree,) * 3)
    assert "Forest of 3 trees, 6 leaves" in forest._repr_html_()
