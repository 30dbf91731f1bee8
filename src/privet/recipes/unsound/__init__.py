"""Published methods that are not private, for comparison only. Kernel and growers never import them."""
