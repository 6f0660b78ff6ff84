"""The cost of an iteration of a distributed fit: docs/scaling.md."""
