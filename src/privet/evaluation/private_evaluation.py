"""The evaluation that an owner may publish: a random split, private fits and private scores, all charged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sklearn.base import clone

from privet.errors import ParameterError, Setting
from privet.estimators.base import PrivateEstimator
from privet.evaluation.private_result import Scored
from privet.evaluation.private_score import private_score
from privet.evaluation.rehearsal import invented, try_out
from privet.evaluation.splitting import check_rate, engine_over, split_protected
from privet.fitting import Request, fit
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Certificate, Ledger
from privet.privacy.losses import Loss
from privet.progress import Progress, check_progress
from privet.structure.compiled import threads
from privet.work import Purse, Work, ledger_of, schema_of


@dataclass(frozen=True)
class Evaluated:
    """One learner's private score on held-out records."""

    recipe: str
    variant: str
    epsilon: Fraction
    score: Scored

    def to_dict(self) -> dict[str, Any]:
        text = self.score.to_dict()
        return {"recipe": self.recipe, "variant": self.variant, "epsilon": str(self.epsilon)} | text


def evaluate_privately(
    classifiers: Sequence[PrivateEstimator],
    table: Any,
    epsilon_scores: object,
    ledger: Ledger | Purse | None = None,
    *,
    test: object = 0.25,
    progress: Progress | None = None,
    quoted_line_breaks: bool = False,
) -> tuple[tuple[Evaluated, ...], Certificate]:
    """Fit each classifier on one part of a table, score it on the other, and certify the whole.

    ``table`` may also be a source, or what :func:`privet.protect` returns, which brings its ledger.

    Every fit and every score is charged to the ledger. All use the same two parts. A record is in only one of them, so
    its loss is less than the sum; the certificate states the sum.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(2000)
    >>> tree = privet.papers.DiffPID3Classifier(schema, epsilon=1, max_depth=2)
    >>> (result,), certificate = evaluate_privately([tree], table, 0.5, privet.Ledger(2))
    >>> result.score.held_out, certificate.epsilon
    (True, Fraction(3, 2))
    """
    share, _ = parse_epsilon(epsilon_scores, "epsilon_scores"), check_rate(test)
    budgets = [parse_epsilon(classifier.epsilon) for classifier in classifiers]
    check_progress(progress)
    if not classifiers:
        raise ParameterError("classifiers is empty; name at least one to evaluate")
    if any(classifier.ledger is not None for classifier in classifiers):
        raise ParameterError("classifiers spend from the ledger of the evaluation; leave their ledger out")
    requests = [_request(classifier, table) for classifier in classifiers]
    losses = [request.recipe.loss(epsilon) for request, epsilon in zip(requests, budgets, strict=True)]
    price = sum(losses, Loss(len(budgets) * share))
    for recipe in (request.recipe for request in requests):
        if recipe.variant in recipe.unsound:
            name = f"{recipe.info.name} {recipe.variant}"
            problem = f"{name} is not private, so a private evaluation cannot hold it"
            raise ParameterError(problem, parameter="variant", fix=("use ", Setting("variant", "sound")))
    schema, *others = dict.fromkeys(schema_of(table, request.schema) for request in requests)
    if others:
        raise ParameterError("classifiers must have the same schema: they learn from the same records")
    found_ledger = ledger_of(table, ledger)
    if found_ledger is None:
        raise ParameterError("ledger is missing: give a privet.Ledger, what all fits and scores may spend")
    how: Any = {"quoted_line_breaks": quoted_line_breaks}
    with Work(table, schema, price, "private evaluation", found_ledger, **how) as work, work.records() as data:
        # Refusals for later classifiers must come before the first charge.
        account = data.ledger
        for request, epsilon in zip(requests, budgets, strict=True):
            try_out(request.recipe, schema, invented(schema, 0), epsilon, account.neighbours)
        train, unseen = (engine_over(part, data) for part in split_protected(data, test, "a private evaluation"))
        found = []
        for number, (classifier, request, epsilon) in enumerate(zip(classifiers, requests, budgets, strict=True), 1):
            with threads(classifier._thread_count()):
                model = fit(replace(request, source=train, epsilon=epsilon, ledger=account, neighbours=None))
                score = private_score(model, PrivateDataset(unseen, account), None, share, held_out=True)
            found.append(Evaluated(model.recipe, request.recipe.variant, epsilon, score))
            if progress is not None:
                progress(number, len(classifiers))
        return tuple(found), account.certificate()


def _request(classifier: PrivateEstimator, table: Any) -> Request:
    """What a classifier asks of the records. A protected table says which neighbours there are."""
    if isinstance(table, PrivateDataset):
        classifier = clone(classifier).set_params(neighbours=table.ledger.neighbours.value)
    return classifier.request(table)
