"""Choose epsilon before spending any of it: the economic model, the sample-size correction, and a simulation."""
