"""The tools an assistant sees."""

from __future__ import annotations

import contextlib
import inspect
import shlex
from collections.abc import Generator
from typing import Annotated, Any, cast

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field, ValidationError
from starlette.requests import HTTPConnection

from lean_memory.errors import LeanMemoryError, NotFoundError
from lean_memory_bridge import arguments, wording
from lean_memory_bridge.callers import Caller
from lean_memory_bridge.guard import CALLER
from lean_memory_bridge.maintenance import Maintenance
from lean_memory_bridge.schemas import (
    MAX_TEXT,
    Added,
    AddRequest,
    Answer,
    Cleared,
    ForgetOutcome,
    ForgetRequest,
    Found,
    History,
    Namespaces,
    SearchRequest,
    SourceName,
)
from lean_memory_bridge.verbs import Verbs

Calling = Context[Maintenance, Any]

Namespace = Annotated[
    str | None,
    Field(
        max_length=1000,
        description="Which memory: one per person or project. Leave it out to use the one set for this assistant, which is right as a rule.",
    ),
]
FactId = Annotated[str, Field(min_length=1, max_length=200, description="A fact's id, as memory_search and memory_add give it.")]

_SHOWN = 12
_SINCE_QUESTIONS_TRAVEL = "2026-07-28"
"""From this protocol version on a question to the person is part of the answer and needs no channel back to the client."""


def register(server: MCPServer[Maintenance]) -> None:
    """Give a server its tools."""
    reading = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    adding = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
    erasing = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
    forgetting = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)
    for tool, title, hints in (
        (memory_add, "Remember", adding),
        (memory_search, "Search the memory", reading),
        (memory_history, "How a fact came to be", reading),
        (memory_namespaces, "List the memories", reading),
        (memory_forget, "Erase a fact", forgetting),
        (memory_clear, "Remove a whole memory", erasing),
    ):
        server.add_tool(tool, title=title, description=inspect.getdoc(tool), annotations=hints)


async def memory_add(
    *,
    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_TEXT,
            description="What to remember, as it was said: one or more plain statements. First person ('I', 'my') means the person, so pass "
            "their own words on ('I moved to Porto in May'), not 'the user moved'. Several statements in one call are fine.",
        ),
    ],
    ctx: Calling,
    namespace: Namespace = None,
    t_ref: Annotated[
        int | str | None,
        Field(
            description="When it was said, if that was not now: an ISO date or time, or epoch milliseconds. 'Yesterday' is read from there."
        ),
    ] = None,
    source: Annotated[
        SourceName,
        Field(
            description="Who said it: 'user' for the person's own words, 'assistant' for your conclusions, 'tool' or 'doc' for what you read."
        ),
    ] = "user",
) -> Annotated[CallToolResult, Added]:
    """Store what the person says about themselves, their people, work, plans and preferences, so that every assistant can find it later.

    Call it whenever the person states something durable: a fact, a preference, a decision, a change, a correction. What changed supersedes what was
    there, and nothing is lost: do not look for the old value or delete it first. Do not store questions, small talk, code, secrets, or what the memory itself just told you.
    """
    with sentences():
        asked = AddRequest(text=text, namespace=namespace or None, t_ref=t_ref, source=source)
        result = await verbs_of(ctx).add(caller_of(ctx), asked, key_of(ctx))
    return answered(result, wording.added(result))


async def memory_search(
    *,
    query: Annotated[
        str, Field(min_length=1, max_length=20_000, description="What to look for, as a question or in words: 'where does Ana live?'")
    ],
    ctx: Calling,
    namespace: Namespace = None,
    k: Annotated[int, Field(ge=1, le=50, description="How many answers at most.")] = 5,
    as_of: Annotated[
        int | str | None, Field(description="What was true at this time instead of now: an ISO date or time, or epoch milliseconds.")
    ] = None,
    known_at: Annotated[
        int | str | None, Field(description="What the memory believed at this time, before what it learned later: same forms as as_of.")
    ] = None,
    include_history: Annotated[bool, Field(description="Also facts that are no longer current.")] = False,
    include_cold: Annotated[bool, Field(description="Also facts that were set aside as unimportant.")] = False,
) -> Annotated[CallToolResult, Found]:
    """Find what is known about the person and their world: current facts, or with as_of what was true at a past time.

    Call it before you answer anything that may depend on the person's life, work, preferences or earlier decisions. Each answer has its dates, its id,
    the words it was taken from and a relevance from 0 to 1. It says so when nothing relevant is known: then do not guess.
    """
    with sentences():
        asked = SearchRequest(
            query=query,
            namespace=namespace or None,
            k=k,
            as_of=as_of,
            known_at=known_at,
            include_history=include_history,
            include_cold=include_cold,
        )
        result = await verbs_of(ctx).search(caller_of(ctx), asked)
    return answered(result, wording.found(result))


async def memory_history(fact_id: FactId, ctx: Calling, namespace: Namespace = None) -> Annotated[CallToolResult, History]:
    """Show how a fact came to be: every value before and after it, oldest first, with dates and the reason of each change."""
    with sentences():
        result = await verbs_of(ctx).history(caller_of(ctx), namespace or None, fact_id)
    return answered(result, wording.history(result))


async def memory_namespaces(ctx: Calling) -> Annotated[CallToolResult, Namespaces]:
    """List the separate memories (namespaces) there are, and the one used when a call names none."""
    caller = caller_of(ctx)
    with sentences():
        result = Namespaces(namespaces=await verbs_of(ctx).namespaces(caller), default=caller.namespace)
    return answered(result, wording.namespaces(result))


