"""Rules as values, the similarity of two rule lists, and how well a published table retains patterns.

Measures on released models are free. Measures on records are NOT PRIVATE unless their name says so: they are for tables
that need no protection, or for an owner who holds a table and its published form.
"""

from privet.evaluation.metrics import Performance, performance
from privet.evaluation.significance import Significance, corrected_t, wilcoxon
from privet.rules.private import private_retention, private_supports
from privet.rules.retention import (
    Matched,
    RetentionReport,
    label_distance,
    pattern_accuracy,
    pattern_label_distance,
    pattern_support_distance,
    relative_error,
    retention_report,
    support_distance,
)
from privet.rules.rulelist import RuleList, rule_list
from privet.rules.similarity import Similarity, compare_rules

__all__ = [
    "Matched",
    "Performance",
    "RetentionReport",
    "RuleList",
    "Significance",
    "Similarity",
    "compare_rules",
    "corrected_t",
    "label_distance",
    "pattern_accuracy",
    "pattern_label_distance",
    "pattern_support_distance",
    "performance",
    "private_retention",
    "private_supports",
    "relative_error",
    "retention_report",
    "rule_list",
    "support_distance",
    "wilcoxon",
]
