"""The dates as the data files write them, read as UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from lean_memory.domain import Instant


def instant(moment: datetime) -> Instant:
    """Epoch milliseconds; a moment without a zone is read as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return Instant(round(aware.timestamp() * 1000))


def read_iso(text: str) -> Instant:
    """`2023-05-20T01:30:00`, `1986-01-01` or `1986-01`."""
    return instant(datetime.fromisoformat(text if len(text) > 7 else f"{text}-01"))


def read_locomo(text: str) -> Instant:
    """`1:56 pm on 8 May, 2023`."""
    return instant(datetime.strptime(text, "%I:%M %p on %d %B, %Y"))


def read_longmemeval(text: str) -> Instant:
    """`2022/03/02 (Wed) 04:59`."""
    return instant(datetime.strptime(re.sub(r" \(\w+\)", "", text), "%Y/%m/%d %H:%M"))
