"""Makes the installers: `python -m lean_memory_installers` (see docs/maintaining.md, “How to release”). Nothing of it is in an installed program."""
