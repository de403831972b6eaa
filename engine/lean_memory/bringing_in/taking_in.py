"""From the texts that a reader gives to what a namespace holds, batch by batch, each text once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from lean_memory.bringing_in.texts import Passed, Tally, Text
from lean_memory.bringing_in.values import SAMPLES, Kind, Report, State
from lean_memory.domain import AddResult, EpisodeId, Instant, Source
from lean_memory.errors import LeanMemoryError
from lean_memory.extraction.secrets import redact
from lean_memory.keeping import Addition
from lean_memory.open_namespace import OpenNamespace
from lean_memory.store.episodes import known_episodes

BATCH = 64
"""Texts that become durable together: less than half a second's work."""
_BATCH_CHARACTERS = 100_000
_SHOWN = 200


@dataclass(slots=True, kw_only=True)
class Course:
    """How whoever asked for it wants to be told, and may stop it."""

    progress: Callable[[], None]
    cancelled: Callable[[], bool]


@dataclass(slots=True)
class Count:
    """What has come of the texts so far."""

    texts: int = 0
    known: int = 0
    added: int = 0
    facts: int = 0
    superseded: int = 0
    forgotten: int = 0
    redacted: set[str] = field(default_factory=set[str])
    since: Instant | None = None
    until: Instant | None = None
    samples: list[str] = field(default_factory=list[str])
    left: Tally = field(default_factory=Tally)
    is_stopped: bool = False

    def on(self, report: Report) -> Report:
        """The report with what was counted."""
        return replace(
            report,
            state=State.STOPPED if self.is_stopped else report.state,
            texts=self.texts,
            known=self.known,
            added=self.added,
            facts=self.facts,
            superseded=self.superseded,
            forgotten=self.forgotten,
            redacted=tuple(sorted(self.redacted)),
            since=self.since,
            until=self.until,
            left_out=self.left.told(),
            samples=tuple(self.samples),
        )

    def see(self, text: Text) -> None:
        """Count a text that was found."""
        self.texts += 1
        self.since = text.t_ref if self.since is None else min(self.since, text.t_ref)
        self.until = text.t_ref if self.until is None else max(self.until, text.t_ref)

    def learned(self, result: AddResult) -> None:
        """Count what became of a text: one that was here already became nothing."""
        self.forgotten += result.withheld
        if result.episode_id is None:
            self.known += not result.withheld
            return
        self.added += 1
        self.facts += len(result.fact_ids)
        self.superseded += len(result.superseded)
        self.redacted |= set(result.redacted)


@contextmanager
def told_with_error(so_far: Callable[[], Report]) -> Generator[None]:
    """Give the report of what stays along with an error that breaks it off; `came_before` reads it."""
    try:
        yield
    except LeanMemoryError as error:
        error.done = replace(so_far(), state=State.STOPPED)
        raise


def take_in(found: Iterable[Text | Passed], opened: OpenNamespace, kind: Kind, *, tz: str, course: Course, count: Count) -> None:
    """Remember the texts that are not here yet. What a batch says is durable before the next is begun."""
    for batch in _batches(found, count):
        if course.cancelled():
            count.is_stopped = True
            return
        for result in _learn(opened, batch, kind, tz):
            count.learned(result)
        course.progress()


def look_at(found: Iterable[Text | Passed], opened: OpenNamespace | None, kind: Kind, *, course: Course, count: Count) -> None:
    """Count what `take_in` would do, and write nothing."""
    seen: set[str] = set()
    for batch in _batches(found, count):
        if course.cancelled():
            count.is_stopped = True
            return
        by_uid = {text.uid(kind): text for text in batch}
        here = _here(opened, list(by_uid))
        new = {uid: text for uid, text in by_uid.items() if uid not in here and uid not in seen}
        seen.update(new)
        count.added += len(new)
        count.known += len(batch) - len(new)
        count.samples += [_shortened(text.text) for text in new.values()][: SAMPLES - len(count.samples)]
        course.progress()


def _here(opened: OpenNamespace | None, uids: list[EpisodeId]) -> frozenset[EpisodeId]:
    return frozenset[EpisodeId]() if opened is None else opened.store.look(lambda tx: known_episodes(tx.connection, uids))


def _learn(opened: OpenNamespace, batch: list[Text], kind: Kind, tz: str) -> list[AddResult]:
    additions = [
        Addition(text=text.text, t_ref=text.t_ref, tz=tz, source=Source.IMPORT, client=kind.value, uid=text.uid(kind)) for text in batch
    ]
    return opened.ingest.add(additions)


def _batches(found: Iterable[Text | Passed], count: Count) -> Iterator[list[Text]]:
    batch: list[Text] = []
    characters = 0
    broken: LeanMemoryError | None = None
    for one in _until_broken(found):
        match one:
            case Passed():
                count.left.note(one)
            case Text():
                count.see(one)
                batch.append(one)
                characters += len(one.text)
            case LeanMemoryError():
                broken = one
        if len(batch) >= BATCH or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
    if broken is not None:
        raise broken


def _until_broken(found: Iterable[Text | Passed]) -> Iterator[Text | Passed | LeanMemoryError]:
    """What is found and, where it breaks off, the error last: what came before is taken in first."""
    try:
        yield from found
    except LeanMemoryError as error:
        yield error


def _shortened(text: str) -> str:
    line = " ".join(redact(text).text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
