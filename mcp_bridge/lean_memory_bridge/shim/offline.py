"""What a client is told while there is no service: it is greeted all the same, and every tool says why it cannot work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

Message = Mapping[str, object]

_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_TOOLS = {
    "memory_add": "Store what the person says, so that every assistant can find it later.",
    "memory_search": "Find what is known about the person and their world.",
    "memory_history": "How a fact came to be and what became of it.",
    "memory_namespaces": "List the memories there are.",
    "memory_forget": "Erase a fact for good.",
    "memory_clear": "Remove a whole memory.",
    "memory_maintenance_run": "Tidy a memory, or show what that would do.",
    "memory_maintenance_status": "How maintenance of a memory stands.",
    "memory_review_queue": "What waits for the person's decision.",
    "memory_review_decide": "Record what the person decided.",
}
_NOTHING: Mapping[str, Message] = {
    "ping": {},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "prompts/list": {"prompts": []},
}
_METHOD_NOT_FOUND = -32601
_NO_SERVICE = -32000


def answer_without_service(request: Message, reason: str) -> Message:
    """The answer to a request that nobody else can answer; `reason` is the sentence for the person."""
    method = request.get("method")
    match method:
        case "initialize":
            result = _greeting(request, reason)
        case "tools/list":
            result = {"tools": [{"name": name, "description": about, "inputSchema": {"type": "object"}} for name, about in _TOOLS.items()]}
        case "tools/call":
            result = {"content": [{"type": "text", "text": reason}], "isError": True}
        case "ping" | "resources/list" | "resources/templates/list" | "prompts/list":
            result = _NOTHING[str(method)]
        case "resources/read" | "prompts/get":
            return failure(request.get("id"), _NO_SERVICE, reason)
        case _:
            # Newer clients first ask for something that older servers do not know, and then greet in the old way.
            return failure(request.get("id"), _METHOD_NOT_FOUND, f"{method} needs the memory service. {reason}")
    return {"jsonrpc": "2.0", "id": request.get("id"), "result": result}


def failure(identifier: object, code: int, sentence: str) -> Message:
    """A JSON-RPC error."""
    return {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": sentence}}


def _greeting(request: Message, reason: str) -> Mapping[str, object]:
    params = request.get("params")
    wanted = cast("Message", params).get("protocolVersion") if isinstance(params, dict) else None
    return {
        "protocolVersion": wanted if wanted in _VERSIONS else _VERSIONS[-1],
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": "lean-memory", "title": "Lean Memory", "version": _version()},
        "instructions": reason,
    }


def _version() -> str:
    # Takes a third of the time that a shim needs to start, and is hardly ever needed.
    from importlib import metadata

    try:
        return metadata.version("lean-memory-desktop")
    except metadata.PackageNotFoundError:
        return "0"
