"""Lease tables: who holds which desktop, until when."""
