"""Readers of recorded video: decoding, sampling, sound, cutting."""
