"""Makes the installers: `python -m lean_memory_installers` (see the README, “How to release”). Nothing of it is in an installed program."""
