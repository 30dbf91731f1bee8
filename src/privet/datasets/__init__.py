"""Tables for examples and experiments: generators from the papers and a loader for real tables.

- :mod:`privet.datasets.fs`: the synthetic tasks of Friedman & Schuster (2010), section 5.1
- :mod:`privet.datasets.clinic`: the same generator as a clinic's table
- :mod:`privet.datasets.real`: real tables with published schemas: ``load("adult")`` finds them in a directory of yours,
  in the cache or at OpenML, ``load_schema`` has their public facts, ``names`` lists those that are available

Nothing here is private, and nothing here draws privacy noise: the "noise" of a generator is wrong data.
"""

from privet.datasets.real import cache_dir, load, load_schema, names

__all__ = ["cache_dir", "load", "load_schema", "names"]
