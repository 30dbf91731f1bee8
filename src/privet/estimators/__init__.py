"""The recipes as scikit-learn classifiers."""
