"""What an export may take the place of: an earlier export as it was written, and nothing else."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from lean_memory.bundles.bundle_file import FIRST_ENTRY, errors_in_words
from lean_memory.bundles.sealing import MAGIC
from lean_memory.errors import InvalidInputError

_ZIP = b"PK\x03\x04"
_ENTRY_NAME = 30
"""Where the first entry's name begins in a zip."""
_HEADING = re.compile(rb"# What .* remembers\n")
_BEGINNING = 4096
_SUM = "<!-- Lean Memory wrote this: {} -->"
"""The last line of a text for people, which shows it to nobody who reads it as Markdown."""
_MARK = _SUM.partition("{}")[0].encode()


def refuse_to_replace(path: Path) -> None:
    """Raises `InvalidInputError` where `path` is a file that holds something and is no export of ours, or a text of ours that was changed since."""
    with errors_in_words(path):
        if not path.is_file():
            return
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
        is_text = _HEADING.match(beginning) is not None
        text = path.read_bytes() if is_text else b""
        is_whole = is_text and _is_as_written(text)
    if is_text and not is_whole:
        # Those of earlier versions have no sum by which it could be seen.
        earlier = "," if _MARK in text else ", or was written by an earlier version,"
        raise InvalidInputError(
            f"{path} is an export of Lean Memory that was changed since{earlier} and what was changed would be lost; nothing was written. "
            "Give another name, or delete that file first."
        )
    if beginning and not is_text and not _is_export(beginning):
        raise InvalidInputError(
            f"{path} is there already and is no export of Lean Memory, so it is left as it is; nothing was written. "
            "Give another name, or delete that file first."
        )


def summed(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a text for people, each with its end, and a last one by which it is seen whether somebody has changed it since."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode())
        yield line
    yield f"{_SUM.format(digest.hexdigest())}\n"


def _is_export(beginning: bytes) -> bool:
    is_zip = beginning.startswith(_ZIP) and beginning.startswith(FIRST_ENTRY.encode(), _ENTRY_NAME)
    return is_zip or beginning.startswith(MAGIC)


def _is_as_written(text: bytes) -> bool:
    told = text[: text.rfind(b"\n", 0, -1) + 1]
    return text == told + f"{_SUM.format(hashlib.sha256(told).hexdigest())}\n".encode()
