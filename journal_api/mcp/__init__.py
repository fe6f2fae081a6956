"""`journal-api mcp`: the journal as tools of the Model Context Protocol, for AI agents (docs/agents.md).

Only server.py imports the SDK, which the extra `mcp` installs.
"""
