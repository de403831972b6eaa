"""Turns words into predicate names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from lean_memory.extraction.pack import Pack

_GAP = re.compile(r"[\W_]+")
_WORD = re.compile(r"[\w’'-]+")
_DOUBLED = re.compile(r"([bdgmnprt])\1$")


def snake_case(words: str) -> str:
    """ "favorite color" as `favorite_color`; letters of every script stay."""
    return _GAP.sub("_", unicodedata.normalize("NFKC", words).casefold()).strip("_")[:64]


def content(words: str, pack: Pack, *, is_verb: bool = False) -> str:
    """The words that tell one thing from another: no articles, prepositions and adverbs of now, one form of a noun or a verb."""
    skipped = pack.word_sets.get("slot_stop", frozenset())
    kept = [word for word in _WORD.findall(words.casefold()) if word not in skipped]
    return " ".join(_base_of_verb(word, pack) if is_verb else _one(word, pack) for word in kept)


def predicate_name(template: str, parts: Mapping[str, str], pack: Pack) -> str:
    """The predicate that a rule's template names with the words of its slots: "@A" in the words themselves, "@~B+A" in what tells them from others."""
    if not template.startswith("@"):
        return template
    if template.startswith("@~"):
        named = (
            slot[1:] if slot.startswith("=") else content(_within(parts.get(slot, ""), pack), pack, is_verb=slot == "V")
            for slot in template[2:].split("+")
        )
        return snake_case(" ".join(dict.fromkeys(" ".join(named).split())))
    words = (slot[1:] if slot.startswith("=") else parts.get(slot, "") for slot in template[1:].split("+"))
    said = " ".join(word for word in words if word).casefold()
    key = _plainly(" ".join(said.split()), pack)
    return pack.kin.get(key) or pack.attributes.get(key) or pack.kin_former.get(key) or snake_case(key)


def _within(words: str, pack: Pack) -> str:
    """The words up to where they go on to something else: "Middlemarch and loving it" as "Middlemarch"."""
    beyond = pack.has_cue("beyond", words)
    return words if beyond is None or not beyond.start() else words[: beyond.start()]


def _plainly(attribute: str, pack: Pack) -> str:
    """ "new address" and "current address" as "address": they name one slot, and its newest value."""
    newest = pack.cues.get("newest")
    return (newest.sub("", attribute).strip() or attribute) if newest else attribute


def _one(word: str, pack: Pack) -> str:
    single = _singular(word, pack)
    return pack.same.get(single, single)


def _singular(word: str, pack: Pack) -> str:
    for ending, replacement in pack.singular:
        if ending.search(word):
            return ending.sub(replacement, word)
    return word


def _base_of_verb(word: str, pack: Pack) -> str:
    """ "running", "runs" and "run" as one."""
    known = pack.word_sets.get("verb_bases", frozenset())
    for ending in ("ing", "es", "s"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 1:
            return next((base for base in (stem, stem + "e", stem[:-1]) if base in known), _DOUBLED.sub(r"\1", stem))
    return word
