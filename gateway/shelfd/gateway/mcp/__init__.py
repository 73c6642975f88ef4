"""The Model Context Protocol on the same socket: tools, resources and prompts over the memory's own methods."""

from shelfd.gateway.mcp.session import McpSession

__all__ = ["McpSession"]
