"""LoCoMo: long conversations between two people; which turns answer a question? (Maharana et al., 2024; CC BY-NC 4.0, not redistributed.)"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.dates import read_locomo
from bench.values import Corpus, Question, Turn

FILE = "locomo_dev.json"

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_TURN_ID = re.compile(r"D:?(\d+):(\d+)")


def read_corpora(data: Path) -> list[Corpus]:
    """One corpus per conversation; questions without a turn of the conversation as evidence are left out.

    Raises OSError where the file is missing, KeyError where it is of another shape.
    """
    return [_corpus(sample) for sample in json.loads((data / FILE).read_text(encoding="utf-8"))]


def _corpus(sample: Mapping[str, Any]) -> Corpus:
    name = str(sample["sample_id"])
    turns = list(_turns(sample["conversation"]))
    known = frozenset(turn.id for turn in turns)
    asked_at = max(turn.said_at for turn in turns)
    questions = [
        Question(
            id=f"{name}/{number}",
            text=str(entry["question"]),
            evidence=evidence,
            category=CATEGORIES[entry["category"]],
            asked_at=asked_at,
        )
        for number, entry in enumerate(sample["qa"])
        if (evidence := read_evidence(entry["evidence"]) & known)
    ]
    return Corpus(name=name, turns=turns, questions=questions)


def read_evidence(entries: list[str]) -> frozenset[str]:
    """The turn ids of an evidence list; the file also writes two in one string, and `D:11:26` for `D11:26`."""
    return frozenset(f"D{int(session)}:{int(turn)}" for entry in entries for session, turn in _TURN_ID.findall(entry))


def _turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(key.removeprefix("session_")) for key in conversation if re.fullmatch(r"session_\d+", key))
    for number in numbers:
        said_at = read_locomo(conversation[f"session_{number}_date_time"])
        for entry in conversation[f"session_{number}"]:
            yield Turn(id=entry["dia_id"], text=_text(entry), said_at=said_at, session=f"D{number}")


def _text(entry: Mapping[str, Any]) -> str:
    said = f"{entry['speaker']}: {entry['text']}"
    return f"{said} [shared {entry['blip_caption']}]" if entry.get("blip_caption") else said
