"""A rehearsal of the hand-off to training: demonstrations, datasets, SFT and GRPO of a tiny model on the simulated desktop."""
