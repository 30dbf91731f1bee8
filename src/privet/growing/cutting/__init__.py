"""Where numbers are cut: on public grids, or at bought points."""
