"""The sampling auditor: many fits on neighbouring tables, and a lower confidence bound on the loss they show.

It needs no noise seam, so it reaches what the exact auditor cannot: large forests, real-valued outputs, compiled code,
and other libraries. Proof of the bound: ``docs/proofs/sampling_audit.md``.
"""
