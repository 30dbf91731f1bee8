"""The auditor: run the real code of a fit on tiny neighbouring tables and enumerate what its mechanisms can draw.

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
from privet.audit.zoo import Pair, tiny_schema, wide_schema, zoo

__all__ = [
    "AuditResult",
    "Pair",
    "TooLarge",
    "Transcript",
    "audit_learner",
    "exact",
    "explore",
    "output_distribution",
    "progress",
    "tiny_schema",
    "wide_schema",
    "zoo",
]
