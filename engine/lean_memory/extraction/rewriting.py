"""Makes a sentence that can be read without what stood around it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache

from lean_memory.domain import USER
from lean_memory.extraction.clauses import Clause, closed
from lean_memory.extraction.pack import Pack, load
from lean_memory.extraction.scene import Scene, Subject
from lean_memory.extraction.sentences import Sentence

_AFTER_NAME = re.compile(
    r"(\{\}(?:\s+(?:also|really|just|still|now|always|usually|often|never|both|currently|mostly|mainly|actually))*\s+)(\w+)\b"
)


def standalone(sentence: Sentence, clause: Clause, subject: Subject, pack: Pack, scene: Scene) -> str:
    """The sentence as it was said where it stands alone, else the clause with its subject written out."""
    if clause.is_alone and subject.stands_alone and scene.speaker is None:
        return sentence.text
    text = clause.full
    name = pack.first if subject.name == USER else subject.name
    if not subject.said and pack.spaces and not pack.verb_like.search(text):
        # "and a son, Ren" has no verb of its own
        return f"{scene.speaker}: {sentence.text}" if scene.speaker else sentence.text
    if not subject.said:
        verb = text[:1].lower() + text[1:] if pack.spaces and text[1:2].islower() else text
        text = f"{pack.first if subject.name == scene.self_name else name + pack.topic}{' ' if pack.spaces else ''}{verb}"
    elif not subject.stands_alone and subject.said != name and not (scene.speaker and subject.name == scene.speaker):
        owner = subject.said.casefold() in pack.word_sets.get("their", frozenset())
        text = _swapped(text, subject.said, f"{name}'s" if owner else name, pack)
    if scene.speaker:
        text = in_third_person(text, scene.speaker, pack)
    return _finished(text, pack)


def apart(match: re.Match[str], slot: str, others: Collection[str], value: str | None) -> str:
    """The matched text with what stands in one slot alone: without the other slots and what leads to each, the slot itself being `value` where that is given.

    Of "I work at Hooli as a designer" the one slot leaves "I work at Hooli", the other "I work as a designer".
    """
    spans = {name: match.span(name) for name, said in match.groupdict().items() if said}
    changes = [
        (max((end for _, end in spans.values() if end <= spans[name][0]), default=0), spans[name][1], "")
        for name in others
        if name in spans
    ]
    if value is not None and slot in spans:
        changes.append((*spans[slot], value))
    text = match.string
    for start, end, words in sorted(changes, reverse=True):
        text = f"{text[:start]}{words}{text[end:]}"
    return text


def phrase(words: str, pack: Pack, scene: Scene) -> str:
    """A noun phrase that says what is to be said by itself: "My sister Ana."."""
    return _finished(in_third_person(words, scene.speaker, pack) if scene.speaker else words, pack)


def in_third_person(text: str, name: str, pack: Pack) -> str:
    """ "I live with my dog" as "Caroline lives with Caroline's dog"."""
    for pattern, replacement in pack.person:
        text = pattern.sub(replacement, text)
    thirds = third_forms(pack.code)
    text = _AFTER_NAME.sub(lambda found: found[1] + thirds.get(found[2], found[2]), text)
    return text.replace("{}", name)


@cache
def third_forms(code: str) -> Mapping[str, str]:
    """The present forms of the pack's verbs that change in the third person, where they are listed in pairs: "live" -> "lives"."""
    pairs: dict[str, str] = {}
    for forms in load(code).verbs.values():
        present = forms.get("present", ())
        pairs.update({base: third for base, third in zip(present[::2], present[1::2], strict=False) if third.startswith(base[:-1])})
    return pairs


def _swapped(text: str, said: str, name: str, pack: Pack) -> str:
    if pack.spaces and said[:1].islower() and text.startswith(f"{said} "):
        # a pronoun a contraction wrote in: "Vive en ..." began the sentence
        after = len(said) + 1
        return f"{name} {text[after : after + 1].lower()}{text[after + 1 :]}"
    bounded = rf"(?<!\w){re.escape(said)}(?!\w)" if pack.spaces else re.escape(said)
    return re.sub(bounded, lambda _: name, text, count=1)


def _finished(text: str, pack: Pack) -> str:
    text = closed(text.strip(), pack)
    stop = "." if pack.spaces else "。"
    text = text if text[-1:] in ".!?。！？…" else text + stop
    return text[:1].upper() + text[1:]
