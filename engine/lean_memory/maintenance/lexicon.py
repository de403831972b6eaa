"""What words do in a sentence, per language: read once from `wording.toml` and, for English, from a list made from WordNet."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from typing import cast

_PACKAGE = "lean_memory.maintenance"
_EVERYWHERE = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """The words of one language by what they do; everything is case-folded."""

    filler: frozenset[str]
    light: frozenset[str]
    critical: frozenset[str]
    genitive: frozenset[str]
    """Between a thing and whose it is: what stands before it is not the matter of the sentence."""
    joint: frozenset[str]
    """Joins equals, which may change places: "and"."""
    relation: frozenset[str]
    """Puts things in relation: "in", "from"."""
    opposites: frozenset[frozenset[str]]
    """Pairs of relations of which one is not the other."""
    signs: Mapping[str, str]
    """Word or phrase -> the class of which both sentences need the same."""
    numbers: Mapping[str, int]
    scales: Mapping[str, int]
    endings: tuple[str, ...]
    """What an inflected word may end in."""
    variants: tuple[tuple[str, str], ...]
    """Pairs of endings of which one spells the other."""
    same: Mapping[str, frozenset[int]]
    """Word -> the groups of words that say the same."""
    ways: frozenset[tuple[str, str]]
    """Pairs of verbs of which the second is a way of doing the first, and so implies it."""
    contrary: frozenset[frozenset[str]]
    """Pairs of words that say the opposite of each other."""
    stative: frozenset[str]
    """Verbs of what is so at one moment in one way only: "is", "costs"."""
    longest: int
    """Of any entry: how many words (languages with spaces) or characters."""

    def knows(self, word: str) -> bool:
        """Whether it is an ordinary word of the language, as far as this list goes."""
        return any(word in words for words in (self.filler, self.joint, self.light, self.critical, self.relation, self.signs, self.same))


@cache
def lexicon(code: str) -> Lexicon:
    """The lexicon of a language; of a language that has none, an empty one."""
    section = cast("dict[str, object]", _data().get(code, {}))
    wordnet = _wordnet() if code == "en" else []
    signs = _signs(cast("dict[str, list[str]]", section.get("signs", {})))
    words = {
        name: _words(str(section.get(name, ""))) for name in ("filler", "light", "critical", "genitive", "relation", "joint", "stative")
    }
    spaced = bool(section.get("spaces", True))
    listed = {*signs, *words["filler"], *words["light"], *words["critical"]}
    return Lexicon(
        filler=words["filler"],
        light=words["light"],
        critical=words["critical"],
        genitive=words["genitive"],
        joint=words["joint"],
        relation=words["relation"],
        opposites=frozenset(frozenset(pair.split()) for pair in _list(section, "opposites")),
        signs=signs,
        numbers=cast("dict[str, int]", section.get("numbers", {})),
        scales=cast("dict[str, int]", section.get("scales", {})),
        endings=tuple(str(section.get("endings", "")).split()),
        variants=tuple((one, other) for one, _, other in (pair.partition(" ") for pair in _list(section, "variants"))),
        same=_groups([*str(section.get("same", "")).splitlines(), *(line for line in wordnet if ">" not in line and "!" not in line)]),
        contrary=frozenset(frozenset(line.split(" ! ")) for line in [*_list(section, "contrary"), *wordnet] if " ! " in line),
        stative=words["stative"],
        ways=frozenset(_ways(line for line in wordnet if ">" in line)),
        longest=max((len(entry.split()) if spaced else len(entry) for entry in listed), default=1),
    )


@cache
def names() -> Mapping[str, frozenset[int]]:
    """Name -> the groups of names of which one stands for the other: a country and what comes from it."""
    return _groups(str(cast("dict[str, object]", _data()[_EVERYWHERE])["names"]).splitlines())


@cache
def units() -> Mapping[str, str]:
    """Spelling -> unit, of any language."""
    table = cast("dict[str, dict[str, list[str]]]", _data()[_EVERYWHERE])["units"]
    return {spelling: unit for unit, spellings in table.items() for spelling in spellings}


@cache
def _data() -> Mapping[str, object]:
    return tomllib.loads(files(_PACKAGE).joinpath("wording.toml").read_text("utf-8"))


def _wordnet() -> list[str]:
    lines = files(_PACKAGE).joinpath("data", "synonyms.txt").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def _ways(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        wide, _, narrow = line.partition(">")
        yield from product(wide.split(), narrow.split())


def _list(section: Mapping[str, object], name: str) -> list[str]:
    return cast("list[str]", section.get(name, []))


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


def _signs(classes: Mapping[str, list[str]]) -> Mapping[str, str]:
    return {entry: name for name, entries in classes.items() for entry in entries}


def _groups(lines: Iterable[str]) -> Mapping[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(lines):
        for word in line.split():
            found.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}
