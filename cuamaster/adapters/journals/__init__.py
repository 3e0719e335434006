"""Durable journals of episodes."""
