"""The evaluation that an owner may publish: a split by coins, private fits, private scores, all of it charged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sklearn.base import clone

from privet.errors import ParameterError, Setting
from privet.estimators.base import PrivateClassifier
from privet.evaluation.private_result import PrivateScore
from privet.evaluation.private_score import private_score
from privet.evaluation.rehearsal import invented, try_out
from privet.evaluation.splitting import check_rate, holdout
from privet.growing.greedy.grower import Progress, check_progress
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.ledger import Certificate, Ledger


@dataclass(frozen=True)
class Evaluated:
    """One classifier's private score on records that it has not seen."""

    recipe: str
    variant: str
    epsilon: Fraction
    score: PrivateScore

    def to_dict(self) -> dict[str, Any]:
        text = self.score.to_dict()
        return {"recipe": self.recipe, "variant": self.variant, "epsilon": str(self.epsilon)} | text


def price_of(classifiers: Sequence[PrivateClassifier], epsilon_scores: object) -> Fraction:
    """What all fits and all scores cost together."""
    fits = sum((parse_epsilon(classifier.epsilon) for classifier in classifiers), Fraction(0))
    return fits + len(classifiers) * parse_epsilon(epsilon_scores, "epsilon_scores")


def evaluate_privately(
    classifiers: Sequence[PrivateClassifier],
    table: Any,
    epsilon_scores: object,
    ledger: Ledger,
    *,
    test: object = 0.25,
    progress: Progress | None = None,
) -> tuple[tuple[Evaluated, ...], Certificate]:
    """Fit each classifier on one part of a table and score it on the other, and certify all of it.

    Every fit and every score is charged to the ledger. All of them are for the same two parts; a record is in one of
    them only, so that what one record loses is less than the sum, and the sum is what is certified.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(2000)
    >>> tree = privet.papers.DiffPID3Classifier(schema, epsilon=1, max_depth=2)
    >>> (result,), certificate = evaluate_privately([tree], table, 0.5, privet.Ledger(2))
    >>> result.score.held_out, certificate.epsilon
    (True, Fraction(3, 2))
    """
    price, _ = price_of(classifiers, epsilon_scores), check_rate(test)
    check_progress(progress)
    if not classifiers:
        raise ParameterError("classifiers is empty; name at least one to evaluate")
    if any(classifier.ledger is not None for classifier in classifiers):
        raise ParameterError("classifiers spend from the ledger of the evaluation; leave their ledger out")
    # The caller's estimators stay as they are.
    classifiers = [clone(classifier).set_params(neighbours=ledger.neighbours.value) for classifier in classifiers]
    for classifier in classifiers:
        recipe = classifier.recipe()
        if recipe.variant in recipe.unsound:
            name = f"{recipe.info.name} {recipe.variant}"
            problem = f"{name} is not private, so a private evaluation cannot hold it"
            raise ParameterError(problem, parameter="variant", fix=("use ", Setting("variant", "sound")))
        # What stops a later classifier must not come after the charges of the first.
        schema, _, _ = classifier._facts(table, None)
        try_out(recipe, schema, invented(schema, 0), parse_epsilon(classifier.epsilon), ledger.neighbours)
    with ledger.reserve(price, "private evaluation", schema) as account:  # refused if that is not enough for all
        train, unseen = holdout(table, test=test)
        found = []
        for number, classifier in enumerate(classifiers, 1):
            fitted = classifier.set_params(ledger=account).fit(train)
            score = private_score(fitted, unseen, None, epsilon_scores, account, held_out=True)
            recipe = classifier.recipe()
            found.append(Evaluated(recipe.info.name, recipe.variant, parse_epsilon(classifier.epsilon), score))
            if progress is not None:
                progress(number, len(classifiers))
        return tuple(found), account.certificate()
