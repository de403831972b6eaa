"""Secrets that people tell: "my password is …", "API key for billing: …", in the languages of `secrets.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache, partial
from typing import cast

from lean_memory.extraction.secret_values import LONGEST_JUDGED, Find, is_placeholder, lexicon, looks_made_up, looks_random

_REACH = 120
"""How far behind its name a secret is looked for."""
_SENTENCE_END = re.compile(r"[.!?。！？;；\n](?=\s|$)|[\n。！？；]")
_SIGNS = r"[:=：＝→]|->|=>|:=|[—–](?=\s)|-(?=\s)"
_OPENING = re.compile(r"[ \t]{0,8}[*_]{0,3}[ \t]{0,3}(?P<quote>[\"'“”‘«„『「`])?[(\[]?")
_CLOSING = {"“": "”", "”": "”", "‘": "’", "«": "»", "„": "“”", "『": "』", "「": "」"}
_RUN = re.compile(rf"[^\s\0]{{1,{LONGEST_JUDGED + 1}}}")
_ASCII_RUN = re.compile(rf"[!-~]{{1,{LONGEST_JUDGED + 1}}}")
_ASSIGNED_RUN = re.compile(rf"[^\s\0;&,\"'`)}}\]|]{{1,{LONGEST_JUDGED + 1}}}")
_UNBROKEN = re.compile(r"[^\s\0]+")
_TAIL = ".,;:!?)]}>\"'`*”’»」』。、，！？；：…"
_ADDRESS = re.compile(r"\w+://|[\w.+-]+@[\w-]+\.\w|\w[\w-]*(?:\.[\w-]+)*\.[a-z]{2,6}(?:/|$)")
_TOKEN_RUN = re.compile(rf"[A-Za-z0-9_+/=.~-]{{8,{LONGEST_JUDGED + 1}}}")
_DIRECT = re.compile(r"[\w-]{0,30}[\"'`*]{0,3}[ \t]{0,8}(?:[:=：＝]|:=|=>|->|is|ist|es|est|é|это|是|は)[ \t]{0,8}[\"'`*“]{0,3}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LONGEST_QUOTED = 120
_MORE = re.compile(r"[\"'”*`]{0,2}[ \t]{0,3}(?:,|and|or|und|oder|y|et|e|и|和)[ \t]{1,3}")


class _Role(Enum):
    """Of what sort a name is; where two end at one place, the first is tried first."""

    PHRASE = auto()
    PASSWORD = auto()
    STRICT_PASSWORD = auto()
    TOKEN = auto()
    BARE_TOKEN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Language:
    """How a password is told in one language."""

    words: tuple[str, ...]
    strict: tuple[str, ...]
    spaced: bool
    opens: frozenset[str]
    links: re.Pattern[str]
    moves: re.Pattern[str] | None
    verbs: re.Pattern[str] | None
    describes: frozenset[str]
    counts: tuple[str, ...]
    endings: re.Pattern[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Name:
    """What a secret is called."""

    word: str
    role: _Role
    language: _Language | None = None
    compound: bool = False
    """It may be the end of a longer word."""
    spaced: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """What stands where a secret is told."""

    start: int
    text: str
    quoted: bool = False
    assigned: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def labelled(text: str, lowered: str) -> Iterator[Find]:
    """Passwords, phrases and tokens that stand behind what they are called. `lowered` is the text in small letters, at the same offsets."""
    reached = 0
    for end, _, number in sorted(_places(lowered)):
        if end <= reached:
            continue
        for find in _told_by(_names()[number], text, lowered, end):
            reached = max(reached, find.end)
            yield find


def _places(lowered: str) -> Iterator[tuple[int, int, int]]:
    """Where names end: the end, the rank of the name's role, its number."""
    for number, name in enumerate(_names()):
        at = lowered.find(name.word)
        while at != -1:
            end = at + len(name.word)
            before, after = lowered[at - 1 : at], lowered[end : end + 1]
            if not name.spaced or ((name.compound or not before.isalnum()) and not after.isalpha()):
                yield end, name.role.value, number
            at = lowered.find(name.word, end)


