"""Whatever is passed to the memory, what comes out is an answer or a sentence, and what is refused leaves nothing behind."""

from __future__ import annotations

import datetime as dt
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.errors import InvalidInputError, InvalidNamespaceError, LeanMemoryError
from support.embedding import WordEmbedder

HUGE = 10**5000
"""More digits than Python writes out."""

FAR = (
    dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=14))),
    dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-14))),
)
NOT_A_STRING = (3, 2.5, True, b"bytes", ["a"], {"a": 1}, object(), Path("a"), float("nan"))
HALF = ("\ud800", "half \udfff", "a\x00b")
NOT_A_COUNT = (0, -1, True, False, 2.5, float("nan"), float("inf"), "3", b"3", [3], 2**70, HUGE, -HUGE, object())
NOT_A_MOMENT = (
    float("nan"), float("inf"), 1.5e12, True, "2024-01-01", b"1", [1], 2**70, -(2**70), HUGE, dt.datetime(2024, 1, 1), dt.date(2024, 1, 1),
    dt.timedelta(1), *FAR, object(),
)  # fmt: skip
NOT_A_FLAG = (None, 1, 0, "yes", [], object(), float("nan"))
NOT_A_NAME = ("", None, *NOT_A_STRING, *HALF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that works, and for each argument what it must refuse."""

    valid: Mapping[str, object]
    refused: Mapping[str, tuple[object, ...]]


TARGETS = {"fact_id": (*NOT_A_STRING, *HALF), "episode_id": (*NOT_A_STRING, *HALF), "entity": (*NOT_A_STRING, *HALF, "", " ")}
ADDED: dict[str, tuple[object, ...]] = {
    "text": (None, "", " \n", *NOT_A_STRING, *HALF),
    "t_ref": NOT_A_MOMENT,
    "tz": (*NOT_A_STRING, *HALF, "Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Europe", "x" * 10_000),
    "source": (None, "", "robot", *NOT_A_STRING, *HALF),
    "client": ("", " ", *NOT_A_STRING, *HALF),
    "relearn": NOT_A_FLAG,
}
ITEMS: tuple[object, ...] = (
    None, 3, 2.5, b"bytes", ["I like tea."], {3}, object(), {}, {"words": "I like tea."}, {3: "I like tea."}, {None: 1, "text": "a"},
    *({"text": "I like rice.", name: value} for name, values in ADDED.items() for value in values),
)  # fmt: skip
CALLS = {
    "add": Call(valid={"namespace": "ana", "text": "I like rice."}, refused={"namespace": NOT_A_NAME, **ADDED}),
    "add_many": Call(
        valid={"namespace": "ana", "items": ["I like rice."]},
        refused={
            "namespace": NOT_A_NAME,
            "items": (None, 3, "I like rice.", b"bytes", {"text": "I like rice."}, object(), *(["I like wine.", item] for item in ITEMS)),
            "progress": (3, "print", object()),
        },
    ),
    "search": Call(
        valid={"namespace": "ana", "query": "tea"},
        refused={
            "namespace": NOT_A_NAME,
            "query": (None, "", " ", *NOT_A_STRING),
            "k": (None, 1001, *NOT_A_COUNT),
            "as_of": NOT_A_MOMENT,
            "known_at": NOT_A_MOMENT,
            "now": NOT_A_MOMENT,
            "is_latest_only": NOT_A_FLAG,
            "include_cold": NOT_A_FLAG,
            "recipe": ("", "no such recipe", *NOT_A_STRING, *HALF),
        },
    ),
    "facts": Call(
        valid={"namespace": "ana"},
        refused={
            "namespace": NOT_A_NAME,
            "subject": (*NOT_A_STRING, *HALF),
            "predicate": (*NOT_A_STRING, *HALF),
            "as_of": NOT_A_MOMENT,
            "known_at": NOT_A_MOMENT,
            "include_history": NOT_A_FLAG,
            "include_cold": NOT_A_FLAG,
            "limit": NOT_A_COUNT,
        },
    ),
    "history": Call(
        valid={"namespace": "ana", "fact_id": "FACT"}, refused={"namespace": NOT_A_NAME, "fact_id": (None, *NOT_A_STRING, *HALF)}
    ),
    "explain": Call(
        valid={"namespace": "ana", "fact_id": "FACT"}, refused={"namespace": NOT_A_NAME, "fact_id": (None, *NOT_A_STRING, *HALF)}
    ),
    "finish_queued": Call(
        valid={"namespace": "ana"},
        refused={
            "namespace": NOT_A_NAME,
            "limit": NOT_A_COUNT[1:],
            "seconds": (True, float("nan"), float("inf"), "3", [3], HUGE, object()),
        },
    ),
    "catch_up_vectors": Call(
        valid={"namespace": "ana"},
        refused={
            "namespace": NOT_A_NAME,
            "limit": NOT_A_COUNT[1:],
            "seconds": (True, float("nan"), float("inf"), "3", [3], HUGE, object()),
            "progress": (3, "print", object()),
            "cancelled": (3, "no", object()),
        },
    ),
    "drop_old_vectors": Call(valid={"namespace": "ana"}, refused={"namespace": NOT_A_NAME}),
    "forget": Call(valid={"namespace": "ana", "fact_id": "FACT"}, refused={"namespace": NOT_A_NAME, **TARGETS}),
    "would_forget": Call(valid={"namespace": "ana", "fact_id": "FACT"}, refused={"namespace": NOT_A_NAME, **TARGETS}),
    "clear": Call(valid={"namespace": "ana"}, refused={"namespace": NOT_A_NAME}),
    "status": Call(valid={"namespace": "ana"}, refused={"namespace": ("", *NOT_A_STRING, *HALF)}),
    "check": Call(valid={"namespace": "ana"}, refused={"namespace": NOT_A_NAME}),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(root=tmp_path_factory.mktemp("told"), embedder=WordEmbedder()) as opened:
        opened.add("ana", "I like tea.")
        yield opened


def held(memory: Memory) -> object:
    return memory.namespaces(), [(s.facts, s.episodes, s.unfinished) for s in memory.status()], memory.facts("ana")


@pytest.mark.parametrize(("verb", "argument"), [(verb, argument) for verb, call in CALLS.items() for argument in call.refused])
def test_what_cannot_be_used_is_refused_in_a_sentence_and_nothing_is_stored(told: Memory, verb: str, argument: str) -> None:
    before = held(told)
    [fact] = told.facts("ana")
    call: Callable[..., object] = getattr(told, verb)
    for value in CALLS[verb].refused[argument]:
        given = {name: fact.id if usual == "FACT" else usual for name, usual in CALLS[verb].valid.items()} | {argument: value}
        if "forget" in verb and argument in ("episode_id", "entity"):
            del given["fact_id"]
        kind = InvalidNamespaceError if argument == "namespace" else InvalidInputError
        try:
            with pytest.raises(kind) as caught:
                call(**given)
        except BaseException as error:
            raise AssertionError(f"{verb}({argument}={type(value).__name__} …): {type(error).__name__}") from error
        assert re.search(r"[.!?]$", str(caught.value))
    assert held(told) == before


LONG = "x" * 10_000


@pytest.mark.parametrize(
    "call",
    [
        lambda told: told.search("ana", "tea", recipe=LONG),
        lambda told: told.history("ana", LONG),
        lambda told: told.explain("ana", LONG),
        lambda told: told.history(LONG, "x"),
        lambda told: told.status(LONG),
        lambda told: told.forget("ana", fact_id=LONG),
        lambda told: told.forget("ana", episode_id=LONG),
        lambda told: told.forget("ana", entity=LONG),
        lambda told: told.add("ana", "I like tea.", source=LONG),
        lambda told: told.add("ana", "I like tea.", tz=LONG),
        lambda told: told.add_many("ana", [{"text": "I like tea.", LONG: 1}]),
    ],
)
def test_a_message_repeats_little_of_what_was_given(told: Memory, call: Callable[[Memory], object]) -> None:
    with pytest.raises(LeanMemoryError) as caught:
        call(told)
    assert len(str(caught.value)) < 500


def test_every_argument_of_every_verb_is_tried() -> None:
    for verb, call in CALLS.items():
        names = set(inspect.signature(getattr(Memory, verb)).parameters) - {"self"}
        assert names == set(call.refused), verb
    public = {name for name, member in inspect.getmembers(Memory, inspect.isfunction) if not name.startswith("_")}
    assert public - set(CALLS) == {"close", "namespaces", "other_files"}


@pytest.mark.parametrize("root", ["", " ", "a\x00b", b"bytes", 3, object(), "~no-such-person-here/x"])
def test_a_root_that_is_no_folder_is_refused(root: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInputError):
        Memory(root=root, embedder=WordEmbedder())  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_moments_at_the_edge_of_what_can_be_counted_are_answered(told: Memory) -> None:
    for moment in (dt.datetime(1, 1, 3, tzinfo=dt.UTC), dt.datetime(9999, 12, 29, tzinfo=dt.UTC), 0, -1):
        try:
            told.search("ana", "tea", as_of=moment, known_at=moment, now=moment)
            told.facts("ana", as_of=moment, known_at=moment)
        except LeanMemoryError as error:
            raise AssertionError(str(moment)) from error
