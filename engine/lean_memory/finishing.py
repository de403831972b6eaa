"""What waits for a model is finished here: later than the addition, outside of any transaction, each episode exactly once.

The rules' facts stand whatever happens. What the models add has little trust, so that it retires nothing by itself: only where the typing
model says that it replaces what is known does it count as the person's word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from lean_memory.domain import Act, Candidate, Cardinality, Episode, EpisodeId, FactId, trust_of, value_key
from lean_memory.errors import ModelError, ModelUnavailableError
from lean_memory.extraction.router import Tally
from lean_memory.extraction.typer import Surroundings, Verdict
from lean_memory.ingest import Ingest
from lean_memory.passes import Passes
from lean_memory.rivals import Rivalry, current, rivalries

_KNOWN = 100
_EARLIER = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What one go at the waiting episodes did."""

    episodes: int
    """How many were finished."""
    waiting: int
    """How many wait on."""
    fact_ids: tuple[FactId, ...] = ()
    superseded: tuple[FactId, ...] = ()
    missing: str = ""
    """Why some wait on although they were tried: a sentence, or empty."""
    routed: Tally = field(default_factory=Tally)
    """How much of what was found went on to the typing model since the memory was made, and why."""


@dataclass(slots=True, kw_only=True)
class Finisher:
    """Finishes the waiting episodes of one namespace, the oldest first, those that failed before last."""

    ingest: Ingest
    passes: Passes
    _failed: Counter[EpisodeId] = field(default_factory=Counter[EpisodeId])

    def run(self, *, limit: int | None = None, seconds: float | None = None) -> Finished:
        """Finish at most `limit` episodes, beginning none after `seconds`. A model that is not there ends it; an unusable answer skips one."""
        ends = None if seconds is None else monotonic() + seconds
        waiting = self._waiting() if self.passes.are_on else []
        done: list[tuple[tuple[FactId, ...], tuple[FactId, ...]]] = []
        missing = ""
        for episode in sorted(waiting, key=lambda each: self._failed[each.uid])[:limit]:
            if ends is not None and monotonic() > ends:
                break
            try:
                done.append(self._finish(episode))
            except ModelError as error:
                missing = str(error)
                self._failed[episode.uid] += 1
                self.passes.note_missing(error)
                if isinstance(error, ModelUnavailableError):
                    break
        return Finished(
            episodes=len(done),
            waiting=len(self._waiting()),
            fact_ids=tuple(fact for facts, _ in done for fact in facts),
            superseded=tuple(fact for _, facts in done for fact in facts),
            missing=missing,
            routed=self.passes.tally,
        )

    def _waiting(self) -> list[Episode]:
        return self.ingest.store.look(lambda tx: tx.waiting())

    def _finish(self, episode: Episode) -> tuple[tuple[FactId, ...], tuple[FactId, ...]]:
        """Everything that the models have to say about one episode. Raises `ModelError` before anything of it is written."""
        rules, recent = self.ingest.rules_of(episode)
        contests = rivalries(self.ingest.store, self.ingest.embedder, rules) if self.passes.can_adjudicate else []
        contests = [contest for contest in contests if contest.fact.episode_id != episode.uid]
        around = Surroundings(known=self._known(episode, [*recent.candidates, *rules]), earlier=recent.texts[-_EARLIER:])
        found = self.passes.read(episode, rules, around, [contest.candidate for contest in contests])
        settled = [made for candidate in found.candidates if (made := self._settled(candidate, episode)) is not None]
        retired = [made for contest in contests if (made := self._retired(contest)) is not None]
        result = self.ingest.add_to(episode, [*settled, *retired])
        self.passes.note_used(found.tally)
        self._failed.pop(episode.uid, None)
        return result.fact_ids, result.superseded

    def _known(self, episode: Episode, near: Sequence[Candidate]) -> list[str]:
        """Names that a pronoun may mean, those named last first."""
        named = [name for c in reversed(near) for name in ((c.object, c.subject) if c.object_type == "person" else (c.subject,))]
        return list(dict.fromkeys([*named, *self.ingest.store.look(lambda tx: tx.entity_names(_KNOWN))]))[:_KNOWN]

    def _settled(self, candidate: Candidate, episode: Episode) -> Candidate | None:
        """A candidate for a slot of one value, as it stands to what the slot holds; `None` where it adds nothing."""
        is_one = candidate.cardinality is Cardinality.FUNCTIONAL and candidate.asserts
        held = current(self.ingest.store, candidate) if is_one else []
        said_at = episode.t_ref if candidate.valid_at is None else candidate.valid_at
        later = [fact.valid_at for fact in held if fact.valid_at > said_at]
        if later or not held:
            return replace(candidate, valid_to=min(later)) if later else candidate
        return self._judged(candidate, held[0].fact_text, episode) if self.passes.can_adjudicate else None

    def _judged(self, candidate: Candidate, held: str, episode: Episode) -> Candidate | None:
        """The candidate as the model says it stands to what is held: with the person's word behind it, beside it, or not at all."""
        verdict = self.passes.adjudicate(candidate.fact_text, held)
        if verdict is Verdict.REPLACES:
            return replace(candidate, trust=trust_of(episode.source))
        return replace(candidate, additive=True) if verdict is Verdict.BOTH else None

    def _retired(self, contest: Rivalry) -> Candidate | None:
        """The retraction of a value that a rule's statement replaces, where the model says so."""
        new, old = contest.candidate, contest.fact
        if self.passes.adjudicate(new.fact_text, old.fact_text) is not Verdict.REPLACES:
            return None
        return replace(new, object=old.object, act=Act.RETRACT, found_by="typer", rule=f"replaced by {value_key(new.object)}"[:80])
