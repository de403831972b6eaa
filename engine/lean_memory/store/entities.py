"""Entities: one row for each name and type, made when first named."""

from __future__ import annotations

from typing import cast

import apsw

from lean_memory.domain import name_key


def entity_row(con: apsw.Connection, name: str, type_: str) -> int:
    """The row of the entity called `name`, made if there is none; one of another type under the same name is the same entity."""
    key = name_key(name)
    found = cast("tuple[int] | None", con.execute("SELECT id FROM entity WHERE name_key = ? ORDER BY id LIMIT 1", (key,)).fetchone())
    if found is not None:
        return found[0]
    con.execute("INSERT INTO entity (name, name_key, type) VALUES (?, ?, ?)", (" ".join(name.split()), key, type_))
    return con.last_insert_rowid()


def entity_names(con: apsw.Connection, limit: int) -> list[str]:
    """The names of the entities that were named last for the first time, newest first."""
    rows = con.execute("SELECT name FROM entity ORDER BY id DESC LIMIT ?", (limit,))
    return [row[0] for row in cast("list[tuple[str]]", rows.fetchall())]


def same_entities(con: apsw.Connection, key: str) -> list[int]:
    """The rows of every entity that `key` names, together with those that a person has declared to be the same."""
    rows = con.execute(
        """
        WITH named AS (SELECT id FROM entity WHERE name_key = ?),
             heads AS (SELECT coalesce(a.entity_id, n.id) AS id FROM named n LEFT JOIN entity_alias a ON a.alias_id = n.id)
        SELECT id FROM heads UNION SELECT id FROM named UNION SELECT alias_id FROM entity_alias WHERE entity_id IN (SELECT id FROM heads)
        """,
        (key,),
    )
    return [row[0] for row in cast("list[tuple[int]]", rows.fetchall())]


def read_as(con: apsw.Connection, alias: str, name: str) -> list[tuple[int, int | None, int]]:
    """Read an entity's name as another one's, and with it all names that were read as its; gives each entity's row with whom it was read
    as before, if anybody, and now.
    """
    head, other = _head(con, name), _head(con, alias)
    if head is None or other is None or head == other:
        return []
    followers = con.execute("SELECT alias_id FROM entity_alias WHERE entity_id = ? ORDER BY alias_id", (other,)).fetchall()
    changes = [(row, other, head) for (row,) in cast("list[tuple[int]]", followers)]
    con.execute("UPDATE entity_alias SET entity_id = ? WHERE entity_id = ?", (head, other))
    con.execute("INSERT INTO entity_alias (alias_id, entity_id) VALUES (?, ?)", (other, head))
    return [(other, None, head), *changes]


def read_apart(con: apsw.Connection, alias: int, head: int, before: int | None) -> bool:
    """Undo one change of `read_as`; gives whether it still stood so."""
    if con.execute("SELECT entity_id FROM entity_alias WHERE alias_id = ?", (alias,)).get != head:
        return False
    if before is None:
        con.execute("DELETE FROM entity_alias WHERE alias_id = ?", (alias,))
    else:
        con.execute("UPDATE entity_alias SET entity_id = ? WHERE alias_id = ?", (before, alias))
    return True


def _head(con: apsw.Connection, name: str) -> int | None:
    found = con.execute(
        "SELECT coalesce(a.entity_id, e.id) FROM entity e LEFT JOIN entity_alias a ON a.alias_id = e.id WHERE e.name_key = ? ORDER BY e.id LIMIT 1",
        (name_key(name),),
    )
    return cast("int | None", found.get)
