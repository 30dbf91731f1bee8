"""The auditor: every mechanism of a fit enumerated on tiny neighbouring tables, on the real code path.

>>> import privet.audit
>>> result = privet.audit.exact("diffpid3", claimed=1, pairs=privet.audit.zoo()[:2])
>>> result.verdict
'holds'
"""

from privet.audit.exact import AuditResult, exact
from privet.audit.explorer import Transcript, explore, output_distribution
from privet.audit.zoo import Pair, zoo

__all__ = ["AuditResult", "Pair", "Transcript", "exact", "explore", "output_distribution", "zoo"]
