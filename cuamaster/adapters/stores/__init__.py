"""Stores: where content-addressed blobs live."""
