"""The evidence of public trees about a record, as additive log-odds: public, as the trees are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.structure.routes import Routes

Floats = npt.NDArray[np.float64]

STEPS = 1024
"""Log-loss is counted in whole steps of this part of a nat: sums of integers do not depend on the order of records."""


@dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """The evidence of public trees: ``start`` plus a weight times the ``votes`` of the leaves that a record reaches.

    ``votes`` (node, class) and ``start`` (class,) are log-odds; ``weights`` are the candidates to choose from. The
    log-loss of a record is clipped at ``most`` steps.
    """

    routes: Routes
    votes: Floats
    start: Floats
    weights: Floats
    most: int

    def __post_init__(self) -> None:
        classes = self.routes.schema.n_classes
        for name, shape in (("votes", (len(self.routes.tests), classes)), ("start", (classes,)), ("weights", None)):
            part = np.array(getattr(self, name), dtype=np.float64)
            if part.shape != (shape or (part.size,)) or not part.size or not np.isfinite(part).all():
                raise ParameterError(f"{name} must hold finite numbers, one for each of {shape or 'the candidates'}")
            part.setflags(write=False)  # so that it cannot change after the check
            object.__setattr__(self, name, part)
        if type(self.most) is not int or not 1 <= self.most < 2**21:
            raise ParameterError(f"most must be a whole number of steps from 1 to {2**21 - 1}, not {self.most!r}")
