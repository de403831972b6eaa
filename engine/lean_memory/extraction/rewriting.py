"""Makes a sentence that can be read without what stood around it."""

from __future__ import annotations

import re

from lean_memory.domain import USER
from lean_memory.extraction.clauses import Clause
from lean_memory.extraction.pack import Pack
from lean_memory.extraction.scene import Scene, Subject
from lean_memory.extraction.sentences import Sentence


def standalone(sentence: Sentence, clause: Clause, subject: Subject, pack: Pack, scene: Scene) -> str:
    """The sentence as it was said where it stands alone, else the clause with its subject written out."""
    if clause.is_alone and subject.stands_alone and scene.speaker is None:
        return sentence.text
    text = clause.full
    name = pack.first if subject.name == USER else subject.name
    if not subject.said:
        text = f"{name}{' ' if pack.spaces else ''}{text}"
    elif not subject.stands_alone and subject.said != name:
        text = _swapped(text, subject.said, name)
    if scene.speaker:
        text = in_third_person(text, scene.speaker, pack)
    return _finished(text, pack)


def in_third_person(text: str, name: str, pack: Pack) -> str:
    """ "I live with my dog" as "Caroline lives with Caroline's dog"."""
    for pattern, replacement in pack.person:
        text = pattern.sub(lambda found, to=replacement: found.expand(to).replace("{}", name), text)
    for forms in pack.verbs.values():
        present = forms.get("present", ())
        if len(present) > 1 and f"{name} {present[0]} " in f"{text} ":
            text = text.replace(f"{name} {present[0]}", f"{name} {present[1]}", 1)
    return text


def _swapped(text: str, said: str, name: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(said)}(?!\w)", lambda _: name, text, count=1)


def _finished(text: str, pack: Pack) -> str:
    text = text.strip()
    stop = "." if pack.spaces else "。"
    text = text if text[-1:] in ".!?。！？…" else text + stop
    return text[:1].upper() + text[1:]
