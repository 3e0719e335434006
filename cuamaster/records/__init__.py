"""Frozen records: what the stages read and write. Ids derive from content; a new step makes a new record."""
