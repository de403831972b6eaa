"""`lean-memory review`, `decide`, `revert` and `promote`: what waits for the person, and what they decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lean_memory.errors import NotFoundError
from lean_memory_desktop.cli.console import ask, can_ask, complain, say, write_json
from lean_memory_desktop.cli.moments import show_moment
from lean_memory_desktop.cli.opening import find_fact, known_memory, zone_of
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

if TYPE_CHECKING:
    from lean_memory_bridge.schemas.maintenance import Decided, DecideRequest, ProposalView
    from lean_memory_desktop.cli.upkeep import LocalUpkeep, ServedUpkeep

    Upkeep = LocalUpkeep | ServedUpkeep

DECISIONS = ("approve", "reject", "edit", "promote", "choose")
_ONE_BY_ONE = ("conflict", "forget")
"""Kinds that are not approved by the dozen, unless named with --kind."""
_LIMIT = 20
_ALL = 1000


def review(options: Options) -> int:
    """Show what waits, grouped by whom it is about; with --decided what was decided last."""
    from lean_memory_desktop.cli.upkeep import opened

    with opened(options) as upkeep:
        if options.decided:
            return _past(options, upkeep)
        queue = upkeep.review(options.namespace, kind=options.kind, entity=options.entity, limit=options.limit or _LIMIT)
    if options.json:
        write_json(queue.model_dump(mode="json"))
        return Exit.FINE
    from lean_memory_bridge import review_wording

    for line in review_wording.review(queue, in_terminal=True).splitlines():
        say(line.lstrip(), indent=len(line) - len(line.lstrip()))
    shown = sum(len(group.proposals) for group in queue.groups)
    if queue.groups:
        say()
        say("lean-memory decide ID approve (or what the proposal offers) decides one; decide --entity NAME approve decides all about one.")
    if shown < queue.total:
        say(f"{queue.total - shown} more wait; --limit N shows more.")
    return Exit.FINE


def decide(options: Options) -> int:
    """Record a verdict on one proposal, or with --entity on all about one; 1 where any was not settled."""
    from lean_memory_desktop.cli.upkeep import opened

    with opened(options) as upkeep:
        if options.entity is not None:
            return _decide_all(options, upkeep)
        match options.words:
            case [given, verdict] if verdict in DECISIONS:
                proposal = _found(upkeep, options.namespace, given)
                if verdict == "approve" and not _may_erase(options, proposal):
                    return Exit.FAILED
                decided = upkeep.decide(options.namespace, proposal.id, _request(options, verdict, options.revision))
            case _:
                raise BadUseError(f"Use: lean-memory decide ID VERDICT, where VERDICT is {', '.join(DECISIONS[:-1])} or {DECISIONS[-1]}.")
    if options.json:
        write_json(decided.model_dump(mode="json"))
    else:
        _tell(decided)
    return _code([decided])


def revert(options: Options) -> int:
    """Take back a run, or a decision by its proposal's id."""
    from lean_memory_desktop.cli.upkeep import opened

    with opened(options) as upkeep:
        done = upkeep.revert(options.namespace, options.words[0])
    if options.json:
        write_json(done.model_dump(mode="json"))
    else:
        say(done.sentence)
    return Exit.FINE


def promote(options: Options) -> int:
    """Bring a fact back from the cold tier, and never put it away again."""
    from lean_memory_desktop.cli.upkeep import opened

    with known_memory(options) as memory:
        fact_id = find_fact(memory, options.namespace, options.words[0]).id
    with opened(options) as upkeep:
        promoted = upkeep.promote(options.namespace, fact_id)
    if options.json:
        write_json(promoted.model_dump(mode="json"))
    else:
        say(f"Back among everyday searches, and not put away again: {promoted.fact.fact_text}")
    return Exit.FINE


