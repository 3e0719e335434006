"""Rollouts of tasks on desktops: snapshots, divergence, rollback, journal."""
