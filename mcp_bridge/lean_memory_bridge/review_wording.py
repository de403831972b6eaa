"""Maintenance and its proposals as people and assistants read them: sentences with dates and ids."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from lean_memory_bridge.schemas.maintenance import Decided, MaintenanceJob, MaintenanceState, ProposalView, Review, ScheduleView
from lean_memory_bridge.wording import fact_line, moment, one_line

TITLES = {
    "merge": "Say the same: keep the first, put the others into it",
    "demotion": "Of little use: put away, out of everyday searches",
    "summary": "Say in short what several facts say",
    "same_entity": "Two names for one",
    "conflict": "Cannot both be current",
    "forget": "Erase for good, as an assistant was asked to",
}
_VERDICTS = {
    "approve": "do what is proposed",
    "reject": "leave everything as it is, and do not propose it again",
    "edit": "approve the summary in these words",
    "promote": "keep these facts at hand, for good",
    "choose": "settle it in favour of",
}
_DECISIONS = {
    "merge": "approve or reject",
    "demotion": "approve, reject or promote (keep for good)",
    "summary": "approve, edit (with edited_text) or reject",
    "same_entity": "approve, choose (with choice) or reject",
    "conflict": "choose (with choice) or reject",
    "forget": "approve or reject",
}
_IN_TERMINAL = {
    **_DECISIONS,
    "summary": "approve, edit --text TEXT, or reject",
    "same_entity": "approve, choose --choice CHOICE, or reject",
    "conflict": "choose --choice CHOICE, or reject",
}
_SHOWN = 8
_EFFECTS = 3


def job(result: MaintenanceJob) -> str:
    """What maintenance did, or how far it is."""
    if result.state == "running":
        done = "" if result.progress is None else f" ({result.progress:.0%})"
        return f"It goes on in the background{done}. memory_maintenance_status tells how far it is; what it did can be taken back."
    return result.sentence + (" With apply=true it is done." if result.dry_run else "")


def state(result: MaintenanceState) -> str:
    """How maintenance stands."""
    lines = [f"Maintenance of “{result.namespace}”:"]
    if result.running is not None:
        done = "" if result.running.progress is None else f", {result.running.progress:.0%} done"
        lines.append(f"- a run goes on since {moment(result.running.started_at)} ({result.running.trigger}{done})")
    lines += [f"- {_last(result)}", f"- {_waiting(result.pending)}", f"- {schedule(result.schedule)}"]
    if result.cold:
        lines.append(f"- {result.cold} fact(s) are put away; a search that includes cold facts finds them")
    return "\n".join(lines)


def schedule(view: ScheduleView) -> str:
    """When the next nightly run is."""
    if view.paused:
        return "the nightly tidying is paused"
    if view.next_at is None:
        return f"the nightly tidying is set to {view.at}, and no schedule runs at present"
    if view.waiting_for:
        return f"the nightly tidying of {view.at} waits for {view.waiting_for}"
    return f"next run: {moment(view.next_at)}"


def review(queue: Review, *, in_terminal: bool = False) -> str:
    """The queue; `in_terminal` names a verdict as the command takes it."""
    if not queue.groups:
        return f"Nothing waits for a decision in “{queue.namespace}”." + (f" ({queue.total} of other kinds do.)" if queue.total else "")
    lines = [f"{queue.total} proposal(s) wait for the person in “{queue.namespace}”. Nothing is done unless they decide."]
    for group in queue.groups:
        lines += ["", f"About {one_line(group.entity)}:"]
        for number, proposal in enumerate(group.proposals, start=1):
            lines += proposal_lines(proposal, f"{number}. ", in_terminal=in_terminal)
    return "\n".join(lines)


def proposal_lines(proposal: ProposalView, mark: str = "", *, in_terminal: bool = False) -> list[str]:
    """One proposal with its evidence."""
    lines = [f"{mark}{TITLES.get(proposal.kind, proposal.kind)} [{proposal.kind}; id {proposal.id}; until {moment(proposal.expires_at)}]"]
    lines += [f"   - {fact_line(fact)}" for fact in proposal.facts[:_SHOWN]]
    if len(proposal.facts) > _SHOWN:
        lines.append(f"   - and {len(proposal.facts) - _SHOWN} more")
    if proposal.text:
        lines.append(f"   proposed: “{one_line(proposal.text)}”")
    if proposal.lost:
        lines.append(f"   it would no longer say: {'; '.join(one_line(lost) for lost in proposal.lost)}")
    lines.append(f"   why: {one_line(proposal.reason)}{_figures(proposal)}")
    for effect in proposal.effects[:_EFFECTS]:
        lines.append(f"   the search “{one_line(effect.query)}” would give {_texts(effect.after)} instead of {_texts(effect.before)}")
    if proposal.choices:
        lines.append(f"   choices: {'; '.join(proposal.choices)}")
    lines.append(f"   decide: {(_IN_TERMINAL if in_terminal else _DECISIONS).get(proposal.kind, 'approve or reject')}")
    return lines


def question(proposal: ProposalView, decision: str, edited_text: str | None, choice: str | None) -> str:
    """What the person is asked before a verdict is recorded as theirs."""
    given = {"edit": f": “{one_line(edited_text or '')}”", "choose": f" “{one_line(choice or '')}”"}.get(decision, "")
    return "\n".join(
        [
            f"About {one_line(proposal.entity)}, in the memory “{proposal.namespace}”:",
            *proposal_lines(proposal)[:-1],
            f"Record as your decision – {_VERDICTS[decision]}{given}?",
        ]
    )


def decided(result: Decided) -> str:
    """What came of a decision."""
    proposal = result.proposal
    if result.outcome != "settled" or proposal is None or proposal.kind == "forget":
        return result.sentence
    where = f" -n {shlex.quote(proposal.namespace)}"
    return f"{result.sentence} To take it back: lean-memory revert {shlex.quote(proposal.id)}{where}"


def _last(result: MaintenanceState) -> str:
    last = result.last
    if last is None or last.ended_at is None:
        return "it was never tidied"
    said = "" if last.report is None else f": {one_line(last.report.sentence)}"
    back = "; taken back since" if last.reverted_at is not None else ""
    return f"last run {moment(last.ended_at)} ({last.state}; id {last.id}{back}){said}"


def _waiting(pending: dict[str, int]) -> str:
    if not pending:
        return "nothing waits for a decision"
    return f"{sum(pending.values())} proposal(s) wait for a decision: {', '.join(f'{count} {kind}' for kind, count in pending.items())}"


def _figures(proposal: ProposalView) -> str:
    figures = [] if proposal.cosine is None else [f"likeness {proposal.cosine:.2f}"]
    figures += [f"{name} {score:.2f}" for name, score in proposal.scores.items()]
    return f" ({', '.join(figures)})" if figures else ""


def _texts(texts: Iterable[str]) -> str:
    return " | ".join(f"“{one_line(text)}”" for text in texts) or "nothing"
