"""Methods that are not private, as their papers have them: for comparison only. Kernel and growers never import it."""
