"""`journal-api serve`: run the server."""

import asyncio
import os

import click
import msgspec

from journal_api import __version__
from journal_api.cli.common import on_database, printable, with_settings
from journal_api.database.database import Database
from journal_api.database.migrations import prepare
from journal_api.repositories import api_keys, users
from journal_api.server.server import serve as run_server
from journal_api.settings import Settings
from journal_api.values.api_keys import SCOPES

FIRST_KEY = """\
Open your journal. The key after # cannot be displayed again; keep it for other programs:

    {url}/#key={key}
"""


@click.command()
@click.option("--host", help="The address to listen on; default: JOURNAL_HOST.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on; default: JOURNAL_PORT.")
@click.option(
    "--first-key",
    is_flag=True,
    help="If the database has no API key, create one and print the address that opens the page with it.",
)
@click.option(
    "--announce",
    is_flag=True,
    help="Print a JSON line once requests are answered, and stop when standard input ends.",
)
@with_settings
def serve(settings: Settings, host: str | None, port: int | None, first_key: bool, announce: bool) -> None:
    """Run the HTTP server until it is stopped."""
    if announce and first_key:
        raise click.UsageError(
            "--announce prints its JSON line only: create the key with `journal-api keys create`"
        )
    settings = msgspec.structs.replace(
        settings,
        host=settings.host if host is None else host,
        port=settings.port if port is None else port,
    )

    async def make_first_key(database: Database) -> str | None:
        async with database.transaction() as db:
            if not await api_keys.is_empty(db):
                return None
            user_id = await users.id_of(db, None)
            assert user_id is not None, "a database is made with its owner"
            return await api_keys.insert(db, user_id, "first key", SCOPES)

    prepared = prepare(settings)

    def announce_to_user(url: str) -> None:
        # Only now: a key that is made before the port is known to be free might never be printed.
        key = asyncio.run(on_database(settings, make_first_key))[0] if first_key else None
        if key:
            click.echo(FIRST_KEY.format(url=openable(url), key=key))
        click.echo(f"Journal {printable(settings.db)} on {url}/v1 (Ctrl-C stops it)")

    def announce_to_parent(url: str) -> None:
        line = {"url": url, "pid": os.getpid(), "version": __version__}
        click.echo(msgspec.json.encode(line).decode())

    on_ready = announce_to_parent if announce else announce_to_user
    run_server(settings, on_ready, for_parent=announce, prepared=prepared)


def openable(url: str) -> str:
    """Return the URL for a browser on this machine: a server on all addresses is also on the loopback one."""
    return url.replace("://0.0.0.0:", "://127.0.0.1:").replace("://[::]:", "://[::1]:")
