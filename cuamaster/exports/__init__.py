"""Datasets made of a workspace: sft, unproven and rl.parquet with their checks and card, and one dataset a trainer's profile."""
