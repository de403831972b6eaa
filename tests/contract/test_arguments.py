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
REACHES: dict[str, tuple[object, ...]] = {
    "sentence": (*NOT_A_STRING, *HALF, "", " ", "?!"),
    "client": ("", " ", *NOT_A_STRING, *HALF),
    "since": NOT_A_MOMENT,
    "until": NOT_A_MOMENT,
}
NOT_A_PATH = ("", "a\x00b", 3, 2.5, True, b"bytes", ["a"], object())
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
BROUGHT: dict[str, tuple[object, ...]] = {
    "path": (None, *NOT_A_PATH),
    "kind": ("", "no such kind", *NOT_A_STRING, *HALF),
    "namespace": (*NOT_A_STRING, *HALF),
    "progress": (3, "print", object()),
    "cancelled": (3, "no", object()),
}
RULED: dict[str, tuple[object, ...]] = {
    "namespace": (*NOT_A_STRING, *HALF),
    "client": ("", " ", *NOT_A_STRING, *HALF),
    "days": (None, *NOT_A_COUNT),
    "act": (None, "", "erase", *NOT_A_STRING, *HALF),
}
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
    "forget": Call(
        valid={"namespace": "ana", "fact_id": "FACT"}, refused={"namespace": NOT_A_NAME, **TARGETS, "call": (*NOT_A_STRING, *HALF)}
    ),
    "has_forgotten": Call(
        valid={"namespace": "ana", "call": "mine"}, refused={"namespace": NOT_A_NAME, "call": (None, *NOT_A_STRING, *HALF)}
    ),
    "would_forget": Call(valid={"namespace": "ana", "fact_id": "FACT"}, refused={"namespace": NOT_A_NAME, **TARGETS}),
    "clear": Call(valid={"namespace": "ana"}, refused={"namespace": NOT_A_NAME}),
    "status": Call(valid={"namespace": "ana"}, refused={"namespace": ("", *NOT_A_STRING, *HALF)}),
    "check": Call(valid={"namespace": "ana"}, refused={"namespace": NOT_A_NAME}),
    "maintain": Call(
        valid={"namespace": "ana"},
        refused={
            "namespace": ("", *NOT_A_STRING, *HALF),
            "apply": NOT_A_FLAG,
            "auto_only": NOT_A_FLAG,
            "force": NOT_A_FLAG,
            "trigger": (None, *NOT_A_STRING, *HALF),
            "progress": (3, "print", object()),
            "cancelled": (3, "no", object()),
        },
    ),
    "cancel_maintenance": Call(valid={"namespace": "ana"}, refused={"namespace": NOT_A_NAME}),
    "maintenance_status": Call(valid={"namespace": "ana"}, refused={"namespace": NOT_A_NAME}),
    "review_queue": Call(
        valid={"namespace": "ana"},
        refused={
            "namespace": NOT_A_NAME,
            "kind": ("", "no such kind", *NOT_A_STRING, *HALF),
            "limit": (None, 1001, *NOT_A_COUNT),
            "entity": (*NOT_A_STRING, *HALF),
        },
    ),
    "proposal": Call(
        valid={"namespace": "ana", "proposal_id": "x"}, refused={"namespace": NOT_A_NAME, "proposal_id": (None, *NOT_A_STRING, *HALF)}
    ),
    "decided": Call(valid={"namespace": "ana"}, refused={"namespace": NOT_A_NAME, "limit": (None, 1001, *NOT_A_COUNT)}),
    "decide": Call(
        valid={"namespace": "ana", "proposal_id": "x", "verdict": "approve"},
        refused={
            "namespace": NOT_A_NAME,
            "proposal_id": (None, *NOT_A_STRING, *HALF),
            "verdict": (None, "", "perhaps", *NOT_A_STRING, *HALF),
            "edited_text": (*NOT_A_STRING, *HALF),
            "choice": (*NOT_A_STRING, *HALF),
            "revision": NOT_A_COUNT,
            "by": (None, *NOT_A_STRING, *HALF),
        },
    ),
    "ask_to_forget": Call(
        valid={"namespace": "ana", "fact_id": "FACT"}, refused={"namespace": NOT_A_NAME, "fact_id": (None, *NOT_A_STRING, *HALF)}
    ),
    "promote": Call(
        valid={"namespace": "ana", "fact_id": "FACT"}, refused={"namespace": NOT_A_NAME, "fact_id": (None, *NOT_A_STRING, *HALF)}
    ),
    "revert": Call(
        valid={"namespace": "ana", "run_or_proposal_id": "x"},
        refused={"namespace": NOT_A_NAME, "run_or_proposal_id": (None, *NOT_A_STRING, *HALF)},
    ),
    "backup": Call(
        valid={},
        refused={
            "path": NOT_A_PATH,
            "namespaces": (["ana", 3], ["ana", None], ["ana", ""]),
            "occasion": (None, "", "now and then", *NOT_A_STRING, *HALF),
        },
    ),
    "scrub_backups": Call(valid={"namespace": "ana"}, refused={"namespace": NOT_A_NAME}),
    "restore": Call(valid={"path": "nothing here"}, refused={"path": (None, *NOT_A_PATH), "namespace": (*NOT_A_STRING, *HALF)}),
    "forget_all": Call(valid={"namespace": "ana", "client": "nobody"}, refused={"namespace": NOT_A_NAME, **REACHES}),
    "would_forget_all": Call(valid={"namespace": "ana", "client": "nobody"}, refused={"namespace": NOT_A_NAME, **REACHES}),
    "export": Call(
        valid={"namespace": "ana", "path": "PLACE"},
        refused={"namespace": NOT_A_NAME, "path": (None, *NOT_A_PATH), "passphrase": ("", *NOT_A_STRING, *HALF)},
    ),
    "import_": Call(
        valid={"path": "PLACE"},
        refused={
            "path": (None, *NOT_A_PATH),
            "namespace": (*NOT_A_STRING, *HALF),
            "apply": NOT_A_FLAG,
            "passphrase": (*NOT_A_STRING, *HALF),
        },
    ),
    "bring_in": Call(valid={"path": "nothing here"}, refused=BROUGHT),
    "preview_bring_in": Call(valid={"path": "nothing here"}, refused=BROUGHT),
    "would_restore": Call(valid={"path": "nothing here"}, refused={"path": (None, *NOT_A_PATH), "namespace": (*NOT_A_STRING, *HALF)}),
    "verify_backup": Call(valid={"path": "nothing here"}, refused={"path": (None, *NOT_A_PATH)}),
    "set_retention": Call(valid={"days": 30}, refused=RULED),
    "would_retain": Call(valid={"days": 30}, refused=RULED),
    "remove_retention": Call(valid={"rule_id": "x"}, refused={"rule_id": (None, *NOT_A_STRING, *HALF)}),
    "tellers": Call(valid={"namespace": "ana"}, refused={"namespace": NOT_A_NAME}),
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
        usual = {"FACT": fact.id, "PLACE": str(told.root.with_name("taken out.leanmem"))}
        given = {name: usual.get(str(given), given) for name, given in CALLS[verb].valid.items()} | {argument: value}
        if "forget" in verb and argument in ("episode_id", "entity"):
            del given["fact_id"]
        if argument == "sentence":
            del given["client"]
        kind = (
            InvalidNamespaceError if argument == "namespace" and verb not in ("restore", "would_restore", "import_") else InvalidInputError
        )
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
    assert public - set(CALLS) == {"close", "namespaces", "other_files", "older_files", "backups", "drop_old_backups", "retention"}


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
