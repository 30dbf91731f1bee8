"""How good a recipe is: cross-validation and metrics. Nothing here is private: folds are fits, and scores are exact."""
