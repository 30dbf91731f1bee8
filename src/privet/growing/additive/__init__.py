"""Additive models: a first tree, curves and pairs."""
