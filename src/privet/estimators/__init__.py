"""scikit-learn faces of the recipes."""
