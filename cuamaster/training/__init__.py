"""The hand-off to trainers: the recipe as ready configurations, and the desktop as an environment to learn in."""
