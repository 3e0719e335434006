"""Judges of videos and miners of tasks: the embedded rules, and any OpenAI-compatible model."""
