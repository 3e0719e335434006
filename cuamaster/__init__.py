"""cuamaster: a data flywheel for computer-use agents, from tutorial videos to verified trajectories."""

__version__ = "0.1.0"
