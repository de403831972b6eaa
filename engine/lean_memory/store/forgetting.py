"""Finding what is to be forgotten while others may write, and erasing it in a short transaction if nothing was written since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import apsw

from lean_memory.domain import EpisodeId, FactId
from lean_memory.store import tombstones
from lean_memory.store.forget import Erased, Eraser
from lean_memory.store.forget_scope import Reach, Scope, find_scope
from lean_memory.store.writing import WriteTransaction

_State = tuple[bytes, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is to be erased as the file stood in one state."""

    state: _State
    scope: Scope
    call: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the person wants forgotten: exactly one of four; and the name of the call that asks for it, if it has one."""

    fact_id: FactId | str | None = None
    episode_id: EpisodeId | str | None = None
    entity: str | None = None
    reach: Reach | None = None
    call: str | None = None

    def find(self, con: apsw.Connection) -> Seen:
        """How far it reaches. Raises `NotFoundError` if there is no such thing."""
        return Seen(state=_state(con), scope=self.scope(con), call=self.call)

    def scope(self, con: apsw.Connection) -> Scope:
        """The same alone. Raises as `find` does."""
        return find_scope(con, fact_id=self.fact_id, episode_id=self.episode_id, entity=self.entity, reach=self.reach)


def erase_as_seen(tx: WriteTransaction, seen: Seen) -> Erased | None:
    """Erase what was seen before the transaction began; nothing if anything was written since."""
    return erase(tx, seen) if _state(tx.connection) == seen.state else None


def erase(tx: WriteTransaction, seen: Seen) -> Erased:
    """Erase what was seen in this transaction."""
    erased = Eraser(con=tx.connection, scope=seen.scope, now=tx.recorded_at).run()
    if seen.call is not None:
        tombstones.bury_call(tx.connection, seen.call, tx.recorded_at)
    return erased


def _state(con: apsw.Connection) -> _State:
    """Another after every write transaction, and another in every file."""
    query = "SELECT (SELECT value FROM setting WHERE key = 'salt'), (SELECT value FROM setting WHERE key = 'next_moment')"
    return cast("_State", con.execute(query).fetchone())