def _told_by(name: _Name, text: str, lowered: str, end: int) -> Iterator[Find]:
    start = end - len(name.word)
    match name.role:
        case _Role.PHRASE:
            yield from _phrase(text, end)
        case _Role.TOKEN | _Role.BARE_TOKEN:
            yield from _token(text, lowered, start, end, bare=name.role is _Role.BARE_TOKEN)
        case _Role.PASSWORD | _Role.STRICT_PASSWORD:
            if name.language is not None:
                yield from _password(text, lowered, end, name.language, strict=name.role is _Role.STRICT_PASSWORD)


def _password(text: str, lowered: str, end: int, language: _Language, *, strict: bool) -> Iterator[Find]:
    window = _window(lowered, end)
    told = _told(text, lowered, window, language, strict=strict)
    if told is None:
        return
    yield Find(start=told.start, end=_whole(text, told), kind="password")
    more = _MORE.match(lowered, told.end)
    if more is not None:
        other = _value(text, more.end(), spaced=language.spaced, assigned=False)
        if _is_novel(other, shortest=4):
            yield Find(start=other.start, end=_whole(text, other), kind="password")
    elif language.spaced:
        changed = _changed(text, lowered, told.end, language)
        if changed is not None:
            yield Find(start=changed.start, end=_whole(text, changed), kind="password")


def _changed(text: str, lowered: str, start: int, language: _Language, *, gaps: bool = False) -> _Value | None:
    """What a password was changed to: "set to X", where the sentence has a verb of changing; `gaps`: behind its name."""
    _, stop = _window(lowered, start)
    if language.moves is None or language.verbs is None or not language.verbs.search(lowered, max(0, start - _REACH), stop + 40):
        return None
    for link in language.moves.finditer(lowered, start, stop):
        value = _value(text, link.end(), spaced=True, assigned=False)
        if (not gaps or _opens(lowered[start : link.start()], language)) and _is_novel(value, shortest=4):
            return value
    return None


def _told(text: str, lowered: str, window: tuple[int, int], language: _Language, *, strict: bool) -> _Value | None:
    """The value behind the first link that has one; else what it was changed to; else what stands right behind the name."""
    end, stop = window
    for link in language.links.finditer(lowered, end, stop):
        if _opens(lowered[end : link.start()], language):
            value = _value(text, link.end(), spaced=language.spaced, assigned=link[0].strip() == "=")
            if _is_password(value, lowered, language, strict=strict):
                return value
    changed = _changed(text, lowered, end, language, gaps=True)
    if changed is not None:
        return changed
    beside = _value(text, end, spaced=language.spaced, assigned=False)
    near = beside.start - end <= 4 and beside.start > end
    return beside if near and _is_novel(beside, shortest=6) else None


def _window(lowered: str, end: int) -> tuple[int, int]:
    """From behind a name to the end of its sentence, or as far as a secret is looked for."""
    stop = min(len(lowered), end + _REACH)
    cut = _SENTENCE_END.search(lowered, end, stop)
    return end, cut.start() if cut else stop


def _opens(gap: str, language: _Language) -> bool:
    """Whether what stands between a name and a link goes on about it: "password for the server is", not "password manager is"."""
    words = gap.strip(" \t\"'`*”»),")
    if not words:
        return True
    if not language.spaced:
        return len(words) <= 12 and not words.isascii()
    return words[0] == "(" or words.split(None, 1)[0] in language.opens or words.startswith(("d'", "d’"))


def _value(text: str, at: int, *, spaced: bool, assigned: bool) -> _Value:
    opening = _OPENING.match(text, at)
    start = opening.end() if opening else at
    quote = opening["quote"] if opening else None
    if quote:
        closing = _CLOSING.get(quote, quote)
        stop = next((i for i in range(start, min(len(text), start + _LONGEST_QUOTED)) if text[i] in closing), None)
        if stop is not None and "\n" not in text[start:stop] and "\0" not in text[start:stop]:
            return _Value(start=start, text=text[start:stop], quoted=True, assigned=assigned)
    run = (_ASSIGNED_RUN if assigned else _RUN if spaced else _ASCII_RUN).match(text, start)
    value = run[0].rstrip(_TAIL) if run else ""
    # A sign at the very end may belong to it: "kaffee22!" is told with its mark.
    if run and value and looks_made_up(value) and run[0][len(value) : len(value) + 1] in {"!", "?"}:
        value = run[0][: len(value) + 1]
    return _Value(start=start, text=value, assigned=assigned)


