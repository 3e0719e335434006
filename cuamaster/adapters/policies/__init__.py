"""Policies: what decides the next actions."""
