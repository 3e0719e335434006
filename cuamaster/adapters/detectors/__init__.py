"""Detectors behind endpoints; the embedded one is `propagation.collection.detect`."""