def _whole(text: str, value: _Value) -> int:
    """The end of a value; of one that was too long to judge, the end of the unbroken run that it begins."""
    if len(value.text) <= LONGEST_JUDGED:
        return value.end
    rest = _UNBROKEN.match(text, value.start)
    return rest.end() if rest else value.end


def _is_password(value: _Value, lowered: str, language: _Language, *, strict: bool) -> bool:
    said = value.text
    if len(said) > LONGEST_JUDGED:
        return True
    if len(said) < 4 or is_placeholder(said) or (_ADDRESS.match(said) and not value.assigned):
        return False
    if said.lower().split()[0] in language.describes and not any(c.isdigit() for c in said):
        return False
    if said.isdigit() or (looks_made_up(said) and not language.spaced):
        return value.quoted or not lowered[value.end : value.end + 20].lstrip(" -").startswith(language.counts)
    plain = not strict and (value.quoted or (language.spaced and _is_all(value, lowered, language)))
    return plain or looks_made_up(said)


def _is_all(value: _Value, lowered: str, language: _Language) -> bool:
    """Whether a plain word is all that is told of a password, and is nothing that describes it."""
    if not value.text.replace("-", "").isalpha() or (language.endings and language.endings.search(value.text.lower())):
        return False
    rest = lowered[value.end : value.end + 16]
    first = rest.split()
    return not rest.strip() or not rest[0].isspace() or rest.startswith("\n") or (bool(first) and first[0] in _joins())


def _is_novel(value: _Value, *, shortest: int) -> bool:
    """Whether a value that no word announces is a password all the same: signs or digits among letters, not `FIDO2` or `server01`."""
    said = value.text
    if len(said) > LONGEST_JUDGED:
        return False
    if len(said) < shortest or is_placeholder(said) or _ADDRESS.match(said):
        return False
    if value.quoted:
        return looks_made_up(said)
    letters = "".join(c for c in said if c.isalpha())
    return looks_made_up(said) and any(c.isdigit() for c in said) and not letters.isupper() and "/" not in said


def _phrase(text: str, end: int) -> Iterator[Find]:
    link = re.compile(rf"[^\n.;:=]{{0,40}}?(?:{_SIGNS}|\b(?:is|ist|lautet|es|est|é)\b|是|为|は)[ \t]*[\"'“«]?").match(text, end)
    if link is None:
        return
    said = re.compile(r"[^\n.;,\"”»\0。]{1,400}").match(text, link.end())
    words = said[0].split() if said else []
    plain = all(word.isalpha() and word.islower() for word in words)
    describing = _every_description()
    if said and plain and len(words) >= _fewest() and not any(word in describing for word in words[:2]):
        yield Find(start=link.end(), end=link.end() + len(said[0].rstrip()), kind="passphrase")


def _token(text: str, lowered: str, start: int, end: int, *, bare: bool = False) -> Iterator[Find]:
    """A random value behind what it is called: right behind a link, or later in the same sentence."""
    if lowered[max(0, start - 16) : start].strip(" -_").endswith(_tokens("plain")):
        return
    kind = _token_kind(lowered[start:end])
    direct = _DIRECT.match(lowered, end)
    if direct is not None:
        value = _value(text, direct.end(), spaced=True, assigned=True)
        if _is_assigned_token(value.text, bare=bare):
            yield Find(start=value.start, end=_whole(text, value), kind=kind)
            return
    _, stop = _window(lowered, end)
    for begun in _TOKEN_RUN.finditer(text, end, end if bare else stop):
        run = _TOKEN_RUN.match(text, begun.start()) or begun
        value = _Value(start=run.start(), text=run[0] if len(run[0]) > LONGEST_JUDGED else run[0].rstrip(".-/"))
        if _is_told_token(value.text, text, lowered[end : value.start], value.end):
            yield Find(start=value.start, end=_whole(text, value), kind=kind)
            return


