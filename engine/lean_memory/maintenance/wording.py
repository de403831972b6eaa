"""A sentence as the words that decide what it says: names, numbers with their units, signs such as "not" or "from", and the rest."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, auto

from lean_memory.extraction.languages import language
from lean_memory.maintenance.lexicon import Forms, Lexicon, forms, lexicon, name_forms, units

_UNSPACED = r"\u2e80-\u2fff\u3005-\u3007\u3021-\u3029\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3041-\u30ff\u31f0-\u31ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_TOKEN = re.compile(
    rf"(?P<number>\d+(?:[.,:/]\d+)*)|(?P<mark>[%$€£¥￥])|(?P<character>[{_UNSPACED}])|(?P<label>[^\W\d_]+(?:\+\+?|#)(?!\w)|\b[A-Z]{{1,2}}[-−](?!\w))|(?P<word>(?:(?![{_UNSPACED}])[^\W\d_])+"
    rf"(?:['’](?:(?![{_UNSPACED}])[^\W\d_])+)*)|(?P<stop>[.!?。！？;；]+)|(?P<comma>[,，、:：])"
)
_CLOCK = re.compile(r"\b(\d{1,2})(?:[:.](\d\d))?\s?([ap])\.?m\b\.?", re.IGNORECASE)
_POINTED = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_MINUS = re.compile(rf"(?:(?<![\w)\].])|(?<=[{_UNSPACED}]))[-−](?=\d)")
_FEET = re.compile(r"(?<=\d)['’′](?=[\s\d.,;)]|$)")
_INCHES = re.compile(r"(?<=\d)[\"″](?=[\s.,;)]|$)")
_MILLI_OR_MEGA = re.compile(r"[mM](?:Wh?|V|Ah?|Hz|Pa|J|N|eV)")
_BITS = re.compile(r"[KMGT]b")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_TITLED = 0.6
_CURRENCIES = frozenset("$€£¥")


class Kind(IntEnum):
    """What a word is for telling sentences apart; a number only because these are looked up in sets by the million."""

    WORD = auto()
    NAME = auto()
    NUMBER = auto()
    SIGN = auto()
    """A word of a class such as negation, possibility or quantity."""
    PERSON = auto()
    """A pronoun that stands for somebody."""
    RELATION = auto()
    """Puts things in relation: "in", "from"."""
    JOINT = auto()
    """Joins equals, which may change places: "and"."""
    CRITICAL = auto()
    """Changes what it stands before: "former", "left"."""
    LIGHT = auto()
    """May be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word that counts; `key` is what it is compared by, and `shown` how it stands in the text."""

    key: str
    shown: str
    kind: Kind
    forms: Forms
    at: int
    """Its place among all words of the text."""
    opens: bool = False
    """It stands behind a comma."""
    leads: bool = False
    """It says whose something is, or stands before it: without it, the sentence would be about something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What a sentence says, word by word; words that say nothing by themselves are left out."""

    words: tuple[Word, ...]
    lexicon: Lexicon
    keys: frozenset[str]
    """Those of the words, to see at once that two sentences have little in common."""
    fixed: frozenset[str]
    """Those of numbers and signs: two sentences that say the same have the same ones (but for the "by" of the passive)."""
    says_from: int | None
    """The place of the first verb that tells what can be so in one way only at one moment ("is", "costs"), if there is one."""
    spaced: bool
    """Whether its language parts words; if not, its words are characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Raw:
    text: str
    folded: str
    kind: str
    starts: bool
    """It is the first of its sentence, where a capital tells nothing."""
    opens: bool


def wording(text: str) -> Wording:
    """Read a sentence of any language; what the lexicon of its language does not know is an ordinary word."""
    code = language(text)
    known = lexicon(code)
    raw = list(_raw(_joined(_signed(_clock_times(unicodedata.normalize("NFKC", text))))))
    titled = _is_titled(raw)
    words = tuple(_with_amounts(list(_read(raw, known, titled)), known))
    says_from = next((place for place, each in enumerate(raw) if each.folded in known.stative), None)
    return Wording(
        words=words,
        lexicon=known,
        keys=frozenset(word.key for word in words),
        fixed=_fixed(words),
        says_from=says_from,
        spaced=not any(each.kind == "character" for each in raw),
    )


