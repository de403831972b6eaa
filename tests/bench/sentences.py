"""Sentences to fill a store with: those of the data files, then statements recombined from the subjects, relations and values in them.

FactConsolidation is left out here: its questions are asked of the filled store, and its statements are the gold planted in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

from bench import asof, locomo, longmemeval, pairs

SEED = 13
MAX_CHARACTERS = 240
_END = re.compile(r"(?<=[.!?])\s+|\n+")


def real_sentences(data: Path) -> list[str]:
    """Every different sentence of 20 to 240 characters in the conversations, timelines and pairs, shuffled with a fixed seed."""
    pieces = (piece.strip() for text in _texts(data) for piece in _END.split(text))
    kept = dict.fromkeys(piece for piece in pieces if 20 <= len(piece) <= MAX_CHARACTERS)
    return Random(SEED).sample(list(kept), len(kept))


def recombined_sentences(data: Path) -> Iterator[str]:
    """Without end: "The <relation> of <subject> is <value>." with the three drawn from different timelines."""
    entries = [json.loads(line) for line in (data / asof.FILE).read_text(encoding="utf-8").split("\n") if line]
    subjects = [str(entry["subject"]) for entry in entries]
    relations = sorted({str(entry["relation"]) for entry in entries})
    values = sorted({str(span["value"]) for entry in entries for span in entry["intervals"]})
    draw = Random(SEED)
    while True:
        yield f"The {draw.choice(relations)} of {draw.choice(subjects)} is {draw.choice(values)}."


def sentences(data: Path, count: int) -> list[str]:
    """`count` different sentences: the real ones first, then recombined ones."""
    chosen = dict.fromkeys(real_sentences(data)[:count])
    source = recombined_sentences(data)
    while len(chosen) < count:
        chosen.setdefault(next(source))
    return list(chosen)


def _texts(data: Path) -> Iterator[str]:
    for corpus in locomo.read_corpora(data):
        yield from (turn.text for turn in corpus.turns)
    for line in (data / longmemeval.HAYSTACK_FILE).read_text(encoding="utf-8").split("\n"):
        yield from (str(turn["content"]) for turn in (json.loads(line)["turns"] if line else ()))
    yield from (statement.text for statement in asof.read_timelines(data).statements)
    for pair in pairs.read_pairs(data):
        if pair.label == "same":
            yield from (pair.a, pair.b)
