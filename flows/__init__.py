"""Prefect flows: decorators, limits and order over the stages; no logic lives here."""
