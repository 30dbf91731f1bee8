"""The kernel: the only part of privet that may cost privacy.

It takes values and never callables, releases nothing without a receipt, and shows an analyst no exact count.
Proofs are in ``docs/proofs``; every mechanism names its page.
"""
