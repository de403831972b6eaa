"""`lean-memory`, also as `python -m lean_memory_desktop`."""

from __future__ import annotations

import sys

from lean_memory_desktop.cli.main import run


def main() -> None:
    """Run the command line with this process's arguments and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
