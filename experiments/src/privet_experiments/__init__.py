"""Declared grids of fits, run again whenever somebody asks: figures of the papers, and our own questions."""

__version__ = "0.1.0"
