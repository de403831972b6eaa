"""Which language a sentence is in: by script, and for Latin letters by function words. Cheap and deterministic."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_KANA = re.compile(r"[぀-ヿｦ-ﾟ]")
_HAN = re.compile(r"[㐀-鿿]")
_HANGUL = re.compile(r"[가-힣]")
_CYRILLIC = re.compile(r"[Ѐ-ӿ]")
_OTHER_SCRIPT = re.compile(r"[Ͱ-Ͽ\u0590-\u0DFF\u0E00-\u0EFF]")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|(?<!\S)\S+@\S+")
"""Written in Latin letters whatever the language of the sentence."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ACCENTED = re.compile(r"[à-öø-ÿœ]")
_ACCENTS = {
    "ñ": "es",
    "¿": "es",
    "¡": "es",
    "ß": "de",
    "ä": "de",
    "ö": "de",
    "ü": "de",
    "ã": "pt",
    "õ": "pt",
    "ê": "fr",
    "è": "fr",
    "œ": "fr",
    "ù": "fr",
}


def language(sentence: str, *, before: str = "en") -> str:
    """The language code of a sentence; `before` is the language of the sentences around it, kept when nothing speaks against it."""
    head = _ADDRESS.sub(" ", sentence[:300])
    if not head.isascii():
        script = _by_script(head)
        if script:
            return script
    return _by_words(head, before)


def _by_script(text: str) -> str | None:
    if _KANA.search(text):
        return "ja"
    if _HAN.search(text):
        return "zh"
    for pattern, code in ((_HANGUL, "ko"), (_CYRILLIC, "ru"), (_OTHER_SCRIPT, "other")):
        if len(pattern.findall(text)) * 3 > len(text.replace(" ", "")):
            return code
    return None


def _by_words(text: str, before: str) -> str:
    owners = _function_words()
    scores: dict[str, float] = {}
    for word in _WORD.findall(text.casefold().replace("’", "'"))[:40]:
        codes = owners.get(word, ())
        for code in codes:
            scores[code] = scores.get(code, 0.0) + 1.0 / len(codes)
    for character in set(text.casefold()) & _ACCENTS.keys():
        if scores:
            code = _ACCENTS[character]
            scores[code] = scores.get(code, 0.0) + 0.4
    if "en" in scores and _ACCENTED.search(text):
        scores["en"] -= 0.3
    if not scores:
        return before
    best = max(scores.values())
    if scores.get(before, 0.0) == best:
        return before
    return "en" if scores.get("en", 0.0) == best else max(scores, key=lambda code: scores[code])


@cache
def _function_words() -> Mapping[str, tuple[str, ...]]:
    data = tomllib.loads(files("lean_memory.extraction").joinpath("languages.toml").read_text("utf-8"))
    owners: dict[str, list[str]] = {}
    for code, words in data.items():
        for word in dict.fromkeys(str(words).split()):
            owners.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in owners.items()}
