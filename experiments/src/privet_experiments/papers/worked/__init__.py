"""What the sources compute on paper, computed again: examples, formulas and what their printed tables say together."""
