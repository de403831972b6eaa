"""What was forgotten stays unlearned: a salted digest of it, from which it cannot be read back."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import apsw

from lean_memory.domain import Instant, Polarity, name_key, value_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence and, where one is known, what it says: `value` of the `subject`, by the `predicate`."""

    sentence: str
    subject: str = ""
    predicate: str = ""
    value: str = ""
    polarity: Polarity = Polarity.POSITIVE


def has_tombstones(con: apsw.Connection) -> bool:
    """Whether anything was ever forgotten here."""
    return con.execute("SELECT 1 FROM tombstone LIMIT 1").fetchone() is not None


def is_tombstoned(con: apsw.Connection, claim: Claim) -> bool:
    """Whether the sentence, whatever its case, spacing and edge punctuation, was forgotten, or the fact in it, in whatever words."""
    return has_tombstones(con) and any(_is_known(con, message) for message in _messages(claim))


def bury_sentences(con: apsw.Connection, sentences: Iterable[str], moment: Instant) -> int:
    """Note sentences as forgotten; how many were not yet."""
    return _bury(con, {_sentence(s) for s in sentences if value_key(s)}, moment)


def bury_values(con: apsw.Connection, values: Iterable[tuple[str, str, str, Polarity]], moment: Instant) -> int:
    """Note (subject key, predicate, object key, polarity) as forgotten; how many were not yet."""
    return _bury(con, {_value(*value) for value in values}, moment)


def lift(con: apsw.Connection, claim: Claim) -> None:
    """The person says it after all: let the sentence, and the fact in it, be learned again."""
    for message in _messages(claim):
        con.execute("DELETE FROM tombstone WHERE digest = ?", (_digest(con, message),))


def _messages(claim: Claim) -> list[bytes]:
    messages = [_sentence(claim.sentence)]
    if claim.subject and claim.predicate and claim.value:
        messages.append(_value(name_key(claim.subject), claim.predicate, value_key(claim.value), claim.polarity))
    return messages


def _is_known(con: apsw.Connection, message: bytes) -> bool:
    return con.execute("SELECT 1 FROM tombstone WHERE digest = ?", (_digest(con, message),)).fetchone() is not None


def _bury(con: apsw.Connection, messages: set[bytes], moment: Instant) -> int:
    insert = "INSERT OR IGNORE INTO tombstone (digest, forgotten_at) VALUES (?, ?) RETURNING 1"
    return sum(len(con.execute(insert, (_digest(con, message), moment)).fetchall()) for message in messages)


def _sentence(sentence: str) -> bytes:
    return b"sentence\0" + value_key(sentence).encode("utf-8", "surrogatepass")


def _value(subject_key: str, predicate: str, object_key: str, polarity: Polarity) -> bytes:
    return b"value\0" + "\0".join((subject_key, predicate, object_key, polarity.value)).encode("utf-8", "surrogatepass")


def _digest(con: apsw.Connection, message: bytes) -> bytes:
    salt = cast("bytes", con.execute("SELECT value FROM setting WHERE key = 'salt'").get)
    return hmac.new(salt, message, hashlib.sha256).digest()
