"""`lean-memory forget` and `clear`: shown first, asked about, then erased for good."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

from lean_memory.domain import WEAK_RELEVANCE, ForgetResult
from lean_memory.errors import NotFoundError
from lean_memory_bridge.custody_client import CustodyClient
from lean_memory_bridge.schemas import NOT_LOOKED_AT
from lean_memory_bridge.schemas.custody import ForgetAllRequest
from lean_memory_desktop.cli.console import ask, can_ask, complain, counted, say, write_json
from lean_memory_desktop.cli.json_form import forgotten_form
from lean_memory_desktop.cli.moments import read_moment
from lean_memory_desktop.cli.opening import (
    check_namespace,
    check_root,
    command_line,
    data_root,
    find_fact,
    is_passage,
    known_files,
    known_memory,
    no_namespace,
    zone_of,
)
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from lean_memory import Memory
    from lean_memory_desktop.cli.opening import AnyMemory


_MANIFEST = "manifest.json"
"""What makes a folder a backup."""


class _WideMemory:
    """Wide forgetting by the service, or in this process."""

    def __init__(self, memory: Memory | CustodyClient) -> None:
        self._memory = memory

    def would_forget_all(self, asked: ForgetAllRequest) -> list[str]:
        """What would go."""
        if isinstance(self._memory, CustodyClient):
            return list(self._memory.would_forget_all(asked))
        return self._memory.would_forget_all(asked.namespace, **_scope(asked))

    def forget_all(self, asked: ForgetAllRequest) -> ForgetResult:
        """Erase it."""
        if not isinstance(self._memory, CustodyClient):
            return self._memory.forget_all(asked.namespace, **_scope(asked))
        done = self._memory.forget_all(asked)
        return ForgetResult(
            facts=done.facts,
            episodes=done.episodes,
            passages=done.passages,
            entities=done.entities,
            tombstones=done.tombstones,
            backups_holding_copies=done.backups_holding_copies,
        )


class _Scope(TypedDict):
    sentence: str | None
    client: str | None
    since: int | None
    until: int | None


def _scope(asked: ForgetAllRequest) -> _Scope:
    return cast("_Scope", asked.model_dump(exclude={"namespace"}))


@contextmanager
def _wide_memory(options: Options) -> Generator[_WideMemory]:
    check_root(options)
    client = CustodyClient.find(data_root(options))
    if client is not None:
        check_namespace(options, lambda: client.namespaces().namespaces, client.status)
        yield _WideMemory(client)
        return
    with known_files(options) as memory:
        yield _WideMemory(memory)


class _Target(TypedDict, total=False):
    """One of the three ways to say what to forget."""

    fact_id: str
    episode_id: str
    entity: str


def forget(options: Options) -> int:
    """Erase facts, what one message taught, or all about one entity."""
    _check_one_target(options)
    if options.sentence is not None or _is_wide(options):
        return _forget_widely(options)
    with known_memory(options) as memory:
        targets = _targets(memory, options)
        sentences = list(dict.fromkeys(text for target in targets for text in memory.would_forget(options.namespace, **target)))
        if not _agreed(options, "This will be erased for good, wherever it stands, and what was learned from it:", sentences):
            return Exit.FAILED
        results = _erase(memory, options.namespace, targets)
    if options.json:
        ids = [target["fact_id"] for target in targets if "fact_id" in target]
        write_json({"namespace": options.namespace, "fact_ids": ids, "erased": [forgotten_form(result) for result in results]})
    else:
        _report(results, options)
    return Exit.FINE


def clear(options: Options) -> int:
    """Erase a whole namespace."""
    namespace = options.words[0] if options.words else options.namespace
    if len(options.words) > 1 or (not options.words and "namespace" not in vars(options)):
        raise BadUseError("Say which one namespace to erase, as in: lean-memory clear NAMESPACE. `lean-memory namespaces` lists them.")
    with known_memory(options) as memory:
        if namespace not in (there := memory.namespaces()):
            raise no_namespace(options, namespace, there)
        everything = memory.facts(namespace, include_history=True, include_cold=True)
        if not _agreed(options, f"The whole namespace {namespace!r} ({counted(len(everything), 'fact')}) will be erased for good.", []):
            return Exit.FAILED
        copies = memory.clear(namespace).copies
    if options.json:
        write_json({"namespace": namespace, "cleared": True, "copies": list(copies)})
    else:
        say(f"The namespace {namespace!r} is gone.")
        _name_copies(copies)
        say(NOT_LOOKED_AT)
    return Exit.FINE


def _check_one_target(options: Options) -> None:
    given = [
        bool(options.words),
        *(one is not None for one in (options.episode, options.entity, options.matching, options.sentence)),
        _is_wide(options),
    ]
    if sum(given) != 1:
        raise BadUseError(
            "Say what to forget, in one way: ids of facts, --episode ID, --entity NAME, --matching QUESTION, --sentence TEXT, or --from-client NAME, "
            "--since DATE and --until DATE together."
        )


def _is_wide(options: Options) -> bool:
    return any(one is not None for one in (options.from_client, options.since, options.until))


def _forget_widely(options: Options) -> int:
    """Erase a sentence, all of one client, or all between two dates."""
    zone = zone_of(options)
    asked = ForgetAllRequest(
        namespace=options.namespace,
        sentence=options.sentence,
        client=options.from_client,
        since=read_moment(options.since, "--since", zone),
        until=read_moment(options.until, "--until", zone),
    )
    with _wide_memory(options) as memory:
        if not _agreed(
            options, "This will be erased for good, wherever it stands, and what was learned from it:", memory.would_forget_all(asked)
        ):
            return Exit.FAILED
        result = memory.forget_all(asked)
    if options.json:
        write_json({"namespace": options.namespace, "fact_ids": [], "erased": [forgotten_form(result)]})
    else:
        _report([result], options)
    return Exit.FINE


def _targets(memory: AnyMemory, options: Options) -> list[_Target]:
    """What to forget, as arguments of `Memory.forget`."""
    if options.episode is not None:
        return [{"episode_id": options.episode}]
    if options.entity is not None:
        return [{"entity": options.entity}]
    if options.matching is not None:
        found = memory.search(options.namespace, options.matching, k=options.k, is_latest_only=False, include_cold=True)
        # A search gives what is nearest, however far; nobody means to erase that.
        hits = [hit for hit in found if hit.relevance >= WEAK_RELEVANCE]
        if not hits:
            raise NotFoundError(f"Nothing in {options.namespace!r} answers that closely; nothing was erased.")
        return [{"fact_id": hit.fact.id} for hit in hits]
    given = dict.fromkeys(options.words)
    return [{"fact_id": word if is_passage(word) else find_fact(memory, options.namespace, word).id} for word in given]


def _erase(memory: AnyMemory, namespace: str, targets: list[_Target]) -> list[ForgetResult]:
    results: list[ForgetResult] = []
    for target in targets:
        try:
            results.append(memory.forget(namespace, **target))
        except NotFoundError:
            # It was there a moment ago, when its sentences were listed; an earlier target has taken it along.
            if not results:
                raise
    return results


def _agreed(options: Options, warning: str, sentences: list[str]) -> bool:
    if options.yes:
        return True
    if not can_ask():
        raise BadUseError("This erases for good, and there is no terminal to ask you at, so nothing was erased; add --yes if you mean it.")
    complain(warning)
    for sentence in sentences:
        complain(sentence, indent=2)
    if ask("Erase? Type yes to go on:").casefold() in ("yes", "y"):
        return True
    complain("Nothing was erased.")
    return False


def _report(results: list[ForgetResult], options: Options) -> None:
    facts, passages = sum(result.facts for result in results), sum(result.passages for result in results)
    messages = sum(result.episodes for result in results)
    gone = f"{counted(facts, 'fact')}, {counted(passages, 'passage')} of {counted(messages, 'message')}"
    say(f"Erased: {gone}. They will not be learned again from the same sentence.")
    copies = {name for result in results for name in result.backups_holding_copies}
    backups = {name for name in copies if (Path(name).parent / _MANIFEST).is_file()}
    if backups:
        say("These backups were made before now and may hold it still:")
        for name in sorted(backups):
            say(Path(name).parent.name, indent=2)
        say(f"`{_scrubbing(options)}` makes them again without it.")
    _name_copies(copies - backups)
    say(NOT_LOOKED_AT)


def _scrubbing(options: Options) -> str:
    return command_line(options, "backup", "--scrub", *(["-n", options.namespace] if "namespace" in vars(options) else []))


def _name_copies(names: Iterable[str]) -> None:
    copies = sorted(set(names))
    if copies:
        say("These files may still hold a copy; delete them if it must go there too:")
        for name in copies:
            say(name, indent=2)
