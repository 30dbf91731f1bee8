"""Publish tables: synthetic records from noisy counts and, for comparison, noisy records without a promise.

>>> import privet
>>> from privet.datasets.clinic import clinic
>>> from privet.publishing import DiffGen, publish
>>> schema, table = clinic(2000)
>>> published = publish(DiffGen(max_depth=3), privet.protect(table, schema, privet.Ledger(1)), epsilon=1)
>>> published.certificate["epsilon"], sorted(published.records())[:2]
('1', ['blood_pressure', 'class'])
"""

from privet.publishing.diffgen import DiffGen
from privet.publishing.dpcube import DPCube
from privet.publishing.hierarchies import Hierarchies
from privet.publishing.nonprivate import NoisyTable, gaussian_noise, uniform_noise
from privet.publishing.release import Publisher, Release, publish

__all__ = [
    "DPCube",
    "DiffGen",
    "Hierarchies",
    "NoisyTable",
    "Publisher",
    "Release",
    "gaussian_noise",
    "publish",
    "uniform_noise",
]
