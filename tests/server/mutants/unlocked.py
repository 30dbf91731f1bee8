"""A planted fault: the limit is checked before the transaction that holds the price, not in it."""

from __future__ import annotations

import time
from typing import Any

from privet.cli import main
from privet.privacy.books.grants import Grant
from privet.privacy.books.refusals import Refusal
from privet.server.pricing import Pricing

quote, allows = Pricing.quote, Grant.allows


def checked(self: Pricing, table: Any, ask: Any, key: str, model: Any = None) -> Any:
    loss, seconds = quote(self, table, ask, key, model)
    (person,) = self._books.read("SELECT person FROM keys WHERE id = ?", key)[0]
    rows = self._books.read("SELECT most, spent, held FROM grants WHERE person = ?", person)
    grant = Grant(*map(type(loss).read, rows[0]))
    if not allows(grant, loss):
        raise Refusal("budget", asked=loss, left=grant.left)
    time.sleep(0.1)  # sixty questions at once: all of them have looked before the first of them holds
    return loss, seconds


Pricing.quote = checked  # type: ignore[method-assign]
Grant.allows = lambda self, loss: True  # type: ignore[method-assign]

if __name__ == "__main__":
    main()
