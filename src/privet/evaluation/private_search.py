"""``PrivateSearch``: the best of many settings, chosen by private scores, for one charge.

A run draws a setting, fits it on one part of the records and scores the model, with noise, on the other. After each run
a coin decides whether there is another. Only the best run is released, not the number of runs. Proof:
``docs/proofs/search.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.estimators.answering import Answering
from privet.estimators.base import PrivateEstimator
from privet.estimators.registry import make_classifier
from privet.evaluation.predictions import errors_of, noisy_cells, noisy_errors
from privet.evaluation.rehearsal import rehearse
from privet.evaluation.rounding import NoisyGrid, error_to_compare, sizes_of
from privet.evaluation.silence import silence
from privet.evaluation.splitting import check_rate, engine_over, split_protected
from privet.fitting import Request, fit
from privet.models.model import Model
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.certificate import Caveat, Certificate
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.privacy.samplers.stopping import MOST_RUNS, PRICE, RandomStopping, Run
from privet.recipes.parameters import check_whole
from privet.recipes.provenance import provenance
from privet.recipes.recipe import Recipe
from privet.recipes.unoffered import refuse_in_fit
from privet.schema import Schema
from privet.structure.compiled import threads
from privet.tables.encoding import Codes
from privet.tables.frozen import Frozen
from privet.work import Work, ledger_of, schema_of

RUNS_PER_SETTING = 10  # on average: a setting is then drawn in ten of eleven searches, and the epsilon is the same
RESERVED = ("schema", "epsilon", "neighbours", "ledger", "random_state", "expected_records", "n_jobs")
SHARED = ("schema", "neighbours", "n_jobs")  # what a classifier of another recipe takes over from the estimator


@dataclass(frozen=True, slots=True)
class Found:
    """The release of a run: its setting, model and score, which is its noisy accuracy or minus its noisy error."""

    setting: int
    model: Model
    score: float


class Parts:
    """Two disjoint parts of a table, for the runs. Private, so its repr shows nothing."""

    def __init__(self, train: MemoryEngine, test: Frozen) -> None:
        self.train, self._test = train, test
        self._engines: dict[Schema, MemoryEngine] = {}
        self._codes: dict[Schema, Codes] = {}

    def run(self, recipe: Recipe, run: Run) -> Found:
        """Fit on one part and score on the other, each with its whole budget."""
        cut = recipe.prepare(self.train.schema)
        if cut not in self._engines:  # once for all runs that cut alike
            self._engines[cut] = self.train.with_schema(cut)
        # Public choices are drawn anew in every run: a known sequence would reveal which run was the best.
        share, random = run.fitting.remaining, np.random.default_rng()
        model = fit(Request(recipe, self._engines[cut], share, ledger=run.fitting, random=random, prepared=True))
        codes = self._scored_as(model.schema)
        data = PrivateDataset(MemoryEngine(model.schema, codes), run.scoring)
        if model.schema.predicts_number:
            return Found(run.setting, model, -self._noisy_error(model, data, codes))
        right = (model.trees.predict(codes.features) == codes.labels).astype(np.int64)
        wrong, hits = noisy_cells(data, right, 2, run.scoring.remaining, "noisy accuracy").tolist()
        return Found(run.setting, model, noisy_share(hits, wrong))

    def _noisy_error(self, model: Model, data: PrivateDataset, codes: Codes) -> float:
        """The mean absolute error on the scoring part, from noisy counts of sizes."""
        price = data.ledger.remaining
        errors = errors_of(model.trees, codes, np.asarray(self._test.labels, dtype=np.float64))
        counts = noisy_errors(data, errors, price, "noisy errors").astype(np.float64)
        return error_to_compare(NoisyGrid(sizes_of(model.schema.number), counts, float(data.ledger.steps / price)))

    def _scored_as(self, schema: Schema) -> Codes:
        """The other part, cut by a model's schema; the last one is cached, since most runs cut alike."""
        if schema not in self._codes:
            self._codes = {schema: self._test.codes(schema)}
        return self._codes[schema]


def noisy_share(hits: int, misses: int) -> float:
    """The share of hits, from noisy counts; 0 where they suggest no records."""
    return min(max(hits / (hits + misses), 0.0), 1.0) if hits + misses > 0 else 0.0


