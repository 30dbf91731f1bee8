"""Public structure: tests of nodes, trees of tests, and the compiled descent."""
