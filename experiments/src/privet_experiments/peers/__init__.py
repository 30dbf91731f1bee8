"""Private learners of other libraries on our tables and folds, each library in an environment of its own."""
