"""`journal-api mcp`: the journal for AI agents, over the Model Context Protocol."""

import os
import signal
import sys
from functools import partial

import click

from journal_api.cli.common import with_settings
from journal_api.settings import Settings


@click.command("mcp")
@click.option("--write", is_flag=True, help="Let agents write grades, notes, tags and checklist answers.")
@with_settings
def serve_agents(settings: Settings, write: bool) -> None:
    """Serve the journal to an AI agent on standard input and output (MCP), read-only.

    With JOURNAL_URL and JOURNAL_KEY, through the server at that address; otherwise from the database file.
    """
    try:
        import anyio

        from journal_api.mcp import clients, server
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise click.ClickException(f"{package} is not installed: pip install 'trading-journal-api[mcp]'") from None
    if os.environ.get("JOURNAL_URL") and click.get_current_context().params["db"]:
        raise click.UsageError("--db names a file, but JOURNAL_URL is set to a server: use one of them")
    if sys.stdin.isatty():
        click.echo("journal-api mcp is started by an MCP client, see docs/agents.md (Ctrl-D stops it)", err=True)
    connect = clients.choose(settings, os.environ)
    # Python's own handler would wait for the thread that reads standard input.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(partial(server.serve, connect, writes=write))
