"""The command line, one module per subject. It reaches the memory through the public `lean_memory` names only, and only when a command runs."""
