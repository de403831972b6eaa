"""Prints the first code block under a heading of the README, so that what CI runs and what the README says cannot differ.

usage: readme.py code HEADING
"""

from __future__ import annotations

import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def code_under(heading: str, text: str) -> str:
    """The first fenced block between the heading and the next one; raises `SystemExit` where there is none."""
    code: list[str] = []
    here = inside = False
    for line in text.splitlines():
        if line.startswith("```") and here:
            if inside:
                return "\n".join(code) + "\n"
            inside = True
        elif inside:
            code.append(line)
        elif line.startswith("#"):
            here = line.lstrip("#").strip() == heading
    raise SystemExit(f"README.md has no code block under the heading {heading!r}")


if __name__ == "__main__":
    print(code_under(sys.argv[2], README.read_text(encoding="utf-8")), end="")
