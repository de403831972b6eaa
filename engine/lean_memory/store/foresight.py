"""What a forgetting would take, told beforehand, so that a person can see it and say no."""

from __future__ import annotations

from typing import cast

import apsw

from lean_memory.store.forget_scope import Scope

_ENDS = ".!?…。！？ "


def sentences_of(con: apsw.Connection, scope: Scope) -> list[str]:
    """Every text that goes with a scope: of facts, and of stretches of episodes, in which they were said or said again; each once."""
    texts = [said.text for said in scope.facts.values()]
    for episode, spans in scope.cuts.items():
        whole = cast("str", con.execute("SELECT text FROM episode WHERE id = ?", (episode,)).get)
        texts += [whole[span.start : span.end] for span in sorted(spans, key=lambda span: (span.start, span.end))]
    told: dict[str, str] = {}
    for text in texts:
        # A stretch that is cut may leave its full stop behind, and is still the sentence that a fact was shown with.
        told.setdefault(text.strip().rstrip(_ENDS), text.strip())
    return [text for key, text in told.items() if key]
