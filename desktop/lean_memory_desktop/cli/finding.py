"""What `lean-memory doctor` finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at: whether it is as it should be, and if not, what to do."""

    subject: str
    sound: bool
    sentence: str
    remedy: str = ""
