"""Datasets made of a workspace: sft.parquet, unproven.parquet, rl.parquet, their checks before release and their card."""
