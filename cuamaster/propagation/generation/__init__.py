"""Generation: videos' abilities become primitives, primitives become tasks, tasks get their certificates."""
