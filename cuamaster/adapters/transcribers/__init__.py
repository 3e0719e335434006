"""Transcripts from caption files and from speech."""
