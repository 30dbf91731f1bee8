"""Bai et al., *Embedding differential privacy in decision tree algorithm with different depths* (2017)."""
