"""Open-world seeding: from search words to trajectories rebuilt from videos; pure functions."""
