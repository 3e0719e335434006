"""One file an engine: the recipe in the words of its configuration."""
