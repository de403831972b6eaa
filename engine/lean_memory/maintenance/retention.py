"""What the person's rules of retention ask of a run: facts that are to be put away, and facts of which to ask whether they may be erased."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from lean_memory.domain import Fact, FactId, Instant
from lean_memory.maintenance import demoting
from lean_memory.maintenance.drafts import Draft
from lean_memory.maintenance.vital import is_vital
from lean_memory.proposals import ProposalKind
from lean_memory.retention import Act, Rule
from lean_memory.store import tiers
from lean_memory.store.namespace_store import NamespaceStore, ReadTransaction, WriteTransaction
from lean_memory.store.retention_rows import old_facts


def to_put_away(store: NamespaceStore, rules: Sequence[Rule], now: Instant) -> list[Fact]:
    """The facts that leave the latest searches by a rule. What matters too much to go unasked is not among them."""
    found: dict[FactId, Fact] = {}
    for rule in rules:
        if rule.act is Act.PUT_AWAY:
            found |= {fact.id: fact for fact in _old(store, rule, now) if not is_vital(fact)}
    return list(found.values())


def to_ask_about(store: NamespaceStore, rules: Sequence[Rule], now: Instant) -> Iterator[Draft]:
    """Drafts that ask whether old facts may be erased; each fact once, the oldest first. Looks at what waits already when it is begun."""
    asked: set[FactId] = set()
    for rule in rules:
        for fact in _old(store, rule, now) if rule.act is Act.ASK else ():
            if fact.id not in asked:
                asked.add(fact.id)
                yield _draft(fact, rule)


def concerned(store: NamespaceStore, rule: Rule, now: Instant) -> list[Fact]:
    """The facts that a rule would be about today."""
    return to_put_away(store, [rule], now) if rule.act is Act.PUT_AWAY else _old(store, rule, now)


def put_away(tx: WriteTransaction, fact: Fact, *, run: int) -> bool:
    """Put a fact away, unless it was kept, or stands otherwise, since it was looked for; gives whether that was done."""
    row = tiers.holding_row(tx.connection, fact.id, tx.recorded_at)
    return row is not None and demoting.demote(tx, (row, fact.id), run=run)


def _old(store: NamespaceStore, rule: Rule, now: Instant) -> list[Fact]:
    return store.look(partial(_read, rule=rule, now=now, namespace=store.name))


def _read(tx: ReadTransaction, *, rule: Rule, now: Instant, namespace: str) -> list[Fact]:
    only_hot = rule.act is Act.PUT_AWAY
    return old_facts(tx.connection, namespace, client=rule.client, before=rule.before(now), now=now, only_hot=only_hot)


def _draft(fact: Fact, rule: Rule) -> Draft:
    whose = "" if rule.client is None else f" for what “{rule.client}” passes on"
    return Draft(
        kind=ProposalKind.FORGET,
        entity=fact.subject,
        facts=(fact,),
        reason=f"By your rule{whose}: for {rule.days} days nobody has said it. Approving erases it for good; undecided, it stays.",
    )
