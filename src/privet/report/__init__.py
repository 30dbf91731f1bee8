"""Pages and pictures of a model and its promise. They use released numbers only, no table."""