PASSIVE = "by!"


def _fixed(words: Sequence[Word]) -> frozenset[str]:
    return frozenset(word.key for word in words if word.kind in {Kind.NUMBER, Kind.SIGN} and word.key != PASSIVE)


def _clock_times(text: str) -> str:
    def told(found: re.Match[str]) -> str:
        hour = int(found[1]) % 12 + (12 if found[3] in "pP" else 0)
        return f"{hour}:{found[2] or '00'}"

    return _CLOCK.sub(told, text)


def _signed(text: str) -> str:
    """Signs at a figure as words: "-5" as "minus 5", 6' as "6 feet" and 6" as "6 inches", where it closes no quotation."""

    def told(found: re.Match[str]) -> str:
        return found[0] if text.count(found[0], 0, found.start()) % 2 else " inches"

    inches = _INCHES.sub(told, text)
    quotes = re.search(r"(?:^|\W)['‘]", inches)
    return _MINUS.sub("minus ", inches if quotes else _FEET.sub(" feet ", inches))


def _joined(text: str) -> str:
    """Abbreviations without their points: "U.S." as "US"."""
    return _POINTED.sub(lambda found: found[0].replace(".", ""), text)


def _raw(text: str) -> Iterator[_Raw]:
    starts, opens = True, False
    for found in _TOKEN.finditer(text):
        kind = str(found.lastgroup)
        if kind == "comma":
            opens = True
            continue
        if kind == "stop":
            # The point of an abbreviation is followed by more of the sentence; a capital after it tells nothing either way.
            starts = True
            continue
        shown = found[0].replace("’", "'")
        yield _Raw(text=shown, folded=shown.casefold(), kind=kind, starts=starts, opens=opens)
        starts = opens = False


def _is_titled(raw: Sequence[_Raw]) -> bool:
    """Whether it is written like a headline, where capitals do not tell names; then every word is as strict as a name."""
    long = [each for each in raw if each.kind == "word" and len(each.text) > 3]
    return len(long) >= 3 and sum(each.text[0].isupper() for each in long) >= _TITLED * len(long)


def _read(raw: Sequence[_Raw], known: Lexicon, titled: bool) -> Iterator[Word]:
    place, owned, read = 0, False, 0
    mixed = any(each.text.islower() for each in raw)
    while place < len(raw):
        size, entry, sign = _entry_at(raw, place, known)
        each, rest = raw[place], raw[place + size : place + size + 1]
        owns = each.folded.endswith(("'s", "s'"))
        key = entry.removesuffix("'s").removesuffix("'")
        # What is written in capitals alone is a name, whatever word it looks like: "US", "IT".
        is_acronym = mixed and each.kind == "word" and len(each.text) > 1 and each.text.isupper()
        kind = Kind.NAME if is_acronym else Kind.SIGN if sign else _kind(each, key, known, titled)
        if kind is not None:
            yield Word(
                key=f"{sign or known.person[key]}!" if kind in _CLASSES else key,
                shown=("" if each.kind == "character" else " ").join(part.text for part in raw[place : place + size]),
                kind=kind,
                forms=_forms(kind, known, key),
                at=place,
                # A comma before words that say nothing, such as an article, stands before this one.
                opens=any(part.opens for part in raw[read : place + 1]),
                leads=kind not in _FUNCTIONS and (owned or owns or (bool(rest) and rest[0].folded in known.genitive)),
            )
            owned, read = owned if kind in _FUNCTIONS else owns, place + 1
        place += size


_CLASSES = frozenset({Kind.SIGN, Kind.PERSON})
_FUNCTIONS = frozenset({Kind.SIGN, Kind.PERSON, Kind.RELATION, Kind.JOINT, Kind.LIGHT})
_FIXED = Forms(stems=frozenset())
"""Of what is compared by its key alone."""


def _forms(kind: Kind, known: Lexicon, key: str) -> Forms:
    if kind is Kind.WORD:
        return forms(known.code, key)
    return name_forms(key) if kind is Kind.NAME else _FIXED


