"""Fletcher's thesis (2017), chapters 5 to 9, run again: each figure is a grid of a few lines and what the text says."""
