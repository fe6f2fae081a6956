"""`journal-api keys`: create, list and revoke API keys."""

import re
import sys
from datetime import UTC, datetime, timedelta

import click
from aiosqlite import Connection

from journal_api.cli.common import NAME, Decoded, command_line, find_user, printable, run_in_database, with_settings
from journal_api.errors import NotFound
from journal_api.repositories import api_keys
from journal_api.settings import Settings
from journal_api.values.api_keys import parse_scopes
from journal_api.values.clock import as_text


def read_expiry(text: str) -> str:
    """The timestamp that many days from now, for text such as `90d`. Raises ValueError."""
    match = re.fullmatch(r"([1-9][0-9]{0,4})d", text)
    if match is None:
        raise ValueError("must be a number of days such as 90d")
    return as_text(datetime.now(UTC) + timedelta(days=int(match[1])))


SCOPE_LIST = Decoded(parse_scopes)


@click.group("keys")
def keys_group() -> None:
    """Create, list and revoke API keys."""


@keys_group.command("create")
@click.argument("name", type=NAME)
@click.option(
    "--scopes",
    type=SCOPE_LIST,
    help="all, read, or a list such as read:tags,write:tags; on a terminal it is asked for.",
)
@click.option("--user", type=NAME, help="The owner of the key; default: the first user.")
@click.option("--expires", type=Decoded(read_expiry), metavar="90d", help="When the key expires; default: never.")
@with_settings
def create_key(settings: Settings, name: str, scopes: list[str] | None, user: str | None, expires: str | None) -> None:
    """Create a key and print it; it cannot be displayed again."""
    scopes = ask_scopes() if scopes is None else scopes

    async def create(db: Connection) -> str:
        user_id = await find_user(db, user)
        return await api_keys.insert(db, user_id, name, scopes, expires)

    click.echo(run_in_database(settings, lambda database: database.write(create)))


@keys_group.command("list")
@with_settings
def list_keys(settings: Settings) -> None:
    """List the keys: id, user, name, last four characters, state, scopes, day of the last use."""
    now = as_text(datetime.now(UTC))
    for key in run_in_database(settings, lambda database: api_keys.list_all(database.reader)):
        if key.revoked_at:
            state = f"revoked {key.revoked_at[:10]}"
        elif key.expires_at:
            state = f"{'expired' if key.expires_at <= now else 'expires'} {key.expires_at[:10]}"
        else:
            state = "active"
        used = f"used {key.last_used_on}" if key.last_used_on else "never used"
        columns = (str(key.key_id), key.user, key.name, f"...{key.last_four}", state, key.scopes, used)
        click.echo("\t".join(map(printable, columns)))


@keys_group.command("revoke")
@click.argument("key_id", metavar="ID", type=click.IntRange(1, 2**63 - 1))
@with_settings
def revoke_key(settings: Settings, key_id: int) -> None:
    """Revoke a key; the next request with it is rejected."""

    async def revoke(db: Connection) -> None:
        if not await api_keys.revoke(db, key_id):
            raise NotFound(f"there is no key {key_id}; `journal-api keys list` lists them")

    run_in_database(settings, lambda database: database.write(revoke))


def ask_scopes() -> list[str]:
    """Ask what the key may do until the answer names scopes. Raises UsageError without a terminal."""
    if not sys.stdin.isatty():
        line = command_line(*sys.argv[1:], "--scopes", "all")
        raise click.UsageError(f"say what the key may do: {line}")
    question = "Scopes: all, read, or a list such as read:tags,write:tags"
    # Standard output has the key alone.
    scopes: list[str] = click.prompt(question, default="all", err=True, type=SCOPE_LIST)
    return scopes
