"""Autocatalytic propagation: primitives, composed tasks and verified trajectories."""
