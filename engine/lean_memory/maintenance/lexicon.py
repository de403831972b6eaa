"""What words do in a sentence, per language: read once from `wording.toml` and, for English, from a list made from WordNet."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import cast

_PACKAGE = "lean_memory.maintenance"
_EVERYWHERE = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """The words of one language by what they do; everything is case-folded."""

    code: str
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
    apart: frozenset[str]
    """Phrases that end in a sign that is none there: "is used to"."""
    person: Mapping[str, str]
    """Pronoun -> whom it speaks of."""
    numbers: Mapping[str, int]
    scales: Mapping[str, int]
    endings: tuple[str, ...]
    """What an inflected word may end in."""
    irregular: Mapping[str, frozenset[str]]
    """Inflected form that no ending tells -> what it is a form of."""
    variants: tuple[tuple[str, str], ...]
    """Pairs of endings of which one spells the other."""
    same: Mapping[str, frozenset[int]]
    """Word -> the groups of words that say the same."""
    wider: Mapping[str, frozenset[int]]
    """Verb -> the lines in which it stands for what can be done in several ways;"""
    narrower: Mapping[str, frozenset[int]]
    """and those in which it is one of these ways, so that it implies the other."""
    contrary: Mapping[str, frozenset[int]]
    """Word -> the pairs of opposites it is in: a number for the first of a pair, minus that number for the second."""
    rivals: Mapping[str, frozenset[int]]
    """Word -> the closed classes it is in, of which one says what no other does: "morning", "evening"."""
    stative: frozenset[str]
    """Verbs of what is so at one moment in one way only: "is", "costs"."""
    beginnings: frozenset[str]
    """The first words (where words are not parted: characters) of entries that have several."""
    longest: int
    """Of any entry: how many words (languages with spaces) or characters."""
    has_thesaurus: bool
    """Whether its lists are so large that it tells something when they do not know two words to be opposed."""

    def lists(self, entry: str) -> bool:
        """Whether it is a word or phrase that does something of itself."""
        words = (self.filler, self.joint, self.light, self.critical, self.relation, self.signs, self.person)
        return any(entry in each for each in words)

    def knows(self, word: str) -> bool:
        """Whether it is an ordinary word of the language, in whatever form, as far as these lists go."""
        return self.lists(word) or any(stem in self.same or stem in self.contrary for stem in forms(self.code, word).stems)


_SHORTEST_STEM = 3
_SHORTEST_VARIANT = 5
_VERBAL = frozenset({"ed", "ing"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """What a word is compared by where it is not simply the same."""

    stems: frozenset[str]
    """What it may be an inflected form or another spelling of, itself among them."""
    same: frozenset[int] = frozenset()
    wider: frozenset[int] = frozenset()
    narrower: frozenset[int] = frozenset()
    contrary: frozenset[int] = frozenset()
    rivals: frozenset[int] = frozenset()


@lru_cache(maxsize=100_000)
def forms(code: str, key: str) -> Forms:
    """The forms of a word of a language."""
    known = lexicon(code)
    stems = _stems(key, known)
    return Forms(
        stems=stems,
        same=_of_any(stems, known.same),
        wider=_of_any(stems, known.wider),
        narrower=_of_any(stems, known.narrower),
        contrary=_of_any(stems, known.contrary),
        rivals=_of_any(stems, known.rivals),
    )


@lru_cache(maxsize=100_000)
def name_forms(key: str) -> Forms:
    """The forms of a name: it is never inflected, but a country may be called by what comes from it."""
    return Forms(stems=frozenset({key}), same=names().get(key, frozenset()))


def _of_any(stems: Iterable[str], table: Mapping[str, frozenset[int]]) -> frozenset[int]:
    return frozenset(number for stem in stems for number in table.get(stem, ()))


def _stems(key: str, known: Lexicon) -> frozenset[str]:
    stems = {key, *known.irregular.get(key, ())}
    for ending in known.endings:
        stem = key.removesuffix(ending)
        if len(stem) >= _SHORTEST_STEM and stem != key:
            stems.add(stem)
            if ending in _VERBAL:
                stems.add(stem + "e")
                if stem[-1] == stem[-2]:
                    stems.add(stem[:-1])
            if stem.endswith("i"):
                stems.add(stem[:-1] + "y")
    if len(key) >= _SHORTEST_VARIANT:
        spelled = (stem.removesuffix(ending) + other for stem in list(stems) for ending, other in known.variants if stem.endswith(ending))
        stems.update(spelled)
    return frozenset(stems)


@cache
def lexicon(code: str) -> Lexicon:
    """The lexicon of a language; of a language that has none, an empty one."""
    section = cast("dict[str, object]", _data().get(code, {}))
    wordnet = _wordnet() if code == "en" else []
    signs = _signs(cast("dict[str, list[str]]", section.get("signs", {})))
    words = {name: _words(str(section.get(name, ""))) for name in _WORDS}
    spaced = bool(section.get("spaces", True))
    listed = {
        *signs,
        *(word for each in cast("dict[str, list[str]]", section.get("person", {})).values() for word in each),
        *(word for name in ("filler", "light", "critical") for word in words[name]),
    }
    return Lexicon(
        code=code,
        filler=words["filler"],
        light=words["light"],
        critical=words["critical"],
        genitive=words["genitive"],
        joint=words["joint"],
        relation=words["relation"],
        opposites=frozenset(frozenset(pair.split()) for pair in _list(section, "opposites")),
        signs=signs,
        apart=frozenset(_list(section, "apart")),
        person=_signs(cast("dict[str, list[str]]", section.get("person", {}))),
        numbers=cast("dict[str, int]", section.get("numbers", {})),
        scales=cast("dict[str, int]", section.get("scales", {})),
        endings=tuple(str(section.get("endings", "")).split()),
        irregular=_irregular(str(section.get("irregular", "")).splitlines()),
        variants=tuple((one, other) for one, _, other in (pair.partition(" ") for pair in _list(section, "variants"))),
        same=_groups([*str(section.get("same", "")).splitlines(), *(line for line in wordnet if ">" not in line and "!" not in line)]),
        wider=_groups(line.partition(">")[0] for line in wordnet if ">" in line),
        narrower=_groups(line.partition(">")[2] for line in wordnet if ">" in line),
        contrary=_contrary(line for line in [*_list(section, "contrary"), *wordnet] if " ! " in line),
        rivals=_groups(_list(section, "rivals")),
        stative=words["stative"],
        has_thesaurus=bool(wordnet),
        beginnings=frozenset(entry.split()[0] if spaced else entry[0] for entry in listed if len(entry.split() if spaced else entry) > 1),
        longest=max((len(entry.split()) if spaced else len(entry) for entry in listed), default=1),
    )


_WORDS = ("filler", "light", "critical", "genitive", "relation", "joint", "stative")


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


def _irregular(lines: Iterable[str]) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for word, *inflected in (line.split() for line in lines if line):
        for form in inflected:
            found.setdefault(form, set()).add(word)
    return {form: frozenset(words) for form, words in found.items()}


def _contrary(lines: Iterable[str]) -> Mapping[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(lines, 1):
        one, _, other = line.partition(" ! ")
        found.setdefault(one, set()).add(number)
        found.setdefault(other, set()).add(-number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


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
