"""A server for the official MCP conformance suite, behind the door and the transport of the product.

The suite wants tools, prompts and resources with fixed names and answers; the product has others. Here everything between the network and
a handler is the product's. `python -m support.conformance_server PORT` listens on 127.0.0.1 and adds the token itself, as the suite sends
none; run the suite with `--url http://127.0.0.1:PORT/mcp`. With a second argument, the data folder of a running service, it passes everything on to that.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as t
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lean_memory_bridge.callers import Callers
from lean_memory_bridge.client_book import ClientBook
from lean_memory_bridge.guard import Guard
from lean_memory_bridge.mcp_endpoint import McpEndpoint
from lean_memory_bridge.runtime import admin_token, find
from lean_memory_bridge.streams import Streams
from lean_memory_bridge.window import WindowDoor

Context = ServerRequestContext[Any, Any]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
TOKEN = "t" * 43


def text(words: str) -> t.TextContent:
    return t.TextContent(type="text", text=words)


def picture() -> t.ImageContent:
    return t.ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, kind: str, words: str) -> t.EmbeddedResource:
    return t.EmbeddedResource(type="resource", resource=t.TextResourceContents(uri=uri, mime_type=kind, text=words))


FIXED: dict[str, list[t.ContentBlock]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [picture()],
    "test_audio_content": [t.AudioContent(type="audio", data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        picture(),
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "json_schema_2020_12_tool": [text("fine")],
}
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
OPTIONS = ["option1", "option2", "option3"]
ENUMS = {
    "untitledSingle": {"type": "string", "enum": OPTIONS},
    "titledSingle": {"type": "string", "oneOf": [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]}},
}
USER = {
    "username": {"type": "string", "description": "User's response"},
    "email": {"type": "string", "description": "User's email address"},
}
SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}


async def logging_tool(ctx: Context, _: dict[str, Any]) -> list[t.ContentBlock]:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message("info", words, related_request_id=ctx.request_id)  # pyright: ignore[reportDeprecated]
    return [text("logged")]


async def progress_tool(ctx: Context, _: dict[str, Any]) -> list[t.ContentBlock]:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
    return [text("progressed")]


async def sampling_tool(ctx: Context, given: dict[str, Any]) -> list[t.ContentBlock]:
    asked = [t.SamplingMessage(role="user", content=text(given["prompt"]))]
    answer = await ctx.session.create_message(asked, max_tokens=100, related_request_id=ctx.request_id)  # pyright: ignore[reportDeprecated]
    return [text(f"LLM response: {answer.content}")]


def asking(properties: dict[str, Any]) -> Callable[[Context, dict[str, Any]], Awaitable[list[t.ContentBlock]]]:
    async def ask(ctx: Context, given: dict[str, Any]) -> list[t.ContentBlock]:
        form = {"type": "object", "properties": properties, "required": []}
        answer = await ctx.session.elicit_form(given.get("message", "Please tell"), form, related_request_id=ctx.request_id)
        return [text(f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}")]

    return ask


ACTING = {
    "test_tool_with_logging": logging_tool,
    "test_tool_with_progress": progress_tool,
    "test_sampling": sampling_tool,
    "test_elicitation": asking(USER),
    "test_elicitation_sep1034_defaults": asking(DEFAULTS),
    "test_elicitation_sep1330_enums": asking(ENUMS),
}
TAKES = {"test_sampling": "prompt", "test_elicitation": "message"}


async def list_tools(_: Context, __: Any) -> t.ListToolsResult:
    def schema(name: str) -> dict[str, Any]:
        if name == "json_schema_2020_12_tool":
            return SCHEMA_2020
        given = TAKES.get(name)
        return {"type": "object", "properties": {given: {"type": "string"}} if given else {}, "required": [given] if given else []}

    names = [*FIXED, *ACTING, "test_error_handling"]
    return t.ListToolsResult(tools=[t.Tool(name=name, description=name, input_schema=schema(name)) for name in names])


async def call_tool(ctx: Context, asked: t.CallToolRequestParams) -> t.CallToolResult:
    if asked.name in FIXED:
        return t.CallToolResult(content=FIXED[asked.name])
    if asked.name in ACTING:
        return t.CallToolResult(content=await ACTING[asked.name](ctx, asked.arguments or {}))
    return t.CallToolResult(content=[text("This tool intentionally returns an error for testing")], is_error=True)


async def list_resources(_: Context, __: Any) -> t.ListResourcesResult:
    kinds = {"test://static-text": "text/plain", "test://static-binary": "image/png", "test://watched-resource": "text/plain"}
    return t.ListResourcesResult(resources=[t.Resource(uri=uri, name=uri, mime_type=kind) for uri, kind in kinds.items()])


async def list_templates(_: Context, __: Any) -> t.ListResourceTemplatesResult:
    return t.ListResourceTemplatesResult(resource_templates=[t.ResourceTemplate(uri_template="test://template/{id}/data", name="template")])


async def read_resource(_: Context, asked: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    uri = str(asked.uri)
    if uri == "test://static-binary":
        return t.ReadResourceResult(contents=[t.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)])
    if uri.startswith("test://template/"):
        number = uri.split("/")[3]
        words = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
        return t.ReadResourceResult(contents=[t.TextResourceContents(uri=uri, mime_type="application/json", text=words)])
    words = "This is the content of the static text resource."
    return t.ReadResourceResult(contents=[t.TextResourceContents(uri=uri, mime_type="text/plain", text=words)])


PROMPTS = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
}


async def list_prompts(_: Context, __: Any) -> t.ListPromptsResult:
    prompts = [
        t.Prompt(name=name, description=name, arguments=[t.PromptArgument(name=one, required=True) for one in takes])
        for name, takes in PROMPTS.items()
    ]
    return t.ListPromptsResult(prompts=prompts)


async def get_prompt(_: Context, asked: t.GetPromptRequestParams) -> t.GetPromptResult:
    given = asked.arguments or {}
    parts: list[t.ContentBlock] = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")],
        "test_prompt_with_embedded_resource": [
            embedded(given.get("resourceUri", "test://none"), "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [picture(), text("Please analyze the image above.")],
    }[asked.name]
    return t.GetPromptResult(messages=[t.PromptMessage(role="user", content=part) for part in parts])


async def nothing(_: Context, __: Any) -> t.EmptyResult:
    return t.EmptyResult()


async def complete(_: Context, __: Any) -> t.CompleteResult:
    return t.CompleteResult(completion=t.Completion(values=["paris", "park"], total=2, has_more=False))


def server() -> Server[Any]:
    return Server(
        "conformance",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=nothing,
        on_unsubscribe_resource=nothing,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=nothing,
    )


class WithToken:
    """Adds the token that the suite does not send."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", f"Bearer {TOKEN}".encode())]}
        await self._app(scope, receive, send)


