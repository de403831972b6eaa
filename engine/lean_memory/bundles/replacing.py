"""What an export may take the place of: an earlier export, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from lean_memory.bundles.bundle_file import FIRST_ENTRY, errors_in_words
from lean_memory.bundles.sealing import MAGIC
from lean_memory.errors import InvalidInputError

_ZIP = b"PK\x03\x04"
_ENTRY_NAME = 30
"""Where the first entry's name begins in a zip."""
_HEADING = re.compile(rb"# What .* remembers\n")
_BEGINNING = 4096


def refuse_to_replace(path: Path) -> None:
    """Raises `InvalidInputError` where `path` is a file that holds something and is no export of ours."""
    with errors_in_words(path):
        if not path.is_file():
            return
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
    if beginning and not _is_export(beginning):
        raise InvalidInputError(
            f"{path} is there already and is no export of Lean Memory, so it is left as it is; nothing was written. "
            "Give another name, or delete that file first."
        )


def _is_export(beginning: bytes) -> bool:
    is_zip = beginning.startswith(_ZIP) and beginning.startswith(FIRST_ENTRY.encode(), _ENTRY_NAME)
    return is_zip or beginning.startswith(MAGIC) or _HEADING.match(beginning) is not None
