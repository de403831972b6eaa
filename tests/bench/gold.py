"""The questions a filled store is asked, and the statements planted in it that answer them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import consolidation


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """Sentences to plant, and for each question the sentence that answers it."""

    texts: Sequence[str]
    answers: dict[str, str]


def read_gold(data: Path) -> Gold:
    """The current statement behind each single-hop question of FactConsolidation."""
    corpora = consolidation.read_corpora(data)
    texts = {turn.id: turn.text for corpus in corpora for turn in corpus.turns}
    answers = {question.text: texts[max(question.evidence, key=int)] for corpus in corpora for question in corpus.questions}
    return Gold(texts=list(dict.fromkeys(answers.values())), answers=answers)