def best_run(parts: Parts, recipes: Sequence[Recipe], runs: Iterable[Run]) -> Found:
    """The run with the highest score, the first in a tie."""
    best: Found | None = None
    for run in runs:
        found = parts.run(recipes[run.setting], run)
        if best is None or found.score > best.score:
            best = found
    assert best is not None, "there is always a first run"
    return best


class PrivateSearch(Answering, MetaEstimatorMixin, BaseEstimator):
    """The best of many settings of private classifiers or regressors, for one charge; a scikit-learn meta-estimator.

    Each of a random number of runs draws a setting, fits it on a part of the records for a third of ``epsilon`` and
    scores it on the rest for a third of ``epsilon``; the parts are disjoint. The best run's model is the result: it is
    not fitted again. The number of runs shows only in the time it takes, which no promise covers.

    Parameters
    ----------
    estimator : a privet classifier or regressor
        Its schema, neighbours and ledger are used, and its parameters where a setting has no other. Its epsilon
        and random_state are not: public choices are drawn anew in each run.
    param_grid : dict of lists, or a list of such dicts
        As for GridSearchCV. ``"recipe"`` names another recipe.
    epsilon : what the whole search costs
    mean_runs : the public mean number of runs; ten for each setting by default
    test : the chance of each record to be in the part that scores
    ledger : the ledger to charge; the estimator's by default, or a budget of its own

    After ``fit``: ``best_params_``, ``best_estimator_``, its ``certificate_``, and ``best_score_``, the noisy accuracy
    of the best run, or minus its mean absolute error where the label is a number. Being the best of many it is a little
    too high: use ``privet.private_score`` on other records.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(2000)
    >>> tree = privet.papers.DiffPID3Classifier(schema)
    >>> search = privet.PrivateSearch(tree, {"max_depth": [1, 2]}, epsilon=3, mean_runs=4).fit(table)
    >>> search.best_params_["max_depth"] in (1, 2)
    True
    >>> [charge.what for charge in search.certificate_.charges], search.certificate_.epsilon
    (['the best of 2 settings, by random stopping'], Fraction(3, 1))
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        epsilon: Any = 1.0,
        *,
        mean_runs: int | None = None,
        test: Any = 0.25,
        ledger: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.epsilon = epsilon
        self.mean_runs = mean_runs
        self.test = test
        self.ledger = ledger

    def fit(self, X: Any, y: Any = None, **unoffered: Any) -> Self:
        """Search. X is what a classifier's ``fit`` takes. All parameters are checked before anything is charged."""
        refuse_in_fit(type(self).__name__, unoffered)
        epsilon, _, made = parse_epsilon(self.epsilon), check_rate(self.test), provenance()
        candidates = self._candidates()
        runs_wanted = RUNS_PER_SETTING * len(candidates) if self.mean_runs is None else self.mean_runs
        mean_runs = check_whole(runs_wanted, "mean_runs", 1, MOST_RUNS)
        first = candidates[0][1].request(X, y)
        recipes = [first.recipe, *(classifier.recipe() for _, classifier in candidates[1:])]
        for recipe in recipes:
            if recipe.variant in recipe.unsound:
                why = f"{recipe.info.name} {recipe.variant} is not private: {recipe.unsound[recipe.variant]}"
                raise ParameterError(f"{why}. Nor is a search over it; use variant='sound'")
            if recipe.loss(epsilon).delta:
                raise ParameterError(
                    parameter="delta",
                    problem=f"is not 0 for {recipe.info.name}, and the proof of a search is for pure epsilon",
                    fix="leave delta out",
                )
        ledger = ledger_of(X, self.ledger if self.ledger is not None else self.estimator.ledger, first.neighbours)
        ledger = ledger or Ledger(epsilon, neighbours=first.neighbours)
        schema, name = schema_of(X, first.schema), f"search of {len(candidates)} settings"
        with Work(first.source, schema, epsilon, name, ledger, labels=first.labels) as work, work.records() as data:
            account = data.ledger
            conditions = rehearse(recipes, schema, epsilon / PRICE, account.neighbours)
            train, unseen = split_protected(data, self.test, "a search")
            parts = Parts(engine_over(train, data), unseen)
            what = f"the best of {len(candidates)} settings, by random stopping"
            runs = RandomStopping(account, epsilon, settings=len(candidates), mean_runs=mean_runs, what=what)
            state(conditions, account)
            with threads(self.estimator._thread_count()), silence():
                best = best_run(parts, recipes, runs)
            state(Certificate.from_dict(best.model.certificate).caveats, account)
        self.best_index_, self.best_score_ = best.setting, best.score
        self.best_params_, face = candidates[best.setting]
        face.set_params(epsilon=runs.share)
        face._columns_of_fit = work.column_order
        # Its own ledger would show the cost of one run, and its own date which run it was. The search paid for its
        # choice, and has one date.
        won, certificate = best.model, account.certificate().to_dict()
        covered = Model(won.recipe, won.trees, won.params, certificate, (*won.notes, what), made)
        self.best_estimator_ = face._adopt(covered)
        if hasattr(face, "classes_"):
            self.classes_ = face.classes_
        self.n_features_in_, self.feature_names_in_ = face.n_features_in_, face.feature_names_in_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The label of each record, or the predicted number, by the best run's model."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict(X))

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict_proba(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The exact accuracy, or R2, on these records. NOT PRIVATE: it is charged to no ledger."""
        check_is_fitted(self, "best_estimator_")
        return float(self.best_estimator_.score(X, y, sample_weight))

    @property
    def model_(self) -> Model:
        """The best run's model, with the certificate of the search."""
        check_is_fitted(self, "best_estimator_")
        model: Model = self.best_estimator_.model_
        return model

    @property
    def certificate_(self) -> Certificate:
        check_is_fitted(self, "best_estimator_")
        certificate: Certificate = self.best_estimator_.certificate_
        return certificate

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the best model, with the certificate of the search; read it back with ``privet.load_model``."""
        check_is_fitted(self, "best_estimator_")
        self.best_estimator_.save(path)

    def __sklearn_tags__(self) -> Any:
        tags, ours = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.target_tags, tags.input_tags = ours.estimator_type, ours.target_tags, ours.input_tags
        tags.classifier_tags, tags.regressor_tags = ours.classifier_tags, ours.regressor_tags
        return tags

    # -- before the search -----------------------------------------------------------------------------------------

    def _candidates(self) -> list[tuple[dict[str, Any], PrivateEstimator]]:
        """(what was set, an unfitted estimator) for each setting."""
        if not isinstance(self.estimator, PrivateEstimator):
            raise ParameterError(
                f"estimator must be a privet classifier or regressor, not {type(self.estimator).__name__}"
            )
        if getattr(self.estimator, "expected_records", None) is not None:
            raise ParameterError("expected_records stops a fit early, which would show in a search; leave it out")
        given = self.param_grid if isinstance(self.param_grid, list | tuple) else [self.param_grid]
        if not given or not all(isinstance(grid, Mapping) for grid in given):
            raise ParameterError("param_grid must be a dict of lists, such as {'max_depth': [2, 3]}, or a list of them")
        grids = [{name: v if isinstance(v, list | tuple | np.ndarray) else [v] for name, v in g.items()} for g in given]
        candidates = [(params, self._classifier(params)) for params in ParameterGrid(grids)]
        return candidates

    def _classifier(self, params: Mapping[str, Any]) -> PrivateEstimator:
        for name in RESERVED:
            if name in params:
                raise ParameterError(f"{name} is the same for all runs of a search and cannot be one of its settings")
        settings = {name: value for name, value in params.items() if name != "recipe"}
        if "recipe" in params and params["recipe"] != self.estimator.recipe_class.info.name:
            classifier = make_classifier(params["recipe"], **{n: getattr(self.estimator, n) for n in SHARED})
        else:
            classifier = clone(self.estimator)
        return classifier.set_params(**settings, ledger=None, random_state=None)


def state(conditions: Iterable[Caveat], account: Ledger) -> None:
    for caveat in conditions:
        account.add_caveat(caveat.text, voids=caveat.voids)
