"""DP-EBM (interpret-core 0.7.8), with epsilon 1 and delta 1e-5, on one category and one number."""

from interpret.privacy import DPExplainableBoostingClassifier

from privet.audit import table_pairs

PAIRS = table_pairs(records=60, categories=("a", "b"))


def ebm():
    return DPExplainableBoostingClassifier(
        feature_types=["nominal", "continuous"],
        epsilon=1.0,
        delta=1e-5,
        privacy_bounds={"x0": (0.0, 1.0)},
        max_rounds=20,
        n_jobs=1,
    )


def a_category():
    """The only record of a category gets another one. The number of records stays, so it cannot be what shows."""
    (lone,) = (pair for pair in PAIRS if pair.name == "a category of one record leaves")
    X, y = lone.ours
    return [("a category of one record is replaced", (X, y), (X.replace({"category": {"alone": "a"}}), y))]


def any_record():
    """A record like the others leaves."""
    return [pair for pair in PAIRS if pair.name == "spread numbers, without the middle one"]
