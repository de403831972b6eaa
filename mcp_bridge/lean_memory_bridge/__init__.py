"""The one service that every assistant shares: MCP and HTTP on this computer only, and what finds it and talks to it."""