def own_app(port: int, folder: Path) -> ASGIApp:
    endpoint = McpEndpoint(server)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with endpoint.running():
            yield

    app = Starlette(routes=[Route("/mcp", endpoint=endpoint, methods=["GET", "POST", "DELETE"])], lifespan=lifespan)
    callers = Callers(TOKEN, ClientBook(folder))
    return WithToken(Guard(app, port=port, callers=callers, streams=Streams(), window=WindowDoor(TOKEN)))


class PassOn:
    """Passes every request on to a running service, with its token; Host and Origin as they came, save for the port."""

    def __init__(self, port: int, root: Path) -> None:
        live = find(root)
        assert live is not None
        self._own, self._live, self._token = str(port).encode(), live, admin_token(root)
        self._client = httpx2.AsyncClient(timeout=None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = bytearray()
        while True:
            message: Message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        theirs = str(self._live.port).encode()
        headers = [(name, value.replace(b":" + self._own, b":" + theirs)) for name, value in scope["headers"] if name != b"content-length"]
        headers.append((b"authorization", f"Bearer {self._token}".encode()))
        url = self._live.address + scope["path"]
        async with self._client.stream(scope["method"], url, content=bytes(body), headers=headers) as answer:
            await send({"type": "http.response.start", "status": answer.status_code, "headers": list(answer.headers.raw)})
            async for part in answer.aiter_raw():
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def main() -> None:
    port = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        passing = len(sys.argv) > 2
        app: ASGIApp = PassOn(port, Path(sys.argv[2])) if passing else own_app(port, Path(folder))
        config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning", lifespan="off" if passing else "on")
        asyncio.run(uvicorn.Server(config).serve())


if __name__ == "__main__":
    main()
