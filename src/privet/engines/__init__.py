"""How counts are made. Engines answer exact numbers to the kernel and to nobody else."""
