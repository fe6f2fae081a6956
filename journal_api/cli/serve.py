"""`journal-api serve`: run the server."""

import asyncio
import os
from pathlib import Path
from urllib.parse import urlsplit

import click
import msgspec
from aiosqlite import Connection

from journal_api import __version__
from journal_api.cli.common import command_line, open_and_run, printable, show_migration, with_settings
from journal_api.cli.exit_status import exit_with_reason
from journal_api.cli.sign_in_link import format_link
from journal_api.database.migrations import prepare
from journal_api.repositories import api_keys, users
from journal_api.server.lan import AUTOMATIC, find_lan_address
from journal_api.server.server import serve as run_server
from journal_api.settings import Settings
from journal_api.values.api_keys import SCOPES
from journal_api.values.sign_in import OneTimeCode, SignInOptions

FIRST_KEY = """\
This key is for curl and other programs. It cannot be displayed again:

    {key}
"""


@click.command()
@click.option("--host", help="The address to listen on; default: JOURNAL_HOST.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on; default: JOURNAL_PORT.")
@click.option(
    "--watch",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Import the files that appear in this folder; default: JOURNAL_WATCH.",
)
@click.option(
    "--first-key",
    is_flag=True,
    help="Print a link that opens the page signed in, and a first API key if the database has none.",
)
@click.option(
    "--lan",
    is_flag=False,
    flag_value=AUTOMATIC,
    metavar="[ADDRESS]",
    help="Serve the local network too, and print a QR code that signs a phone in. Not encrypted.",
)
@click.option(
    "--announce", is_flag=True, help="Print a JSON line once requests are served, and stop when standard input ends."
)
@with_settings
@exit_with_reason()
def serve(
    settings: Settings,
    host: str | None,
    port: int | None,
    watch: Path | None,
    first_key: bool,
    lan: str | None,
    announce: bool,
) -> None:
    """Run the HTTP server until it is stopped."""
    if announce and (first_key or lan):
        raise click.UsageError("--announce prints its JSON line only: create the key with `journal-api keys create`")
    settings = msgspec.structs.replace(
        settings,
        host=settings.host if host is None else host,
        port=settings.port if port is None else port,
        watch=watch or settings.watch,
    )
    if lan is not None:
        lan = find_lan_address(lan)
        settings = msgspec.structs.replace(settings, allowed_hosts=(*settings.allowed_hosts, lan))

    async def make_first_key(db: Connection) -> str | None:
        if not await api_keys.is_empty(db):
            return None
        return await api_keys.insert(db, await users.find_first_id(db), "first key", SCOPES)

    prepared = prepare(settings, showing=show_migration)
    db = os.path.abspath(settings.db)
    command = command_line("keys", "create", "page", "--scopes", "all", "--db", db)
    sign_in = SignInOptions(OneTimeCode(), command)

    def announce_to_user(url: str) -> None:
        if first_key or lan:
            address = f"http://{lan}:{urlsplit(url).port}" if lan else find_browser_url(url)
            click.echo(format_link(address, sign_in.code.issue(), is_for_phone=lan is not None))
        # Only now: a key that is made before the port is known to be free might never be printed.
        if first_key:
            key = asyncio.run(open_and_run(settings, lambda database: database.write(make_first_key)))()[0]
            if key:
                click.echo(FIRST_KEY.format(key=key))
        click.echo(f"Journal {printable(settings.db)} on {url}/v1 (Ctrl-C stops it)")

    def announce_to_parent(url: str) -> None:
        line = {"url": url, "pid": os.getpid(), "version": __version__}
        click.echo(msgspec.json.encode(line).decode())

    on_ready = announce_to_parent if announce else announce_to_user
    run_server(settings, on_ready, for_parent=announce, prepared=prepared, sign_in=sign_in, lan=lan)


def find_browser_url(url: str) -> str:
    """Return the URL for a browser on this machine: a server on all addresses is also on the loopback one."""
    return url.replace("://0.0.0.0:", "://127.0.0.1:").replace("://[::]:", "://[::1]:")
