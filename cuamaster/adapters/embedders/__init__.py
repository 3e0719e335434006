"""Embedders: texts into vectors that are close when they mean the same."""
