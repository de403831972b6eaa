"""The real GLiNER2 library loads a model and reads texts with it; only the weights are made up."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from lean_memory.domain import Instant, Source
from lean_memory.errors import ModelError
from lean_memory.extraction import gliner
from lean_memory.extraction.dates import Anchor
from lean_memory.extraction.pipeline import extract
from lean_memory.extraction.told import told
from lean_memory.models.local import LocalGliner, load_gliner
from lean_memory.models.ports import Markup
from support import tiny_gliner

TEXTS = ["Ada Lovelace joined Acme Corp in Berlin on 3 May 2026.", "", "I live in Porto with my dog Rex."]
LABELS = ["person", "organization", "place"]
RELATIONS = ["works at", "lives in"]


@pytest.fixture(scope="module", params=["span", "boundary"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_gliner.make(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture(scope="module")
def model(folder: Path) -> LocalGliner:
    return load_gliner(folder)


def test_each_text_gets_its_own_reading_and_a_blank_one_an_empty_reading(model: LocalGliner) -> None:
    found = model.read(TEXTS, labels=LABELS, relations=RELATIONS, threshold=0.0)
    assert len(found) == 3
    # Weights that mean nothing mark something or other somewhere.
    assert any(m.entities or m.relations for m in found)
    assert found[1] == Markup()


def test_spans_lie_in_the_text_names_are_those_asked_for_and_scores_are_shares(model: LocalGliner) -> None:
    for text, markup in zip(TEXTS, model.read(TEXTS, labels=LABELS, relations=RELATIONS, threshold=0.1), strict=True):
        assert all(0 <= e.start < e.end <= len(text) and 0 <= e.score <= 1 and e.label in LABELS for e in markup.entities)
        ends = [end for relation in markup.relations for end in (relation.head, relation.tail)]
        assert all(0 <= start < end <= len(text) for start, end in ends)
        assert all(relation.name in RELATIONS and 0 <= relation.score <= 1 for relation in markup.relations)


def test_a_higher_threshold_lets_less_through(model: LocalGliner) -> None:
    low, high = (model.read(TEXTS[:1], labels=LABELS, relations=RELATIONS, threshold=t)[0] for t in (0.1, 0.999))
    assert len(high.entities) <= len(low.entities)
    assert not high.relations


def test_a_batch_larger_than_one_pass_keeps_its_order(model: LocalGliner) -> None:
    texts = [f"Ada Lovelace joined Acme Corp number {n}." for n in range(19)]
    one = [model.read([text], labels=LABELS, relations=RELATIONS, threshold=0.1)[0] for text in texts]
    many = model.read(texts, labels=LABELS, relations=RELATIONS, threshold=0.1)
    assert [[(e.label, e.start, e.end) for e in m.entities] for m in many] == [[(e.label, e.start, e.end) for e in m.entities] for m in one]


def test_what_the_model_marks_goes_through_the_guards_whatever_it_is(model: LocalGliner) -> None:
    text = "Ada Lovelace used to work at Acme Corp. If I won, I would live in Rome. I live in Porto with my dog Rex."
    t_ref = Instant(1_760_000_000_000)
    rules = extract(text, t_ref=t_ref, tz="UTC", source=Source.USER)
    said = told(text, rules.candidates)
    made = [c for s, m in zip(said, gliner.marked(model, said), strict=True) for c in gliner.found(s, m, Anchor(t_ref=t_ref, tz="UTC"))]
    assert all(c.found_by == "gliner" and 0 < c.confidence <= 0.85 for c in made)
    assert not [c for c in made if "Rome" in c.object]


def test_a_folder_without_a_model_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_gliner(tmp_path)


def test_offline_an_unknown_hub_id_is_refused_without_a_connection(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("tried to connect")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_gliner("nobody/no-such-model", offline=True)
