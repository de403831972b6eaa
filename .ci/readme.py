"""Prints the first code block under a heading of the README, so that what CI runs and what the README says cannot differ.

usage: readme.py code HEADING
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def code_under(heading: str, text: str) -> str:
    """The first fenced block after the heading; raises `SystemExit` where there is none."""
    block = re.search(rf"^#+ {re.escape(heading)}\n(?:(?!^#+ ).*\n)*?```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if block is None:
        raise SystemExit(f"README.md has no code block under the heading {heading!r}")
    return block.group(1)


if __name__ == "__main__":
    print(code_under(sys.argv[2], README.read_text(encoding="utf-8")), end="")
