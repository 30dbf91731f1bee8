"""Noise switches, checks and strategies that only tests may use.

Each noise source here voids the certificate of every ledger it touches: the total becomes infinite and a caveat says
why. Nothing but this package and the auditor can replace the real noise.

>>> import privet
>>> from privet.testing import ZeroNoise, use_noise
>>> ledger = privet.Ledger(1)
>>> from privet.datasets.clinic import clinic
>>> schema, table = clinic(500)
>>> with use_noise(ZeroNoise()):
...     privet.protect(table, schema, ledger).noisy_count(1)
500
>>> ledger.certificate().private
False
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Draw": "noise",
    "ReplayNoise": "noise",
    "SeededNoise": "noise",
    "ZeroNoise": "noise",
    "check_engine": "engines",
    "check_recipe": "checks",
    "use_noise": "noise",
    "neighbouring_tables": "strategies",
    "schemas": "strategies",
    "tables": "strategies",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
