"""Templates of the snapshot tasks, one module per domain."""
