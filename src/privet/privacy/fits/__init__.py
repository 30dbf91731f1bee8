"""The third afternoon: one convex fit, released once. Calibration of its noise, the solver, and the release."""
