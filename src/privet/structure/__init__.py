"""Public shapes: what a node can ask, trees of such questions, and the compiled way down them."""
