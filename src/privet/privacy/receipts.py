"""Receipts: a mechanism draws only if it has one, and loses no more than the receipt says."""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import numpy.typing as npt

from privet.errors import ReceiptError
from privet.privacy.concentrated import pure_epsilon
from privet.privacy.losses import Loss

if TYPE_CHECKING:
    from privet.privacy.accounts import Account


class Receipt:
    """Proof of a charge. It is good for one release in each of its cells, at the loss it carries.

    ``loss`` is what a mechanism for add/remove neighbours may lose. Under replace-one it is half of the epsilon that
    was charged. The receipt is good only in the process that paid.
    """

    __slots__ = ("_claim", "_ledger", "_open", "_process", "loss", "what")

    def __init__(self, ledger: Account, loss: Loss, what: str, cells: int) -> None:
        self._ledger = ledger
        self._open = np.ones(cells, dtype=bool)
        self._claim = threading.Lock()
        self._process = os.getpid()
        self.loss = loss
        self.what = what

    @property
    def epsilon(self) -> Fraction:
        return self.loss.epsilon

    def redeem(self, cells: npt.NDArray[np.intp] | None = None) -> Fraction:
        """Use the receipt up for ``cells`` (all of them by default). The answer is the epsilon to draw with.

        It is good for any pure mechanism, also where rho was paid. What can do better with rho uses ``redeem_loss``.
        """
        return pure_epsilon(self.redeem_loss(cells))

    def redeem_loss(self, cells: npt.NDArray[np.intp] | None = None) -> Loss:
        """The same, for a mechanism that knows what to do with each kind of loss."""
        wanted = np.arange(self._open.size) if cells is None else cells
        if wanted.size and (wanted.min() < 0 or wanted.max() >= self._open.size):
            raise ReceiptError(f"the receipt for {self.what!r} does not cover that cell")
        if self._process != os.getpid():
            raise ReceiptError(f"the receipt for {self.what!r} belongs to another process; make a charge in this one")
        # Never wait: a signal handler may have interrupted the code that holds the claim.
        if not self._claim.acquire(blocking=False):
            raise ReceiptError(f"the receipt for {self.what!r} is being redeemed elsewhere; make a new charge")
        try:
            if not self._open[wanted].all() or np.unique(wanted).size != wanted.size:
                raise ReceiptError(f"the receipt for {self.what!r} was redeemed already; make a new charge")
            self._open[wanted] = False
        finally:
            self._claim.release()
        return self.loss

    def mark(self, caveat: str | None) -> None:
        """Tell the ledger that the noise drawn for this receipt was not the real one."""
        if caveat is not None:
            self._ledger.add_caveat(caveat, voids=True)

    def _refuse(self, *_: object) -> NoReturn:
        raise ReceiptError("a receipt cannot be copied: it is good for one release")

    __copy__ = __deepcopy__ = __reduce__ = _refuse
