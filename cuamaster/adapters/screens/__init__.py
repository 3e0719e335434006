"""Readers of text on screenshots."""
