"""A namespace as a bundle, or as a text for people, read from one snapshot."""

from __future__ import annotations

import datetime as dt
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from lean_memory.bundles.bundle_file import Manifest, errors_in_words, write_bundle
from lean_memory.bundles.replacing import summed
from lean_memory.domain import Episode, Fact, Instant, Modality
from lean_memory.store.bundle_rows import every_episode, every_fact, records, schema_of
from lean_memory.store.namespace_store import ReadTransaction

_PLAIN = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>#|"})


def write_namespace(tx: ReadTransaction, path: Path, *, at: Instant, passphrase: str | None) -> Manifest:
    """Write everything that a namespace holds as a bundle."""
    # Here, as the store takes what the system says inside a reading for the file that is read.
    with errors_in_words(path):
        return write_bundle(
            path, records(tx.connection), namespace=tx.namespace, schema_version=schema_of(tx.connection), at=at, passphrase=passphrase
        )


def write_markdown(tx: ReadTransaction, path: Path) -> int:
    """Write what is known and what was said as Markdown, private to its owner; gives how many facts it tells."""
    facts = every_fact(tx.connection, tx.namespace)
    with errors_in_words(path):
        _write(path, _lines(tx.namespace, facts, every_episode(tx.connection)))
    return len(facts)


def _write(path: Path, lines: Iterable[str]) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8", newline="\n") as file:
            file.writelines(summed(f"{line}\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink()


def _lines(namespace: str, facts: Sequence[Fact], episodes: Sequence[Episode]) -> Iterator[str]:
    yield f"# What {_escaped(namespace)} remembers"
    for subject, about in groupby(
        sorted(facts, key=lambda fact: (fact.subject.casefold(), not fact.is_latest, fact.valid_at)), key=_subject
    ):
        yield from ("", f"## {_escaped(subject)}", "")
        for fact in about:
            yield f"- {_escaped(fact.fact_text)} ({_held(fact)})"
    yield from ("", "## What was said", "")
    for episode in sorted(episodes, key=lambda each: (each.t_ref, each.recorded_at)):
        by = episode.source if episode.client is None else f"{episode.source}, {episode.client}"
        yield f"- {_date(episode.t_ref)}, {_escaped(by)}: {_escaped(' '.join(episode.text.split()))}"


def _subject(fact: Fact) -> str:
    return fact.subject


def _held(fact: Fact) -> str:
    """From when until when it holds, and what else a reader must know of it."""
    ends = "" if fact.valid_to is None else f" until {_date(fact.valid_to)}"
    told = [f"since {_date(fact.valid_at)}" if not ends else f"from {_date(fact.valid_at)}{ends}"]
    if not fact.is_latest:
        told.append(f"no longer current: {fact.end_reason}" if fact.end_reason else "no longer current")
    if fact.modality is not Modality.ASSERTED:
        told.append(fact.modality)
    return ", ".join(told)


def _date(moment: Instant) -> str:
    return (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=moment)).strftime("%Y-%m-%d")


def _escaped(text: str) -> str:
    return text.translate(_PLAIN)
