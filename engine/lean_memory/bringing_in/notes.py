"""Notes in Markdown or plain text, and those of basic-memory.

A basic-memory note begins with YAML between `---` (`title`, `permalink`, `created`, `modified`, …); `- [category] text #tag (context)` is an
observation, `- relation [[Other note]] (context)` a relation, and everything else is prose.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import cast

import yaml

from lean_memory.bringing_in.sources import Entry, Source
from lean_memory.bringing_in.texts import LONGEST, Found, Passed, Reading, Text, clean, fields_of, moment_of
from lean_memory.domain import Instant

TEXTUAL = frozenset({".md", ".markdown", ".txt", ".text"})
UNDATED = "Notes that name no date count as said when their file was last changed."

_LARGEST = 5_000_000
_PIECE = 2_000
_MOST_FRONT = 16_384

_NO_TEXT = "A file is no text in UTF-8."
_LARGE = f"A file is larger than {_LARGEST // 1_000_000} MB, which no note is."
_EMPTY = "A note is empty."
_CODE = "Blocks of code are not brought in."
_LONG = f"A paragraph is longer than {LONGEST:,} characters, as pasted documents and pictures are."
_OTHER = "A file is neither Markdown nor plain text."

_FRONT = re.compile(r"\A---[ \t]*\n(?P<yaml>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_OBSERVATION = re.compile(r"\s*[-*+] \[(?P<category>[^\]\[()\n]{2,60})\]\s+(?P<text>\S.*)")
_RELATION = re.compile(r"\s*[-*+] (?P<how>[^\[\]\n]{0,100}?)\s*\[\[(?P<to>[^\]\n]+)\]\](?P<rest>.*)")
_TASK = frozenset({"x", "X", " ", "-"})
_TAG = re.compile(r"(?<!\S)#[\w/-]+")
_CONTEXT = re.compile(r"\((?P<context>[^()\n]*)\)$")
# Bounded, so that a text of nothing but marks is read in no time.
_LINK = re.compile(
    r"!?\[(?P<shown>[^\[\]\n]{0,300})\]\([^()\n]{0,2000}\)|\[\[(?P<to>[^\[\]|\n]{1,300})(?:\|(?P<alias>[^\[\]\n]{1,300}))?\]\]"
)
_MARKS = re.compile(r"(?<!\w)(?P<mark>\*\*|__|\*|_|`|~~)(?P<text>\S(?:.{0,300}?\S)?)(?P=mark)(?!\w)")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX-]\]\s+)?", re.MULTILINE)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+")
_QUOTED = re.compile(r"^\s{0,3}>\s?", re.MULTILINE)
_FENCE = re.compile(r"^\s{0,3}(?P<fence>```+|~~~+)")
_DAY = re.compile(r"(?<!\d)(?P<day>\d{4}-\d{2}-\d{2})(?!\d)")
_DATES = ("modified", "updated_at", "updated", "date", "created_at", "created")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    title: str
    body: str
    t_ref: Instant
    key: str
    """What its texts have in their keys: the day, where the note names one, as the same may be said on several days."""


def read_basic_memory(source: Source, entries: tuple[Entry, ...], zone: str) -> Reading:
    """Observations, relations and prose of each note, in the order in which they stand."""
    yield from _read(source, entries, zone, knows_marks=True)


def read_plain(source: Source, entries: tuple[Entry, ...], zone: str) -> Reading:
    """The paragraphs of each note."""
    yield from _read(source, entries, zone, knows_marks=False)


def is_basic_memory(entry: Entry) -> bool:
    """Whether a file is a note of basic-memory, by what its beginning tells."""
    text = entry.beginning().decode("utf-8-sig", "replace").replace("\r\n", "\n")
    front, body = _parted(text)
    if "permalink" in front:
        return True
    found = [m for line in body.splitlines() if (m := _OBSERVATION.match(line)) and m["category"] not in _TASK]
    return bool(front) and bool(found)


def _read(source: Source, entries: tuple[Entry, ...], zone: str, *, knows_marks: bool) -> Reading:
    for entry in entries:
        if entry.suffix not in TEXTUAL and len(entries) > 1:
            yield Passed(reason=_OTHER, place=entry.name)
            continue
        found = _note(source, entry, zone)
        if isinstance(found, Passed):
            yield found
            continue
        yield from _of_note(found, entry, knows_marks=knows_marks)


def _note(source: Source, entry: Entry, zone: str) -> _Note | Passed:
    if entry.size > _LARGEST:
        return Passed(reason=_LARGE, place=entry.name)
    with source.opened(entry) as file:
        data = file.read(_LARGEST)
    try:
        text = data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError:
        return Passed(reason=_NO_TEXT, place=entry.name)
    front, body = _parted(clean(text))
    if not body.strip():
        return Passed(reason=_EMPTY, place=entry.name)
    named = next((at for name in _DATES if (at := moment_of(front.get(name), zone))), None) or _day_in(entry.name, zone)
    title = front.get("title")
    return _Note(
        title=title if isinstance(title, str) and title.strip() else PurePosixPath(entry.base).stem,
        body=body,
        t_ref=named or entry.modified,
        key="" if named is None else str(dt.datetime.fromtimestamp(named / 1000, dt.UTC).date()),
    )


class _Front(yaml.SafeLoader):
    """The safe reader without merging: a few lines that merge each other ten times over would fill the memory."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Leave the mapping as it is written; one that merges is then one that cannot be read."""


