"""Names from scikit-learn and similar libraries that privet does not have, and what it has instead.

Users of scikit-learn type ``max_features``, ``sample_weight`` or ``predict_log_proba``. The error names the equivalent
here, or says why there is none. Text only: nothing is imported for a refusal.

>>> print(UnknownArgument("ExactTreeClassifier", "max_leaf", ["max_depth", "n_estimators", "max_leaves"]))
ExactTreeClassifier has no parameter 'max_leaf'; did you mean 'max_leaves'? It takes
  max_depth, max_leaves, n_estimators
>>> print(UnknownArgument("PrivateForestClassifier", "n_trees", ["max_depth", "n_estimators"]))
PrivateForestClassifier has no parameter 'n_trees'; use n_estimators
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from textwrap import wrap
from typing import Any, NamedTuple

from privet.errors import ParameterError, RecipeError

WIDTH = 96  # columns of a list of names, with its indent below those of a usual terminal
NEAR = 0.7  # of difflib's ratio: three letters in ten may be wrong


class Answer(NamedTuple):
    """The answer to a name: equivalent parameters, for recipes that have them, and otherwise a sentence."""

    same: tuple[str, ...]
    otherwise: str


_SIZE = "noise decides how small a leaf may be: limit max_depth"
_RANDOM = "what a tree may look at is part of the recipe: `privet recipes` lists what differs"
_SCHEMA = "public facts are declared in the schema: schema=privet.Schema(...)"
_WEIGHTS = "{label: weight}, public numbers from 0 to 1: 'balanced' would read the class counts off private records"
_BOOSTING = "no recipe boosts: 'additive' fits all its curves at once"
_SEARCH = "privet.PrivateSearch searches settings for one charge"
_FOREST = "it has no number of trees; a forest has: 'random-forest' takes n_estimators"
_PRUNED = "pruning costs nothing: prune of diffpc45, greedy-forest and random-forest"

PARAMETERS: dict[str, Answer] = {
    # scikit-learn's trees and forests
    "n_estimators": Answer((), _FOREST),
    "n_trees": Answer(("n_estimators",), _FOREST),
    "trees": Answer(("n_estimators",), _FOREST),
    "criterion": Answer((), "its score is part of the recipe; diffpid3, diffpc45 and mohammed2015 offer more"),
    "splitter": Answer((), _RANDOM),
    "max_features": Answer((), _RANDOM),
    "bootstrap": Answer((), "records are never drawn with replacement: one record could then count many times"),
    "max_samples": Answer(
        ("rate",), "records are never drawn with replacement: one record could then count many times"
    ),
    "oob_score": Answer((), "no record is left out of a fit; privet.private_score buys a score"),
    "min_samples_leaf": Answer(("min_records", "max_leaves"), _SIZE),
    "min_samples_split": Answer(("min_records", "max_leaves"), _SIZE),
    "min_weight_fraction_leaf": Answer(("min_records", "max_leaves"), _SIZE),
    "min_impurity_decrease": Answer(("prune",), _PRUNED),
    "max_leaf_nodes": Answer(("max_leaves",), "a tree of depth d has at most 2**d leaves: limit max_depth"),
    "ccp_alpha": Answer(("prune",), _PRUNED),
    "monotonic_cst": Answer((), "no recipe has monotone constraints"),
    "class_weight": Answer((), f"no weights here: exact and additive take class_weight, {_WEIGHTS}"),
    "class_weights": Answer(("class_weight",), f"no weights here: exact and additive take class_weight, {_WEIGHTS}"),
    "warm_start": Answer((), "every fit starts again and spends epsilon: give it all that it may spend at once"),
    # boosting, and linear models
    "learning_rate": Answer((), _BOOSTING),
    "max_iter": Answer((), _BOOSTING),
    "subsample": Answer(("rate",), _BOOSTING),
    "early_stopping": Answer((), _BOOSTING),
    "interactions": Answer(("pairs",), "only 'additive' has pairs of attributes"),
    "bins": Answer(("max_bins",), ""),
    "n_bins": Answer(("max_bins",), ""),
    # what every classifier has under another name
    "eps": Answer(("epsilon",), ""),
    "privacy_budget": Answer(("epsilon",), ""),
    "accountant": Answer(("ledger",), ""),
    "budget": Answer(("ledger",), ""),
    "seed": Answer(("random_state",), ""),
    "depth": Answer(("max_depth",), ""),
    "n_threads": Answer(("n_jobs",), ""),
    "n_jobs": Answer((), "non-private references count in one thread"),
    "random_state": Answer((), "only noise is random, and it is never seeded"),
    # scikit-learn's searches
    "param_grid": Answer((), _SEARCH),
    "param_distributions": Answer(("param_grid",), _SEARCH),
    "settings": Answer(("param_grid",), _SEARCH),
    "n_iter": Answer(("mean_runs",), _SEARCH),
    "cv": Answer(("test",), _SEARCH),
    "scoring": Answer((), "a search compares noisy accuracy"),
    "refit": Answer((), "the best run's model is the result; a further fit would cost more"),
    # public facts
    "bounds": Answer((), _SCHEMA),
    "classes": Answer((), _SCHEMA),
    "feature_names": Answer((), _SCHEMA),
    "feature_types": Answer((), _SCHEMA),
    "privacy_bounds": Answer((), _SCHEMA),
    "categorical_features": Answer((), _SCHEMA),
}

FIT_ARGUMENTS: dict[str, str] = {
    "sample_weight": "every record counts once, as epsilon is defined: give no weights; exact and "
    "additive weigh classes, by class_weight={label: weight}",
    "groups": "whose rows are whose is a public fact: declare unit=privet.Unit(column, max_rows) in the schema",
    "check_input": "what a table declares is always checked; leave it out",
    "eval_set": "no recipe stops by a score; privet.holdout keeps records apart, privet.private_score buys a score",
    "epsilon": "it is a parameter of the classifier: set_params(epsilon=...)",
    "schema": "it is a parameter of the classifier: set_params(schema=...)",
    "ledger": "it is a parameter of the classifier: set_params(ledger=...)",
}

ATTRIBUTES: dict[str, str] = {
    "predict_log_proba": "take numpy.log of predict_proba(X), where a probability may be 0",
    "decision_function": "use predict_proba(X); 'additive' has a decision_function",
    "decision_path": "rules_ lists every path, and `privet report` follows a case through the tree",
    "apply": "tree_.apply(privet.tables.encoding.encode_features(schema_, X)) gives the leaf of each record",
    "get_depth": "use tree_.depth, or those of estimators_",
    "get_n_leaves": "use tree_.n_leaves, or those of estimators_",
    "cost_complexity_pruning_path": _PRUNED,
    "partial_fit": "every fit starts again and spends epsilon; privet.protect reads tables that do not fit into memory",
    "estimator_": "the model is model_",
    "importances_": "use feature_importances_",
    "n_classes_": "use len(classes_)",
    "n_outputs_": "there is one label",
    "max_features_": "every attribute of schema_ may be used",
    "oob_score_": "privet.private_score buys a score",
    "oob_decision_function_": "privet.private_score buys a score",
    "coef_": "'additive' has shapes_ and pairs_, trees have rules_",
    "intercept_": "'additive' has shapes_ and pairs_, trees have rules_",
    "n_iter_": "nothing is repeated until it converges",
    "transform": "it predicts labels; privet.tables.encoding.encode_features(schema_, X) gives the codes that it uses",
    "fit_predict": "call fit, then predict",
}


class UnknownArgument(RecipeError, TypeError):
    """A parameter that a recipe does not have, with what it has instead. A TypeError, as in Python."""

    def __init__(self, who: str, name: str, offered: Collection[str], spelt: Mapping[str, str] | None = None) -> None:
        """``spelt`` has the spelling of parameters that differs from their name: ``{"max_depth": "--max-depth"}``."""
        self._given = who, name, sorted(offered), dict(spelt or {})
        super().__init__(f"{who} has no parameter {name!r}", parameter=name, fix=_instead(*self._given[1:]))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._given


class UnknownFitArgument(ParameterError, TypeError):
    """An argument that no ``fit`` has."""


def refuse_in_fit(who: str, arguments: Mapping[str, Any]) -> None:
    """Raise for an argument that ``fit`` does not have, and name the alternative.

    >>> refuse_in_fit("ExactTreeClassifier", {"check_input": False})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    privet.recipes.unoffered.UnknownFitArgument: ExactTreeClassifier.fit takes no check_input; what a table declares...
    """
    for name, value in arguments.items():
        if value is None and name in FIT_ARGUMENTS:  # wrappers pass it as a default
            continue
        fix = FIT_ARGUMENTS.get(name, "it takes X and y, and progress by name")
        raise UnknownFitArgument(f"{who}.fit takes no {name}", parameter=name, fix=fix)


def _instead(name: str, offered: Collection[str], spelt: Mapping[str, str]) -> str:
    known, there = PARAMETERS.get(name.lower()), {*offered, *spelt}
    have = [spelt.get(other, other) for other in known.same if other in there] if known else []
    if known and (have or known.otherwise):
        return f"use {' or '.join(have)}" if have else known.otherwise
    near = get_close_matches(name.lower(), there, n=1, cutoff=NEAR)
    meant = f"did you mean {spelt.get(near[0], repr(near[0]))}? It takes" if near else "it takes"
    listed = wrap(", ".join(offered), WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False)
    return "\n".join([meant, *listed])
