"""`/api/v1/retention`: how long things are kept, where the person says so. None of the rules erases by itself."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from lean_memory.retention import Rule
from lean_memory_bridge.routes.custody import done
from lean_memory_bridge.routes.parts import TheOwner, TheParts
from lean_memory_bridge.schemas.retention import Concerned, ConcernedText, Retention, RuleRequest, RuleView

router = APIRouter(prefix="/api/v1/retention", tags=["custody"])

_SHOWN = 200


@router.get("")
async def rules(parts: TheParts, owner: TheOwner) -> Retention:
    """The rules that hold; none unless the person set some."""
    found = await parts.verbs.read(owner, "retention", parts.verbs.memory.retention)
    return Retention(rules=tuple(map(_view, found.rules)), problems=found.problems)


@router.post("")
async def set_rule(asked: RuleRequest, parts: TheParts, owner: TheOwner) -> RuleView:
    """Let a rule hold, for what is old from the next nightly run on; the same namespace, client and act again change its days."""
    memory = parts.verbs.memory

    def work() -> Rule:
        return memory.set_retention(namespace=asked.namespace, client=asked.client, days=asked.days, act=asked.act)

    return _view(await done(parts, owner, "set-retention", asked.namespace, work))


@router.post("/preview")
async def preview(asked: RuleRequest, parts: TheParts, owner: TheOwner) -> Concerned:
    """What such a rule would be about today. Changes nothing."""
    memory = parts.verbs.memory

    def work() -> list[tuple[str, str]]:
        return memory.would_retain(namespace=asked.namespace, client=asked.client, days=asked.days, act=asked.act)

    found = await parts.verbs.read(owner, "retention", work)
    return Concerned(total=len(found), texts=tuple(ConcernedText(namespace=name, text=text) for name, text in found[:_SHOWN]))


@router.delete("/{rule}")
async def remove(rule: Annotated[str, Path(max_length=64)], parts: TheParts, owner: TheOwner) -> RuleView:
    """Let a rule hold no longer; what was put away by it stays so until it is taken back."""
    return _view(await done(parts, owner, "remove-retention", None, lambda: parts.verbs.memory.remove_retention(rule)))


def _view(rule: Rule) -> RuleView:
    return RuleView.model_validate(rule)
