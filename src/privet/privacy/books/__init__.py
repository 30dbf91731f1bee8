"""The books of a server: who may spend how much on whose records, what was charged, and what may leave when."""
