"""Ledgers of model usage."""
