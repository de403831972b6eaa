"""`lean-memory forget` and `clear`: shown first, asked about, then erased for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lean_memory.errors import NotFoundError
from lean_memory_desktop.cli.console import ask, can_ask, complain, say, write_json
from lean_memory_desktop.cli.json_form import forgotten_form
from lean_memory_desktop.cli.opening import find_fact, open_memory, short_id
from lean_memory_desktop.cli.options import DEFAULT_NAMESPACE, BadUseError, Exit, Options

if TYPE_CHECKING:
    from lean_memory import Fact, ForgetResult, Memory


def forget(options: Options) -> int:
    """Erase facts, what one message taught, or all about one entity."""
    _check_one_target(options)
    with open_memory(options) as memory:
        doomed = _doomed(memory, options)
        if not doomed:
            raise NotFoundError(f"There is nothing of the kind in {options.namespace!r}; nothing was erased.")
        if not _agreed(options, f"These {len(doomed)} facts, and the sentences they came from, will be erased for good:", doomed):
            return Exit.FAILED
        results = _erase(memory, options, doomed)
    if options.json:
        write_json(
            {
                "namespace": options.namespace,
                "fact_ids": [fact.id for fact in doomed],
                "erased": [forgotten_form(result) for result in results],
            }
        )
    else:
        _report(results)
    return Exit.FINE


def clear(options: Options) -> int:
    """Erase a whole namespace."""
    namespace = options.words[0] if options.words else options.namespace
    if not options.words and namespace == DEFAULT_NAMESPACE and "namespace" not in vars(options):
        raise BadUseError("Say which namespace to erase, as in: lean-memory clear NAMESPACE. `lean-memory namespaces` lists them.")
    with open_memory(options) as memory:
        if namespace not in memory.namespaces():
            raise NotFoundError(f"There is no namespace {namespace!r}; `lean-memory namespaces` lists those there are.")
        everything = memory.facts(namespace, include_history=True, include_cold=True)
        if not _agreed(options, f"The whole namespace {namespace!r} ({len(everything)} facts) will be erased for good.", []):
            return Exit.FAILED
        memory.clear(namespace)
    if options.json:
        write_json({"namespace": namespace, "cleared": True})
    else:
        say(f"The namespace {namespace!r} is gone.")
    return Exit.FINE


def _check_one_target(options: Options) -> None:
    given = [bool(options.words), options.episode is not None, options.entity is not None, options.matching is not None]
    if sum(given) != 1:
        raise BadUseError("Say what to forget, in one way: ids of facts, --episode ID, --entity NAME or --matching QUESTION.")


def _doomed(memory: Memory, options: Options) -> list[Fact]:
    if options.words:
        return [find_fact(memory, options.namespace, given) for given in dict.fromkeys(options.words)]
    if options.matching is not None:
        hits = memory.search(options.namespace, options.matching, k=options.k, is_latest_only=False, include_cold=True)
        return [hit.fact for hit in hits]
    known = memory.facts(options.namespace, include_history=True, include_cold=True)
    if options.episode is not None:
        return [fact for fact in known if fact.episode_id == options.episode]
    wanted = _folded(options.entity or "")
    return [fact for fact in known if wanted in (_folded(fact.subject), _folded(fact.object))]


def _erase(memory: Memory, options: Options, doomed: list[Fact]) -> list[ForgetResult]:
    if options.episode is not None:
        return [memory.forget(options.namespace, episode_id=options.episode)]
    if options.entity is not None:
        return [memory.forget(options.namespace, entity=options.entity)]
    return [memory.forget(options.namespace, fact_id=fact.id) for fact in doomed]


def _agreed(options: Options, warning: str, doomed: list[Fact]) -> bool:
    if options.yes:
        return True
    if not can_ask():
        raise BadUseError("This erases for good, and there is no terminal to ask you at; add --yes if you mean it.")
    complain(warning)
    for fact in doomed:
        complain(f"{short_id(fact)}  {fact.fact_text}", indent=2)
    if ask("Erase? Type yes to go on:").casefold() in ("yes", "y"):
        return True
    complain("Nothing was erased.")
    return False


def _report(results: list[ForgetResult]) -> None:
    say(
        f"Erased: {sum(result.facts for result in results)} facts, {sum(result.passages for result in results)} passages of "
        f"{sum(result.episodes for result in results)} messages. They will not be learned again from the same sentence."
    )
    backups = sorted({name for result in results for name in result.backups_holding_copies})
    if backups:
        say("These backups still hold a copy; delete them if it must go there too:")
        for name in backups:
            say(name, indent=2)


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()