def _past(options: Options, upkeep: Upkeep) -> int:
    proposals = upkeep.decided(options.namespace, options.limit or _LIMIT)
    if options.json:
        write_json({"namespace": options.namespace, "proposals": [proposal.model_dump(mode="json") for proposal in proposals]})
        return Exit.FINE
    from lean_memory_bridge.review_wording import TITLES

    zone = zone_of(options)
    for proposal in proposals:
        when = "" if proposal.decided_at is None else f"{show_moment(proposal.decided_at, zone)}  "
        texts = " | ".join(fact.fact_text for fact in proposal.facts)
        say(f"{when}{proposal.state}: {proposal.entity}. {TITLES.get(proposal.kind, proposal.kind)}: {texts} [id {proposal.id}]")
    if not proposals:
        say(f"Nothing was decided yet in {options.namespace!r}.")
    return Exit.FINE


def _decide_all(options: Options, upkeep: Upkeep) -> int:
    match options.words:
        case ["approve" | "reject" as verdict]:
            pass
        case _:
            raise BadUseError("Use: lean-memory decide --entity NAME approve, or reject; other verdicts go to one proposal at a time.")
    queue = upkeep.review(options.namespace, kind=options.kind, entity=options.entity, limit=_ALL)
    about = [proposal for group in queue.groups for proposal in group.proposals]
    proposals = [proposal for proposal in about if verdict == "reject" or proposal.kind not in _ONE_BY_ONE or proposal.kind == options.kind]
    if not proposals:
        raise NotFoundError(f"Nothing about {options.entity!r} waits for that verdict in {options.namespace!r}.")
    if len(about) > len(proposals):
        complain(f"{len(about) - len(proposals)} more about {options.entity!r} you decide one by one: conflicts, and what would be erased.")
    if not _agreed(options, verdict, proposals):
        return Exit.FAILED
    results = [upkeep.decide(options.namespace, proposal.id, _request(options, verdict, proposal.revision)) for proposal in proposals]
    if options.json:
        write_json({"results": [result.model_dump(mode="json") for result in results]})
    else:
        for result in results:
            _tell(result)
    return _code(results)


def _request(options: Options, verdict: str, revision: int | None) -> DecideRequest:
    from lean_memory_bridge.schemas.maintenance import DecideRequest

    if (verdict == "edit") != (options.text is not None):
        raise BadUseError("The verdict edit comes with --text, the summary in your words, and no other does.")
    if (verdict == "choose") != (options.choice is not None):
        raise BadUseError("The verdict choose comes with --choice, one of the proposal's choices, and no other does.")
    given = {"decision": verdict, "edited_text": options.text, "choice": options.choice, "revision": revision}
    return DecideRequest.model_validate(given)


def _found(upkeep: Upkeep, namespace: str, given: str) -> ProposalView:
    """The one proposal whose id is `given` or ends with it."""
    try:
        return upkeep.proposal(namespace, given)
    except NotFoundError:
        queue = upkeep.review(namespace, kind=None, entity=None, limit=_ALL)
    found = [proposal for group in queue.groups for proposal in group.proposals if proposal.id.endswith(given)]
    if not found:
        raise NotFoundError(f"There is no proposal {given!r} in {namespace!r}; `lean-memory review` shows those that wait.")
    if len(found) > 1:
        raise BadUseError(f"{len(found)} proposals have ids that end with {given!r}; give more characters.")
    return found[0]


def _may_erase(options: Options, proposal: ProposalView) -> bool:
    """Whether the person meant it: a forgetting is the one decision that cannot be taken back."""
    return proposal.kind != "forget" or proposal.state != "pending" or _agreed(options, "erase for good", [proposal])


def _agreed(options: Options, verdict: str, proposals: Sequence[ProposalView]) -> bool:
    if options.yes:
        return True
    if not can_ask():
        raise BadUseError("There is no terminal to ask you at whether you mean all of this; add --yes if you do.")
    from lean_memory_bridge.review_wording import proposal_lines

    for proposal in proposals:
        for line in proposal_lines(proposal):
            complain(line.lstrip(), indent=len(line) - len(line.lstrip()))
    if ask(f"Really {verdict}? Type yes to go on:").casefold() in ("yes", "y"):
        return True
    complain("Nothing was decided.")
    return False


def _tell(decided: Decided) -> None:
    from lean_memory_bridge import review_wording

    if decided.outcome == "settled":
        say(review_wording.decided(decided))
    else:
        complain(decided.sentence)


def _code(results: Sequence[Decided]) -> int:
    return Exit.FINE if all(result.outcome == "settled" for result in results) else Exit.FAILED
