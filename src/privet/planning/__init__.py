"""Choosing epsilon before any of it is spent: the economic model, the sample-size correction, and a simulation."""
