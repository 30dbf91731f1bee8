"""``private_score``: score a model on private records, for one charge.

For classes it buys one noisy histogram: true class by predicted class by bin of confidence. A record is in one of its
cells, so the histogram costs epsilon once, and every measure is computed from it. For numbers it buys two, each for
half of epsilon: sizes of errors, and distances of labels from a public centre.
Claims and proofs: ``docs/proofs/folds.md#a-private-score``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from privet.errors import ParameterError, PrivacyError
from privet.evaluation.number_score import PrivateNumberScore
from privet.evaluation.predictions import (
    MOST_CELLS,
    codes_of,
    errors_of,
    labels_of,
    noisy_cells,
    noisy_errors,
    predicted_cells,
)
from privet.evaluation.private_result import ORIGINS, PrivateScore
from privet.evaluation.rounding import both_sides, rounded, sizes_of
from privet.models.model import Model
from privet.models.released import Released
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.certificate import Caveat, Certificate
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.tables.encoding import Codes
from privet.tables.frozen import declared_facts
from privet.work import Purse, Work, ledger_of

WORK = "private score"
BINS = 5  # of confidence: ten bins of a binary score, as a reliability diagram has, for about twice the noise


def private_score(
    model: Any,
    X: Any,
    y: Any,
    epsilon: object,
    ledger: Ledger | Purse | None = None,
    *,
    held_out: bool | None = None,
    bins: int = BINS,
    quoted_line_breaks: bool = False,
) -> Any:
    """Score a model on private records, for one charge of ``epsilon``.

    Parameters
    ----------
    model : a fitted privet classifier or regressor, a private search, or a model from a file
    X : pandas, polars or pyarrow table, dict of columns, 2-D array in schema order, or what privet.protect returns
        A path, an address or a reader that :func:`privet.protect` takes is read in batches. A protected table has its
        own labels and ledger.
    y : labels, one for each record; None if X holds the label's column
    epsilon : what the score costs
    ledger : the ledger to charge; without one, a budget of its own
    held_out : whether these records had no part in training the model. Nobody can check this, so the certificate
        repeats what is said here. Deal records with :func:`privet.holdout`, fit on one part and score on the other.
    bins : bins of confidence, where the model has grades: 1 buys the confusion matrix alone, with less noise in it; a
        number has none
    quoted_line_breaks : whether cells of a CSV file may hold line breaks

    Records of unknown label are left out, as in a fit. With more than two classes there is a reliability curve, of the
    predicted class, but neither AUC nor log-loss: they would need a histogram of their own for each class. A number has
    R2, MAE and RMSE, and the result is a :class:`~privet.evaluation.number_score.PrivateNumberScore`.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(4000)
    >>> train, test = privet.holdout(table)
    >>> ledger = privet.Ledger(2)
    >>> tree = privet.papers.DiffPID3Classifier(schema, epsilon=1, max_depth=2, ledger=ledger).fit(train)
    >>> score = privet.private_score(tree, test, None, 0.5, ledger, held_out=True)
    >>> score.accuracy.low < score.accuracy.value < score.accuracy.high
    True
    >>> ledger.spent, score.certificate.epsilon
    (Fraction(3, 2), Fraction(1, 2))
    """
    exact = parse_epsilon(epsilon)
    trained = model_of(model)
    if held_out not in (True, False, None):
        raise ParameterError(parameter="held_out", problem=f"must be True, False or None, not {held_out!r}")
    schema = trained.schema
    kind: _Numbers | _Classes = _Numbers(trained.trees) if schema.predicts_number else _Classes(trained.trees, bins)
    ledger = ledger_of(X, ledger) or Ledger(exact)
    if isinstance(X, PrivateDataset) and declared_facts(schema) != declared_facts(X.schema):
        raise ParameterError("the table was protected under another schema than the model's")
    private = Certificate.from_dict(trained.certificate).private
    if not private and held_out is not True:
        raise PrivacyError(
            "the model is not differentially private, so its score on records that may have trained it is not either; "
            "score it on other records, and say held_out=True"
        )
    how: dict[str, Any] = {"labels": y, "for_one_fit": kind.codes_suffice, "quoted_line_breaks": quoted_line_breaks}
    with Work(X, schema, exact, WORK, ledger, **how) as work, work.records() as data:
        codes = codes_of(data, "a private score")
        if not private:
            data.add_caveat(
                "the model that was scored is not differentially private: the promise is for the records that were "
                "scored, not for those that trained it"
            )
        found = kind.buy(data, codes, exact)
        certificate, steps = data.certificate(), data.ledger.steps
    certificate = replace(certificate, caveats=(*certificate.caveats, Caveat(ORIGINS[held_out])))
    return kind.result(found, exact, steps, held_out, certificate)


class _Classes:
    """The noisy histogram of true class, predicted class and confidence."""

    codes_suffice = True

    def __init__(self, trees: Released, bins: int) -> None:
        self.trees, classes = trees, trees.schema.n_classes
        if classes**2 > MOST_CELLS:
            raise ParameterError(f"a confusion matrix of {classes} classes is too large; group the rare ones")
        self.shape = classes, classes, _check_bins(bins, classes) if trees.graded else 1

    def buy(self, data: PrivateDataset, codes: Codes, epsilon: Fraction) -> Any:
        cells = predicted_cells(self.trees, codes, self.shape[-1])
        return noisy_cells(data, cells, int(np.prod(self.shape)), epsilon, WORK).reshape(self.shape)

    def result(self, noisy: Any, epsilon: Fraction, steps: int, *rest: Any) -> PrivateScore:
        counts = tuple(tuple(tuple(row) for row in block) for block in noisy.tolist())
        return PrivateScore(self.trees.schema.classes, counts, epsilon, steps / epsilon, *rest)


class _Numbers:
    """Two noisy histograms, for half of epsilon each: sizes of errors, and where the labels lie."""

    codes_suffice = False

    def __init__(self, trees: Released) -> None:
        self.trees, self.label = trees, trees.schema.number
        self.centre = float(np.median(self.label.cuts))  # public, or bought by the fit: about the middle of the labels

    def buy(self, data: PrivateDataset, codes: Codes, epsilon: Fraction) -> Any:
        labels = labels_of(data, "a private score")
        errors = noisy_errors(data, errors_of(self.trees, codes, labels), epsilon / 2, f"{WORK}: errors")
        grid = both_sides(sizes_of(self.label))
        places = rounded(np.clip(labels, self.label.low, self.label.high) - self.centre, grid)
        return errors, noisy_cells(data, places, grid.size, epsilon / 2, f"{WORK}: labels")

    def result(self, noisy: Any, epsilon: Fraction, steps: int, *rest: Any) -> PrivateNumberScore:
        errors, labels = (tuple(counts.tolist()) for counts in noisy)
        return PrivateNumberScore(self.label, self.centre, errors, labels, epsilon, 2 * steps / epsilon, *rest)


def model_of(model: Any) -> Model:
    """The model behind an estimator."""
    found = model if isinstance(model, Model) else getattr(model, "model_", None)
    if not isinstance(found, Model):
        raise ParameterError(
            f"model must be a fitted privet classifier or a model from privet.load_model, not {type(model).__name__}: "
            "the steps of a pipeline may look at all records at once, and what they do is in no certificate"
        )
    return found


def _check_bins(bins: object, classes: int) -> int:
    most = min(100, MOST_CELLS // classes**2)
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or not 1 <= bins <= most:
        raise ParameterError(parameter="bins", problem=f"must be a whole number from 1 to {most}, not {bins!r}")
    return int(bins)