class Erase(BaseModel):
    """The person's answer."""

    erase: bool = Field(
        title="Erase it", description="Yes erases it for good, in every copy the memory keeps; no leaves everything as it is."
    )


class CannotAsk(Erase):
    """No answer: the client has no way to put a question to the person."""

    erase: bool = False


class Answered(Erase):
    """No question: the person said yes to this very call, and its answer was lost."""

    erase: bool = True


async def ask_the_person(fact_id: str, namespace: str | None, ctx: Calling) -> Elicit[Erase] | CannotAsk | Answered:
    """Show the person exactly what would be erased, by the code that erases it."""
    verbs, caller = verbs_of(ctx), caller_of(ctx)
    with sentences():
        try:
            texts = await verbs.would_forget(caller, ForgetRequest(namespace=namespace or None, fact_id=fact_id))
        except NotFoundError:
            if await verbs.has_forgotten(caller, namespace or None, key_of(ctx)):
                return Answered()
            raise
    if not can_ask(ctx):
        return CannotAsk()
    more = f"\n… and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    shown = "\n".join(f"– {' '.join(text.split())}" for text in texts[:_SHOWN])
    return Elicit(f"Erase this from your memory for good?\n{shown}{more}", Erase)


async def memory_forget(
    fact_id: FactId,
    ctx: Calling,
    answer: Annotated[ElicitationResult[Erase], Resolve(ask_the_person)],
    namespace: Namespace = None,
) -> Annotated[CallToolResult, ForgetOutcome]:
    """Erase a fact and the words it came from for good, once the person has confirmed it. Only on the person's explicit wish.

    A fact that is merely out of date is not erased: say what is true now with memory_add, and the history stays. The person is asked through this
    client; where it cannot ask, nothing is erased yet and the answer says how the person can confirm it.
    """
    caller = caller_of(ctx)
    where = namespace or caller.namespace
    match answer:
        case AcceptedElicitation(data=Erase(erase=True)):
            with sentences():
                erased = await verbs_of(ctx).forget(caller, ForgetRequest(namespace=where, fact_id=fact_id), key_of(ctx))
            return answered(ForgetOutcome(forgotten=True, erased=erased), wording.forgotten(erased))
        case AcceptedElicitation(data=CannotAsk()):
            return await _left_to_the_person(ctx, where, fact_id)
        case _:
            return answered(ForgetOutcome(forgotten=False), "The person did not confirm it; nothing was erased.")


async def _left_to_the_person(ctx: Calling, where: str, fact_id: str) -> CallToolResult:
    """Have the erasure wait among the proposals; what was said and is no fact the person erases in a terminal."""
    head = "Nothing is erased yet: the person has to confirm it, and this client has no way to ask them."
    if "." in fact_id:
        raise ToolError(f"{head} Tell them to run this in a terminal: lean-memory forget {shlex.quote(fact_id)} -n {shlex.quote(where)}")
    with sentences():
        proposal = await maintenance_of(ctx).propose_forget(caller_of(ctx), where, fact_id)
    return answered(
        ForgetOutcome(forgotten=False, proposal_id=proposal.id),
        f"{head} It waits among the proposals: they confirm it in the window of the memory, or in a terminal with "
        f"lean-memory decide {shlex.quote(proposal.id)} approve -n {shlex.quote(where)}",
    )


async def memory_clear(
    namespace: Annotated[str, Field(min_length=1, max_length=1000, description="The memory to remove. It has to be named.")], ctx: Calling
) -> Annotated[CallToolResult, Cleared]:
    """Remove a whole memory (namespace) with everything in it. Cannot be undone. Only on the person's explicit wish, for exactly this name."""
    with sentences():
        result = await verbs_of(ctx).clear(caller_of(ctx), namespace)
    return answered(result, wording.cleared(result))


def caller_of(ctx: Calling) -> Caller:
    """Who is calling: whoever the guard let in."""
    return cast("Caller", request_of(ctx).scope[CALLER])


def key_of(ctx: Calling) -> str | None:
    """The key by which a call is known when it is sent again, if it has one."""
    return request_of(ctx).headers.get("idempotency-key")


def verbs_of(ctx: Calling) -> Verbs:
    """What the server may do."""
    return ctx.request_context.lifespan_context.verbs


def maintenance_of(ctx: Calling) -> Maintenance:
    """The same for maintenance and review."""
    return ctx.request_context.lifespan_context


@contextlib.contextmanager
def sentences() -> Generator[None]:
    """Hand the sentence of an error to the assistant; anything else is a crash, whose text stays here."""
    try:
        yield
    except ValidationError as error:
        raise ToolError(arguments.sentence(cast("list[dict[str, Any]]", error.errors(include_url=False, include_input=False)))) from error
    except LeanMemoryError as error:
        raise ToolError(str(error)) from error


def request_of(ctx: Calling) -> HTTPConnection:
    """The HTTP request that brought a call."""
    return cast("HTTPConnection", ctx.request_context.request)


def answered(structured: Answer, text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured.model_dump(mode="json"))


def can_ask(ctx: Calling) -> bool:
    """Whether this client can put a form before the person, on this connection."""
    capabilities = ctx.client_capabilities
    asking = capabilities.elicitation if capabilities is not None else None
    if asking is None or (asking.form is None and asking.url is not None):
        return False
    return ctx.session.can_send_request or is_version_at_least(ctx.protocol_version or "", _SINCE_QUESTIONS_TRAVEL)
