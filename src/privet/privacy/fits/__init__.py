"""One convex fit, released once: calibration of its noise, the solver, and the release."""
