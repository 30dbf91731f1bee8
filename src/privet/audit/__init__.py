"""The auditors. ``exact`` runs the real code of a fit on tiny neighbouring tables and enumerates what it can draw.
``sample`` fits anything many times and bounds the loss that shows, for what cannot be enumerated.

>>> import privet.audit
>>> result = privet.audit.exact("diffpid3", pairs=privet.audit.zoo()[:2], claimed=1)
>>> result.verdict, result.method
('holds', 'paired transcripts')
"""

from privet.audit.channels import progress
from privet.audit.exact import audit_learner, exact
from privet.audit.explorer import Transcript, explore
from privet.audit.outputs import TooLarge, output_distribution
from privet.audit.result import AuditResult
from privet.audit.sampling.one_run import OneRunResult, one_run
from privet.audit.sampling.pairs import TablePair, table_pairs
from privet.audit.sampling.recipes import sample_recipe
from privet.audit.sampling.result import SampleResult
from privet.audit.sampling.run import sample
from privet.audit.zoo import Pair, tiny_schema, wide_schema, zoo

__all__ = [
    "AuditResult",
    "OneRunResult",
    "Pair",
    "SampleResult",
    "TablePair",
    "TooLarge",
    "Transcript",
    "audit_learner",
    "exact",
    "explore",
    "one_run",
    "output_distribution",
    "progress",
    "sample",
    "sample_recipe",
    "table_pairs",
    "tiny_schema",
    "wide_schema",
    "zoo",
]
