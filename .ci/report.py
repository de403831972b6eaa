"""Reads pytest's report and fails when nothing ran, or when something was left out without a reason on the list.

usage: report.py LOG ALLOWED
A line of ALLOWED that is not empty and no comment is a part of a SKIPPED line that may stand in the report.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_CLOSING = re.compile(r"^=* ?((?:\d+ [a-z]+,? ?)+) in [\d.]+s.*?=*$", re.MULTILINE)
_LEFT_OUT = ("xfailed", "xpassed", "deselected")


def complaints(report: str, allowed: list[str]) -> list[str]:
    """What is wrong with a report of pytest, a sentence each."""
    closings = _CLOSING.findall(report)
    if not closings:
        return ["pytest printed no closing line."]
    counts = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", closings[-1])}
    found = [] if counts.get("passed") else ["No test passed."]
    found += [f"{counts[word]} tests {word}." for word in _LEFT_OUT if counts.get(word)]
    skips = [line for line in report.splitlines() if line.startswith("SKIPPED ")]
    found += [f"Skipped without a reason on the list: {line}" for line in skips if not any(reason in line for reason in allowed)]
    if counts.get("skipped") and not skips:
        found.append("Tests were skipped and the report does not say which.")
    return found


if __name__ == "__main__":
    lines = Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()
    wrong = complaints(Path(sys.argv[1]).read_text(encoding="utf-8"), [line for line in lines if line.strip() and not line.startswith("#")])
    for sentence in wrong:
        print(f"CI: {sentence}")
    sys.exit(bool(wrong))
