"""What goes wrong on purpose: a sentence for the person, and the promise that everything is as it was."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path

LOG = "lean-memory-setup.log"


class SetupError(Exception):
    """The installation was not changed, or is again as it was; the message says why and what to do."""


def tell(sentence: str, *, platform: str = sys.platform) -> None:
    """Say why it failed. On Windows in a file as well, as a silent setup shows nobody what we say; the folder for temporary files is a person's own there."""
    print(sentence, file=sys.stderr)
    if platform == "win32":
        with contextlib.suppress(OSError):
            Path(tempfile.gettempdir(), LOG).write_text(f"{sentence}\n", encoding="utf-8")
