"""What was forgotten stays unlearned: a salted digest of it, from which it cannot be read back.

A sentence is known again by its words (`wording.py`), also inside a longer text. So that not every stretch of a text has to be tried,
each digest has a clue beside it: how many words it stands for, and 16 bits of a digest of the first two, which fit many others too.
Clues are kept in the same table, as numbers.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import apsw

from lean_memory.domain import Instant, Polarity, Span, name_key, value_key
from lean_memory.store.wording import Words, is_said, words_of

_CLUE_BITS = 16
_OPENING = 2
_INSERT = "INSERT OR IGNORE INTO tombstone (digest, forgotten_at) VALUES (?, ?)"


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


def forgotten_stretches(con: apsw.Connection, text: str, words: Words) -> list[Span]:
    """The stretches of a text, given with its words, that say a forgotten sentence, in order."""
    return [words.span(first, count) for first, count in _said(con, text, words)]


def is_tombstoned(con: apsw.Connection, claim: Claim) -> bool:
    """Whether the sentence says one that was forgotten, whatever its case, spacing and punctuation, or a forgotten fact, in any words."""
    if not has_tombstones(con):
        return False
    value = _value_of(claim)
    known = value is not None and _is_known(con, _digest(_salt(con), value))
    return known or bool(forgotten_stretches(con, claim.sentence, words_of(claim.sentence)))


def bury_sentences(con: apsw.Connection, sentences: Iterable[str], moment: Instant) -> int:
    """Note sentences as forgotten; how many were not yet."""
    salt = _salt(con)
    phrases = {keys for sentence in sentences if (keys := words_of(sentence).keys)}
    con.executemany(_INSERT, [(_clue(salt, keys), moment) for keys in phrases])
    return _bury(con, {_digest(salt, _sentence(keys)) for keys in phrases}, moment)


def bury_values(con: apsw.Connection, values: Iterable[tuple[str, str, str, Polarity]], moment: Instant) -> int:
    """Note (subject key, predicate, object key, polarity) as forgotten; how many were not yet."""
    salt = _salt(con)
    return _bury(con, {_digest(salt, _value(*value)) for value in values}, moment)


def is_buried(con: apsw.Connection, value: tuple[str, str, str, Polarity]) -> bool:
    """Whether (subject key, predicate, object key, polarity) was forgotten."""
    return _is_known(con, _digest(_salt(con), _value(*value)))


def bury_cuts(con: apsw.Connection, cuts: Iterable[tuple[str, str]], moment: Instant) -> None:
    """Note which stretches were cut out of which episodes, by (id, stretch), so that they are known in an older copy of the file.

    Unlike a forgotten sentence, the same words said again are no concern of theirs.
    """
    salt = _salt(con)
    phrases = {(uid, keys) for uid, text in cuts if (keys := words_of(text).keys)}
    con.executemany(_INSERT, [(_clue(salt, keys), moment) for _, keys in phrases])
    con.executemany(_INSERT, [(_digest(salt, _of_episode(uid, keys)), moment) for uid, keys in phrases])


def bury_episodes(con: apsw.Connection, uids: Iterable[str], moment: Instant) -> None:
    """Note episodes as erased whole, for the same reason."""
    salt = _salt(con)
    con.executemany(_INSERT, [(_digest(salt, _of_episode(uid, ())), moment) for uid in uids])


def is_erased(con: apsw.Connection, uid: str) -> bool:
    """Whether an episode was erased whole."""
    return _is_known(con, _digest(_salt(con), _of_episode(uid, ())))


def cut_stretches(con: apsw.Connection, uid: str, words: Words) -> list[Span]:
    """The stretches of an episode, given with its words, that were cut out of it since, in order."""
    found = _found(con, words, lambda phrase: _of_episode(uid, phrase))
    return [words.span(first, count) for first, count in found]


def bury_call(con: apsw.Connection, call: str, moment: Instant) -> None:
    """Note that a call erased what it asked for, so that it is known when it is made again."""
    con.execute(_INSERT, (_digest(_salt(con), _of_call(call)), moment))


def has_erased(con: apsw.Connection, call: str) -> bool:
    """Whether a call of this name has erased what it asked for."""
    return _is_known(con, _digest(_salt(con), _of_call(call)))


def lift(con: apsw.Connection, claim: Claim) -> None:
    """The person says it after all: let every forgotten sentence that is said here, and the fact, be learned again."""
    salt, words = _salt(con), words_of(claim.sentence)
    said = [_sentence(words.keys[first : first + count]) for first, count in _said(con, claim.sentence, words)]
    value = _value_of(claim)
    messages = said if value is None else [*said, value]
    con.executemany("DELETE FROM tombstone WHERE digest = ?", [(_digest(salt, message),) for message in messages])


def _said(con: apsw.Connection, text: str, words: Words) -> Iterator[tuple[int, int]]:
    """Where forgotten sentences are said: the number of the first word, and how many words."""
    for first, count in _found(con, words, _sentence):
        if is_said(text, words, first, count):
            yield first, count


def _found(con: apsw.Connection, words: Words, message: Callable[[Sequence[str]], bytes]) -> Iterator[tuple[int, int]]:
    """Where phrases stand whose message is noted."""
    salt, lengths = _salt(con), _lengths(con)
    openings: dict[tuple[str, ...], int] = {}
    for first in range(len(words.keys) if lengths else 0):
        for size in range(1, _OPENING + 1):
            opening = words.keys[first : first + size]
            if opening not in openings:
                openings[opening] = _opening(salt, opening)
            for count in lengths.get((size, openings[opening]), ()):
                phrase = words.keys[first : first + count]
                if len(phrase) == count and _is_known(con, _digest(salt, message(phrase))):
                    yield first, count


def _lengths(con: apsw.Connection) -> dict[tuple[int, int], list[int]]:
    """How long the forgotten sentences are, by the number of words in the opening and its clue."""
    # Numbers sort before blobs, so that the clues are read without the digests.
    clues = cast("list[tuple[int]]", con.execute("SELECT digest FROM tombstone WHERE digest < x''").fetchall())
    found: dict[tuple[int, int], list[int]] = {}
    for (clue,) in clues:
        count, opening = clue >> _CLUE_BITS, clue & ((1 << _CLUE_BITS) - 1)
        found.setdefault((min(count, _OPENING), opening), []).append(count)
    return found


def _is_known(con: apsw.Connection, digest: bytes) -> bool:
    return con.execute("SELECT 1 FROM tombstone WHERE digest = ?", (digest,)).fetchone() is not None


def _bury(con: apsw.Connection, digests: Iterable[bytes], moment: Instant) -> int:
    return sum(len(con.execute(f"{_INSERT} RETURNING 1", (digest, moment)).fetchall()) for digest in digests)


def _clue(salt: bytes, keys: Sequence[str]) -> int:
    return len(keys) << _CLUE_BITS | _opening(salt, keys[:_OPENING])


def _opening(salt: bytes, keys: Sequence[str]) -> int:
    return int.from_bytes(_digest(salt, b"opening\0" + _joined(keys))[: _CLUE_BITS // 8], "big")


def _sentence(keys: Sequence[str]) -> bytes:
    return b"sentence\0" + _joined(keys)


def _of_episode(uid: str, keys: Sequence[str]) -> bytes:
    return b"episode\0" + uid.encode() + b"\0" + _joined(keys)


def _of_call(call: str) -> bytes:
    return b"call\0" + call.encode("utf-8", "surrogatepass")


def _joined(keys: Sequence[str]) -> bytes:
    return " ".join(keys).encode("utf-8", "surrogatepass")


def _value_of(claim: Claim) -> bytes | None:
    if not (claim.subject and claim.predicate and claim.value):
        return None
    return _value(name_key(claim.subject), claim.predicate, value_key(claim.value), claim.polarity)


def _value(subject_key: str, predicate: str, object_key: str, polarity: Polarity) -> bytes:
    return b"value\0" + "\0".join((subject_key, predicate, object_key, polarity.value)).encode("utf-8", "surrogatepass")


def _salt(con: apsw.Connection) -> bytes:
    return cast("bytes", con.execute("SELECT value FROM setting WHERE key = 'salt'").get)


def _digest(salt: bytes, message: bytes) -> bytes:
    return hmac.digest(salt, message, "sha256")
