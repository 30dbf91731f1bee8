"""``private_score``: score a model on private records, for one charge.

It buys one noisy histogram: true class by predicted class by bin of confidence. A record is in one of its cells,
so the histogram costs epsilon once, and every measure is computed from it.
Claim and proof: ``docs/proofs/folds.md#a-private-score``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from privet.errors import ParameterError, PrivacyError
from privet.evaluation.predictions import MOST_CELLS, codes_of, noisy_cells, predicted_cells
from privet.evaluation.private_result import ORIGINS, PrivateScore
from privet.models.model import Model
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.certificate import Caveat, Certificate
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
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
) -> PrivateScore:
    """Score a model on private records, for one charge of ``epsilon``.

    Parameters
    ----------
    model : a fitted privet classifier, a private search, or a model from a file
    X : pandas, polars or pyarrow table, dict of columns, 2-D array in schema order, or what privet.protect returns
        A path, an address or a reader that :func:`privet.protect` takes is read in batches. A protected data set brings
        its own labels and ledger.
    y : labels, one for each record; None if X holds the label's column
    epsilon : what the score costs
    ledger : the ledger to charge; without one, a budget of its own
    held_out : whether these records had no part in training the model. Nobody can check this, so the certificate
        repeats what is said here. Deal records with :func:`privet.holdout`, fit on one part and score on the other.
    bins : bins of confidence, where the model has grades: 1 buys the confusion matrix alone, with less noise in it
    quoted_line_breaks : whether cells of a CSV file may hold line breaks

    Records of unknown label are left out, as in a fit. With more than two classes there is a reliability curve, of the
    predicted class, but neither AUC nor log-loss: they would need a histogram of their own for each class.

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
    trees, schema = trained.trees, trained.schema
    schema.refuse_number("a private score")
    if schema.n_classes**2 > MOST_CELLS:
        raise ParameterError(f"a confusion matrix of {schema.n_classes} classes is too large; group the rare ones")
    kept = _check_bins(bins, schema.n_classes) if trees.graded else 1
    ledger = ledger_of(X, ledger) or Ledger(exact)
    if isinstance(X, PrivateDataset) and declared_facts(schema) != declared_facts(X.schema):
        raise ParameterError("the data set was protected under another schema than the model's")
    private = Certificate.from_dict(trained.certificate).private
    if not private and held_out is not True:
        raise PrivacyError(
            "the model is not differentially private, so its score on records that may have trained it is not either; "
            "score it on other records, and say held_out=True"
        )
    how: dict[str, Any] = {"labels": y, "for_one_fit": True, "quoted_line_breaks": quoted_line_breaks}
    with Work(X, schema, exact, WORK, ledger, **how) as work, work.records() as data:
        codes = codes_of(data, "a private score")
        if not private:
            data.add_caveat(
                "the model that was scored is not differentially private: the guarantee is for the records that were "
                "scored, not for those that trained it"
            )
        shape = schema.n_classes, schema.n_classes, kept
        noisy = noisy_cells(data, predicted_cells(trees, codes, kept), int(np.prod(shape)), exact, WORK)
        certificate, steps = data.certificate(), data.ledger.steps
    return PrivateScore(
        classes=schema.classes,
        counts=tuple(tuple(tuple(row) for row in block) for block in noisy.reshape(shape).tolist()),
        epsilon=exact,
        scale=steps / exact,
        held_out=held_out,
        certificate=replace(certificate, caveats=(*certificate.caveats, Caveat(ORIGINS[held_out]))),
    )


def model_of(model: Any) -> Model:
    """The model behind a classifier."""
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