def _parted(text: str) -> tuple[Mapping[str, object], str]:
    """What the front of a note says, and its body. A front that is no YAML says nothing."""
    found = _FRONT.match(text)
    if found is None or len(found["yaml"]) > _MOST_FRONT:
        return {}, text
    try:
        front = cast("object", yaml.load(found["yaml"], Loader=_Front))
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
        # The reader of YAML lets such errors of its own through where a value is not of the type that is written before it.
        return {}, text[found.end() :]
    return fields_of(front), text[found.end() :]


def _day_in(name: str, zone: str) -> Instant | None:
    found = _DAY.search(PurePosixPath(name).name)
    return None if found is None else moment_of(found["day"], zone)


def _of_note(note: _Note, entry: Entry, *, knows_marks: bool) -> Iterator[Found]:
    for piece in _pieces(note.body):
        if piece is None:
            yield Passed(reason=_CODE, place=entry.name)
            continue
        left: list[str] = []
        for line in piece.splitlines():
            marked = _marked(note, line) if knows_marks else None
            if marked is None:
                left.append(line)
            elif marked:
                yield _told(marked, note, entry, (note.key, note.title, marked))
        text = _plain("\n".join(left))
        if text:
            yield _told(text, note, entry, (note.key, text))


def _told(text: str, note: _Note, entry: Entry, key: tuple[str, ...]) -> Found:
    return Passed(reason=_LONG, place=entry.name) if len(text) > LONGEST else Text(text=text, t_ref=note.t_ref, key=key)


def _pieces(body: str) -> Iterator[str | None]:
    """The paragraphs, none much longer than a page; headings belong to what follows them. `None` stands for a block of code."""
    fence: str | None = None
    piece: list[str] = []
    for line in [*body.splitlines(), ""]:
        mark = _FENCE.match(line)
        if fence is not None:
            fence = None if mark and mark["fence"].startswith(fence) else fence
            continue
        is_end = not line.strip() or mark is not None or _HEADING.match(line) is not None or sum(map(len, piece)) > _PIECE
        if is_end and piece:
            yield "\n".join(piece)
            piece = []
        if mark is not None:
            fence = mark["fence"][:3]
            yield None
        elif line.strip() and not _HEADING.match(line):
            piece.append(line)


def _marked(note: _Note, line: str) -> str | None:
    """The sentence that an observation or a relation stands for; `None` for any other line."""
    seen = _OBSERVATION.match(line)
    if seen is not None and seen["category"] not in _TASK:
        text = _TAG.sub("", seen["text"]).strip()
        context = _CONTEXT.search(text)
        text = _plain(text if context is None else f"{text[: context.start()].rstrip().rstrip(' .')} ({context['context'].strip()})")
        return text if not text or text[-1] in ".!?…。！？" else f"{text}."
    tie = _RELATION.match(line)
    if tie is None or _LINK.search(tie["rest"]):
        return None
    how = " ".join(tie["how"].replace("_", " ").split()) or "is related to"
    return f"{note.title} {how} {tie['to'].split('|')[0].strip()}."


def _plain(text: str) -> str:
    """The words of Markdown without its marks."""
    text = _QUOTED.sub("", text)
    text = _LINK.sub(lambda m: m["shown"] or m["alias"] or m["to"] or "", text)
    text = _BULLET.sub("", text)
    text = _MARKS.sub(lambda m: m["text"], text)
    return text.strip()
