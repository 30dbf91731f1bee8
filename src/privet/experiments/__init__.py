"""Experiments of the papers, and the evaluation of recipes on a table. Nothing here is private: it runs many fits."""
