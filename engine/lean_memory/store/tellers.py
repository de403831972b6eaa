"""Who has told a namespace something, and how much."""

from __future__ import annotations

from typing import cast

import apsw

from lean_memory.custody import Teller
from lean_memory.domain import Instant, Source


def tellers(con: apsw.Connection) -> list[Teller]:
    """The clients that passed texts on, whoever told the most first; what maintenance wrote is nobody's."""
    rows = con.execute(
        "SELECT client, count(*), min(t_ref), max(t_ref) FROM episode WHERE source <> ? GROUP BY client ORDER BY 2 DESC, client",
        (Source.MAINTENANCE.value,),
    ).fetchall()
    return [
        Teller(client=client, texts=texts, since=Instant(since), until=Instant(until))
        for client, texts, since, until in cast("list[tuple[str | None, int, int, int]]", rows)
    ]