def _entry_at(raw: Sequence[_Raw], place: int, known: Lexicon) -> tuple[int, str, str]:
    """The longest entry of the lexicon that begins here: how many tokens it takes, its text, and its sign, where it is one."""
    joint = "" if raw[place].kind == "character" else " "
    longest = known.longest if raw[place].folded in known.beginnings else 1
    for size in range(min(longest, len(raw) - place), 1, -1):
        entry = joint.join(each.folded for each in raw[place : place + size])
        before = raw[place - 1].folded if place else ""
        if known.lists(entry) and f"{before}{joint}{entry}" not in known.apart:
            return size, entry, known.signs.get(entry, "")
    folded = raw[place].folded
    return 1, folded, known.signs.get(folded, "not" if folded.endswith("n't") else "minus" if folded == "minus" else "")


def _kind(each: _Raw, key: str, known: Lexicon, titled: bool) -> Kind | None:
    """What a word is, unless it says nothing by itself."""
    if each.kind in {"number", "mark", "label"} or key in known.numbers:
        return Kind.NUMBER
    if len(each.text) == 1 and each.text.isupper() and not (each.starts or titled or key in known.person):
        # Of a letter alone every other letter is another one, as of a figure: "vitamin B", "plan A".
        return Kind.NUMBER
    for words, kind in (
        (known.relation, Kind.RELATION),
        (known.joint, Kind.JOINT),
        (known.critical, Kind.CRITICAL),
        (known.light, Kind.LIGHT),
        (known.person, Kind.PERSON),
    ):
        if key in words:
            return kind
    if key in known.genitive or key in known.filler or (key.startswith("'") and len(key) < 4):
        return None
    is_certain = each.text[0].isupper() and not each.starts and not titled
    may_be = (each.text[0].isupper() or titled) and not known.knows(key)
    return Kind.NAME if is_certain or may_be else Kind.WORD


def _with_amounts(words: list[Word], known: Lexicon) -> Iterator[Word]:
    """Numbers as figures, with what multiplies them and their unit in the key: "$2 million" and "2,000,000 dollars" are one."""
    place = 0
    while place < len(words):
        word = words[place]
        if word.kind is not Kind.NUMBER and word.key not in known.scales:
            yield word
            place += 1
            continue
        taken = _amount(words, place, known)
        yield taken[0]
        place += taken[1]


def _amount(words: list[Word], place: int, known: Lexicon) -> tuple[Word, int]:
    start, unit = place, ""
    if words[place].key in _CURRENCIES | {"￥"}:
        unit = units().get(words[place].key, words[place].key)
        place += 1
    figure, read = _figure(words, place, known)
    place += read
    if place < len(words) and not unit:
        found = _unit(words[place])
        if found and read:
            unit, place = found, place + 1
    shown = " ".join(word.shown for word in words[start : max(place, start + 1)])
    key = f"{figure} {unit}".strip() or words[start].key
    return replace(words[start], key=key, shown=shown, kind=Kind.NUMBER), max(place - start, 1)


def _unit(word: Word) -> str | None:
    """The unit that a word behind a figure is, where it is one. Case counts where it makes another unit: "mW" and "MW", "MB" and "Mb"."""
    if word.kind is Kind.NUMBER and len(word.shown) == 1 and word.shown.isupper():
        return word.shown
    if _MILLI_OR_MEGA.fullmatch(word.shown):
        return word.shown
    return f"{word.key}it" if _BITS.fullmatch(word.shown) else units().get(word.key)


def _figure(words: list[Word], place: int, known: Lexicon) -> tuple[str, int]:
    """The figure that begins at a place, as text, and how many words it takes."""
    if place >= len(words):
        return "", 0
    key, read = words[place].key, 1
    if key in known.numbers:
        value: float | None = known.numbers[key]
    elif key in known.scales:
        value, read = 1.0, 0
    elif words[place].kind is Kind.NUMBER:
        plain = key.replace(",", "") if _GROUPED.fullmatch(key) else key
        value = float(plain) if re.fullmatch(r"\d+(?:\.\d+)?", plain) and plain.count(".") < 2 else None
        if value is None:
            return plain, 1
        if plain.startswith("0") or len(plain) > 15:
            return plain, 1
    else:
        return "", 0
    while place + read < len(words) and words[place + read].key in known.scales:
        value = (value or 1.0) * known.scales[words[place + read].key]
        read += 1
    return f"{value:.15g}", max(read, 1)
