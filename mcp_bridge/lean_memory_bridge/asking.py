"""Questions to the person that a tool waits for: they end when the service does."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, PrivateAttr

from lean_memory_bridge.maintenance import Maintenance
from lean_memory_bridge.runtime import ENDING
from lean_memory_bridge.tools import key_of

_ENDED = "The memory service ended while the person was being asked, so nothing was done. Ask again."

Schema = TypeVar("Schema", bound=BaseModel)


class Call(Context[Maintenance, Any]):
    """One call of a tool, made of the library's own view of it. A question that is open when `stopping` is set ends in an error."""

    _stopping: asyncio.Event = PrivateAttr()

    def __init__(self, of: Context[Maintenance, Any], stopping: asyncio.Event) -> None:
        super().__init__(
            request_context=of._request_context,
            mcp_server=of._mcp_server,
            input_params=of._input_params,
            subscriptions=of._subscriptions,
        )
        self._stopping = stopping

    async def elicit(self, message: str, schema: type[Schema]) -> ElicitationResult[Schema]:
        """What the person answers."""
        asked = asyncio.ensure_future(super().elicit(message, schema))
        ended = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({asked, ended}, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return asked.result()
        finally:
            asked.cancel()
            ended.cancel()
        if key_of(self) is not None:
            # A shim will ask the next instance, which puts the question once more.
            raise MCPError(code=ENDING, message=_ENDED)
        raise ToolError(_ENDED)
