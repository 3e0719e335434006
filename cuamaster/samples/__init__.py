"""Bundled narrated tutorials with their ground truth, and the script that recorded them."""
