"""How trees grow: level by level with a choice of policies, in blocks of levels, or at random."""
