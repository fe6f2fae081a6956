"""`journal-api mcp`: the journal as tools for AI agents (docs/agents.md). Only server.py imports the SDK."""
