"""Finds what in a text is prose: code, logs, tracebacks, JSON, diffs and test output are blanked, offsets stay."""

from __future__ import annotations

import re

_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]{1,200}`")
_TRACEBACK = re.compile(r"^Traceback \(most recent call last\):", re.IGNORECASE)
_LOG = re.compile(
    r"^\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d[\].,]|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|CRITICAL)\b[\]: ]"
    r"|\w{3} +\d{1,2} \d\d:\d\d:\d\d )"
)
_TEST = re.compile(
    r"^\s*(?:(?:FAILED|PASSED|ERROR|SKIPPED)\s+\S+|E {2,}|>{1,3} |={4,}|-{4,}|\+{3} |@@ |diff --git|index [0-9a-f]{6,}|\$ \S|at \S+\(\S+\)$|npm ERR!)"
)
_DIFF = re.compile(r"^[+-](?![\s-]|\d)\S*[({=;\[]|^[+-]{3} [ab]/")
_CODE = re.compile(
    r"^\s*(?:def \w+\(|class \w+[(:]|import [\w.]+\s*$|from [\w.]+ import |return\b.*[;)\]]?$|(?:const|let|var|function|public|private|static|fn|func|pub) \w+.*[{=;(]"
    r"|#include|package \w+;|SELECT .* FROM |INSERT INTO |CREATE TABLE |</?\w+[^>]*>|[\]})]+[;,]?\s*$|(?:if|for|while)\s*\(.*\{|File \".*\", line \d+|\w+(?:\.\w+)*\(.*\)[;{]?\s*$"
    r"|[\w.\[\]\"']+\s*(?:=|:=|\+=)\s*\S.*[;)\]}\"']?$|\w+Error:|\w+Exception:)"
)
_JSON_LINE = re.compile(r'^\s*(?:[{\[]\s*$|[}\]],?\s*$|"[^"]+"\s*:\s*.+,?$|\{.*"[^"]*"\s*:.*\}\s*,?$|\[.*(?:\{|").*\]\s*,?$)')
_QUOTED = re.compile(r"^\s*>")


def prose(text: str) -> str:
    """The text with everything that is not prose replaced by blanks: same length, same line breaks."""
    masked = _FENCE.sub(_blank, text) if "```" in text or "~~~" in text else text
    if "`" in masked:
        masked = _INLINE_CODE.sub(lambda found: " " + found[0][1:-1] + " ", masked)
    lines = masked.split("\n")
    trace = False
    for number, line in enumerate(lines):
        if _TRACEBACK.match(line):
            trace = True
        elif trace and line and not line[0].isspace():
            lines[number], trace = " " * len(line), False
            continue
        if trace or _is_noise(line):
            lines[number] = " " * len(line)
    return "\n".join(lines)


def _blank(found: re.Match[str]) -> str:
    return "".join("\n" if character == "\n" else " " for character in found[0])


def _is_noise(line: str) -> bool:
    head = line[:400]
    return bool(
        _LOG.match(head) or _TEST.match(head) or _DIFF.match(head) or _CODE.match(head) or _JSON_LINE.match(head) or _QUOTED.match(head)
    )
