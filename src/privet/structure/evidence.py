"""The evidence of public trees about a record, as additive log-odds: public, as the trees are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.structure.fit_losses import MarginLoss
from privet.structure.routes import Routes

Floats = npt.NDArray[np.float64]

STEPS = 1024
"""Log-loss is counted in whole steps of this part of a nat: sums of integers do not depend on the order of records."""


@dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """The evidence of public trees: ``start`` plus a weight times the ``votes`` of the leaves that a record reaches.

    ``votes`` (node, class) and ``start`` (class,) are scores; ``weights`` are the candidates to choose from. The votes
    of the first ``fixed`` trees count in full, whatever the weight is. Scores are log-odds, or those of a fit with a
    ``margin``, of which its link makes probabilities (:mod:`privet.models.link`). The log-loss of a record counts as
    much as ``class_weights`` say, each in [0, 1] (1 if left out), and is clipped at ``most`` steps.
    """

    routes: Routes
    votes: Floats
    start: Floats
    weights: Floats
    most: int
    fixed: int = 0
    margin: float = 0.0
    class_weights: Floats | None = None

    def __post_init__(self) -> None:
        classes = self.routes.schema.n_classes
        if self.class_weights is None:
            object.__setattr__(self, "class_weights", np.ones(classes))
        shapes = {"votes": (len(self.routes.tests), classes), "start": (classes,), "class_weights": (classes,)}
        for name, shape in (*shapes.items(), ("weights", None)):
            part = np.array(getattr(self, name), dtype=np.float64)
            if part.shape != (shape or (part.size,)) or not part.size or not np.isfinite(part).all():
                raise ParameterError(f"{name} must hold finite numbers, one for each of {shape or 'the candidates'}")
            part.setflags(write=False)  # so that it cannot change after the check
            object.__setattr__(self, name, part)
        if self.counted.min() < 0 or self.counted.max() > 1:
            raise ParameterError("class_weights must lie between 0 and 1")
        if type(self.fixed) is not int or not 0 <= self.fixed <= len(self.routes):
            raise ParameterError(f"fixed must be a number of trees up to {len(self.routes)}, not {self.fixed!r}")
        if fault := MarginLoss(self.margin).fault:
            raise ParameterError(fault)
        if type(self.most) is not int or not 1 <= self.most < 2**21:
            raise ParameterError(f"most must be a whole number of steps from 1 to {2**21 - 1}, not {self.most!r}")

    @property
    def counted(self) -> Floats:
        """(class,) how much of the log-loss of a record counts."""
        assert self.class_weights is not None
        return self.class_weights