def _is_assigned_token(value: str, *, bare: bool) -> bool:
    if len(value) > LONGEST_JUDGED:
        return True
    random = looks_random(value, shortest=16 if bare else 10) or (not bare and _UUID.fullmatch(value) is not None)
    return random and not is_placeholder(value) and not _ADDRESS.match(value) and not value.startswith(("/", "./"))


def _is_told_token(value: str, text: str, gap: str, end: int) -> bool:
    if len(value) > LONGEST_JUDGED:
        return True
    if any(word in gap for word in _tokens("harmless")) or value.startswith(("/", ".")) or gap.endswith((":/", "://", "@")):
        return False
    if text[end : end + 1] in {"@", ":"} and text[end : end + 2] != ": ":
        return False
    path = ("/" in value or "." in value) and len(value) < 40
    return not path and looks_random(value) and not is_placeholder(value)


def _token_kind(word: str) -> str:
    return "secret" if "secret" in word or "credential" in word else "token" if "token" in word else "API key"


def _is_spaced(word: str) -> bool:
    return not any("\u3040" <= c <= "\u9fff" for c in word)


@cache
def _names() -> tuple[_Name, ...]:
    names = [_Name(word=word, role=_Role.PHRASE, spaced=_is_spaced(word)) for word in _phrases()]
    for language in _languages():
        of = partial(_Name, language=language, spaced=language.spaced)
        names += [of(word=word, role=_Role.PASSWORD, compound=True) for word in language.words]
        names += [of(word=word, role=_Role.STRICT_PASSWORD) for word in language.strict]
    names += [_Name(word=word, role=_Role.TOKEN, compound=True, spaced=_is_spaced(word)) for word in _tokens("words")]
    names += [_Name(word=word, role=_Role.BARE_TOKEN, spaced=_is_spaced(word)) for word in _tokens("bare")]
    return tuple(names)


@cache
def _languages() -> tuple[_Language, ...]:
    data = cast("Mapping[str, Mapping[str, object]]", lexicon()["password"])
    return tuple(_language(code, entry) for code, entry in data.items())


def _language(code: str, entry: Mapping[str, object]) -> _Language:
    spaced = code not in {"zh", "ja"}
    links, moves, verbs = (_list(entry[key]) for key in ("links", "to", "verbs"))
    links += _list(cast("Mapping[str, object]", lexicon()["clause"])["links"])
    before, after = (r"(?<!\w(?=\w))", r"(?=[\s\"'“«„`*:])(?:\s?[:=])?") if spaced else ("", "")
    words = "|".join(re.escape(link) for link in sorted(links, key=len, reverse=True))
    return _Language(
        words=_list(entry["words"]),
        strict=_list(entry["strict"]),
        spaced=spaced,
        opens=frozenset(_list(entry["opens"])),
        links=re.compile(rf"{_SIGNS}|{before}(?:{words}){after}"),
        moves=_any_of(moves),
        verbs=_any_of(verbs),
        describes=frozenset(_list(entry["describes"])),
        counts=_list(entry["counts"]),
        endings=re.compile(str(entry["endings"])) if entry["endings"] else None,
    )


def _any_of(words: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b") if words else None


def _list(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in cast("Iterable[object]", value))


@cache
def _joins() -> frozenset[str]:
    return frozenset(_list(cast("Mapping[str, object]", lexicon()["clause"])["joins"]))


@cache
def _phrases() -> tuple[str, ...]:
    return _list(cast("Mapping[str, object]", lexicon()["phrases"])["words"])


@cache
def _fewest() -> int:
    return int(str(cast("Mapping[str, object]", lexicon()["phrases"])["fewest"]))


@cache
def _tokens(key: str) -> tuple[str, ...]:
    return _list(cast("Mapping[str, object]", lexicon()["tokens"])[key])


@cache
def _every_description() -> frozenset[str]:
    return frozenset(word for language in _languages() for word in language.describes)
