"""Action formats of model families, to and from CUAAction; one file a family."""
