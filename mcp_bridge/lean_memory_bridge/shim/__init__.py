"""What an MCP client starts: messages on standard input and output on one side, the service's `/mcp` on the other. Standard library alone."""
