"""Adapters: one outside thing per file, imported lazily by wiring."""
