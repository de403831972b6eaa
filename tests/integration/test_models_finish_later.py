"""What the rules make is stored at once; a model adds to it later, through Ollama's own client and protocol, and never by a guess."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.domain import Fact, Trust
from lean_memory.errors import ModelUnavailableError
from lean_memory.models.ollama import OllamaTyping
from lean_memory.models.ports import FoundEntity, FoundRelation, Markup
from lean_memory.passes import Passes
from support import ollama_server as server
from support.embedding import WordEmbedder
from support.moments import day
from support.ollama_server import fact

HARD = "Since the navy let me go I pay the bills through Tarrant."
TARRANT = server.with_facts(fact("user", "works_at", "Tarrant", "I pay the bills through Tarrant"))

FAILURES: dict[str, server.Reply] = {
    "prose": server.says("Sure! The speaker seems to work at Tarrant."),
    "truncated": server.says('{"facts": [{"subject": "us', done_reason="length"),
    "half an answer that claims to be whole": server.says('{"facts": [{"subject": "us'),
    "another schema": server.answers({"facts": [{"who": "user", "what": "works at Tarrant"}]}),
    "no facts": server.answers({"result": "ok"}),
    "hang": server.hangs,
    "drip": server.drips,
    "babble": server.babbles,
    "missing model": server.lacks_model,
    "overloaded": server.refuses(503, "server busy"),
    "dies midway": server.fails_midway,
    "breaks off": server.breaks_off,
    "no protocol": server.streams("<html>not here</html>"),
}


def with_typing(root: Path, url: str, timeout: float = 0.5) -> Memory:
    return Memory(root=root, embedder=WordEmbedder(), passes=Passes(typing=lambda: OllamaTyping("tiny", host=url, timeout=timeout)))


def shown(facts: Sequence[Fact]) -> list[tuple[str, str, str]]:
    return [(f.subject, f.predicate, f.object) for f in facts]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_hard_sentence_waits_and_is_finished_later(root: Path) -> None:
    with server.serving(TARRANT) as running, with_typing(root, running.url, timeout=5) as memory:
        added = memory.add("ana", HARD)
        assert added.queued
        assert running.requests == []
        assert not memory.facts("ana", predicate="works_at")
        done = memory.finish_queued("ana")
        assert (done.episodes, done.waiting, done.missing) == (1, 0, "")
        (made,) = memory.facts("ana", predicate="works_at")
        assert made.object == "Tarrant"
        assert (made.found_by, made.is_inference, made.trust) == ("typer", True, Trust.INFERRED)
        assert made.reasons
        assert memory.finish_queued("ana").episodes == 0
        assert memory.check("ana") == []
        assert done.routed.share > 0


def test_what_the_rules_read_does_not_wait(root: Path) -> None:
    with server.serving(TARRANT) as running, with_typing(root, running.url) as memory:
        assert not memory.add("ana", "I work at Tarrant.").queued
        assert memory.finish_queued("ana").episodes == 0
        assert running.requests == []


@pytest.mark.parametrize("failure", FAILURES)
def test_whatever_the_server_does_the_rules_facts_stand_and_the_rest_is_finished_later(
    root: Path, failure: str, caplog: pytest.LogCaptureFixture
) -> None:
    with server.serving(FAILURES[failure]) as running, with_typing(root, running.url) as memory:
        memory.add("ana", "I work at Globex. " + HARD, t_ref=day(1))
        before = shown(memory.facts("ana", include_history=True))
        assert ("user", "works_at", "Globex") in before
        for number in range(3):
            done = memory.finish_queued("ana")
            assert (done.episodes, done.waiting) == (0, number + 1)
            assert done.missing
            assert memory.add("ana", HARD, t_ref=day(number + 2)).queued
        assert [f for f in memory.facts("ana", include_history=True) if f.found_by != "rules"] == []
        assert len(warnings(caplog)) == 1
        assert running.requests
    with server.serving(server.with_facts()) as running, with_typing(root, running.url, timeout=5) as memory:
        assert memory.finish_queued("ana").waiting == 0
        assert memory.check("ana") == []


def test_nobody_listening_is_told_once_and_finished_when_somebody_does(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    with server.serving(TARRANT) as gone:
        pass
    with with_typing(root, gone.url) as memory:
        for number in range(5):
            memory.add("ana", HARD, t_ref=day(number + 1))
            memory.finish_queued("ana")
        assert len(warnings(caplog)) == 1
    with server.serving(TARRANT) as running, with_typing(root, running.url, timeout=5) as memory:
        assert memory.finish_queued("ana").episodes == 5
        assert shown(memory.facts("ana", predicate="works_at")) == [("user", "works_at", "Tarrant")]


def test_an_unusable_answer_is_asked_for_once_more(root: Path) -> None:
    with server.serving(FAILURES["prose"], TARRANT) as running, with_typing(root, running.url, timeout=5) as memory:
        memory.add("ana", HARD)
        assert memory.finish_queued("ana").episodes == 1
        assert len(running.requests) == 2


def test_a_text_that_the_model_cannot_answer_does_not_hold_up_the_others(root: Path) -> None:
    with server.serving(FAILURES["prose"], FAILURES["prose"], TARRANT) as running, with_typing(root, running.url, timeout=5) as memory:
        memory.add("ana", "Since I lost my job the mornings feel long.", t_ref=day(1))
        memory.add("ana", HARD, t_ref=day(2))
        assert memory.finish_queued("ana", limit=1).episodes == 0
        assert memory.finish_queued("ana", limit=1).episodes == 1
        assert memory.finish_queued("ana", limit=0).waiting == 1


def test_a_guess_is_never_stored(root: Path) -> None:
    guess = server.with_facts(
        fact("user", "works_at", "Globex", "I pay the bills through Globex"), fact("Bob", "lives_in", "navy", "the navy")
    )
    with server.serving(guess) as running, with_typing(root, running.url, timeout=5) as memory:
        memory.add("ana", HARD)
        assert memory.finish_queued("ana").episodes == 1
        assert [f for f in memory.facts("ana", include_history=True) if f.found_by == "typer"] == []


VERDICTS: dict[str, list[str]] = {"replaces": ["Tarrant"], "both": ["Globex", "Tarrant"], "same": ["Globex"]}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_typed_fact_retires_what_is_known_only_where_the_model_says_that_it_replaces_it(root: Path, verdict: str) -> None:
    with server.serving(TARRANT, server.answers({"verdict": verdict})) as running, with_typing(root, running.url, timeout=5) as memory:
        memory.add("ana", "I work at Globex.", t_ref=day(1))
        memory.add("ana", HARD, t_ref=day(10))
        memory.finish_queued("ana")
        assert sorted(f.object for f in memory.facts("ana", predicate="works_at")) == VERDICTS[verdict]
        assert [f.object for f in memory.facts("ana", predicate="works_at", as_of=day(5))] == ["Globex"]
        assert memory.check("ana") == []


def test_what_was_said_before_something_newer_retires_nothing_when_it_is_typed_late(root: Path) -> None:
    with server.serving(TARRANT) as running, with_typing(root, running.url, timeout=5) as memory:
        memory.add("ana", HARD, t_ref=day(1))
        memory.add("ana", "I work at Globex.", t_ref=day(10))
        memory.finish_queued("ana")
        assert [f.object for f in memory.facts("ana", predicate="works_at")] == ["Globex"]
        assert [f.object for f in memory.facts("ana", predicate="works_at", as_of=day(5))] == ["Tarrant"]


@pytest.mark.parametrize(
    ("verdict", "left"),
    [("replaces", ["light mode in every editor"]), ("both", ["dark mode in every editor", "light mode in every editor"])],
)
def test_a_contradiction_that_words_do_not_decide_is_put_to_the_model(root: Path, verdict: str, left: list[str]) -> None:
    with server.serving(server.with_facts()) as running, with_typing(root, running.url, timeout=5) as memory:
        memory.add("ana", "I prefer dark mode in every editor.", t_ref=day(1))
        assert memory.add("ana", "I prefer light mode in every editor.", t_ref=day(10)).queued
        running.replies[:] = [server.with_facts(), server.answers({"verdict": verdict})]
        memory.finish_queued("ana")
        assert sorted(f.object for f in memory.facts("ana", predicate="prefers")) == left
        assert len(memory.facts("ana", predicate="prefers", as_of=day(5))) == 1
        assert memory.check("ana") == []


def test_what_the_person_had_erased_is_not_learned_from_the_model(root: Path) -> None:
    with server.serving(TARRANT) as running, with_typing(root, running.url, timeout=5) as memory:
        memory.add("ana", HARD, t_ref=day(1))
        memory.finish_queued("ana")
        memory.forget("ana", fact_id=memory.facts("ana", predicate="works_at")[0].id)
        memory.add("ana", "Well, since the navy let me go I pay all of my bills through Tarrant.", t_ref=day(3))
        memory.finish_queued("ana")
        assert memory.facts("ana", predicate="works_at") == []


def test_an_episode_that_is_forgotten_while_it_waits_is_gone(root: Path) -> None:
    with server.serving(TARRANT) as running, with_typing(root, running.url, timeout=5) as memory:
        memory.forget("ana", episode_id=memory.add("ana", HARD).episode_id)
        assert memory.finish_queued("ana").waiting == 0
        assert running.requests == []


def test_without_models_nothing_waits_and_the_queue_of_another_process_is_left_alone(root: Path) -> None:
    with server.serving(TARRANT) as running, with_typing(root, running.url) as memory:
        memory.add("ana", HARD)
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        assert not memory.add("ana", HARD).queued
        assert memory.finish_queued("ana").waiting == 1
        assert memory.status("ana")[0].unfinished == 0


def test_a_library_that_is_not_installed_is_a_model_that_is_not_there(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    def load() -> OllamaTyping:
        raise ImportError("No module named 'ollama'", name="ollama")

    with Memory(root=root, embedder=WordEmbedder(), passes=Passes(typing=load)) as memory:
        assert memory.add("ana", HARD).queued
        assert "ollama" in memory.finish_queued("ana").missing
        assert len(warnings(caplog)) == 1


class Marking:
    """An entity and relation model that marks what it is told to."""

    def __init__(self, mark: Callable[[str], Markup]) -> None:
        self._mark = mark

    def read(self, texts: Sequence[str], *, labels: Sequence[str], relations: Sequence[str], threshold: float) -> list[Markup]:
        assert "person" in labels
        assert "works at" in relations
        assert 0 < threshold < 1
        return [self._mark(text) for text in texts]


def works_at(text: str) -> Markup:
    if "Tarrant" not in text:
        return Markup()
    start, me = text.index("Tarrant"), text.index("I ")
    tail = (start, start + len("Tarrant"))
    entity = FoundEntity(label="organization", start=tail[0], end=tail[1], score=0.9)
    return Markup(entities=(entity,), relations=(FoundRelation(name="works at", head=(me, me + 1), tail=tail, score=0.8),))


def test_gliner_adds_what_the_rules_missed_and_retires_nothing(root: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder(), passes=Passes(entities=lambda: Marking(works_at))) as memory:
        assert memory.add("ana", "These days I pay the bills through Tarrant.", t_ref=day(1)).queued
        memory.finish_queued("ana")
        (made,) = memory.facts("ana", predicate="works_at")
        assert (made.object, made.found_by, made.trust) == ("Tarrant", "gliner", Trust.INFERRED)
        memory.add("bea", "I work at Globex.", t_ref=day(1))
        memory.add("bea", "These days I pay the bills through Tarrant.", t_ref=day(5))
        memory.finish_queued("bea")
        assert [f.object for f in memory.facts("bea", predicate="works_at")] == ["Globex"]


def test_a_gliner_that_is_not_ready_leaves_everything_waiting(root: Path) -> None:
    def load() -> Marking:
        raise ModelUnavailableError("The worker is starting.")

    with Memory(root=root, embedder=WordEmbedder(), passes=Passes(entities=load)) as memory:
        memory.add("ana", "These days I pay the bills through Tarrant.")
        assert (memory.finish_queued("ana").episodes, memory.finish_queued("ana").waiting) == (0, 1)


def test_the_settings_name_the_models_and_by_default_there_are_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server.serving(TARRANT) as running:
        monkeypatch.setenv("LM_TYPING_MODEL", "tiny")
        monkeypatch.setenv("LM_OLLAMA_HOST", running.url)
        with Memory(root=root, embedder=WordEmbedder()) as memory:
            assert memory.add("ana", HARD).queued
            assert memory.finish_queued("ana").episodes == 1
        assert running.requests[0]["model"] == "tiny"
        monkeypatch.delenv("LM_TYPING_MODEL")
        with Memory(root=root, embedder=WordEmbedder()) as memory:
            assert not memory.add("ana", HARD).queued
