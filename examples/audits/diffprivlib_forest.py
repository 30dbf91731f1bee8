"""diffprivlib 0.6.6: a forest of ten trees, and as a control a forest of one, both with epsilon 1."""

from diffprivlib import BudgetAccountant
from diffprivlib.models import RandomForestClassifier

from privet.audit import table_pairs


def forest(trees=10):
    return RandomForestClassifier(
        n_estimators=trees,
        epsilon=1.0,
        bounds=(0, 1),
        classes=[0, 1],
        max_depth=1,
        accountant=BudgetAccountant(),  # one for each fit: the default adds all of them up
    )


def one_tree():
    return forest(trees=1)


def pairs():
    """One record leaves. Odd values are left out: what a library refuses is another question than its noise."""
    return [pair for pair in table_pairs(odd=False) if pair.relation == "add-remove"]
