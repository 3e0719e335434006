"""Pictures to facts: changed regions, cursor, grounding, frame gate."""
