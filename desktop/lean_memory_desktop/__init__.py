"""The desktop side of Lean Memory: the `lean-memory` command."""
