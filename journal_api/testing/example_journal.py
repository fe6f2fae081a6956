"""The example journal of tests and demonstrations (journal_api/rules/example_journal.toml)."""

from typing import TYPE_CHECKING

from aiosqlite import Connection

from journal_api.repositories import example_journal, users

if TYPE_CHECKING:  # httpx is not a dependency of the service
    import httpx

# A Saturday at noon UTC: the last trading day is Friday, October 30, in every time zone.
UNTIL = "2026-10-31T12:00:00.000000Z"


def seed(client: "httpx.Client") -> None:
    """Load the example, with trades until today. The base URL of `client` is /v1.

    The key needs the scope `write:trades`. Raises httpx.HTTPStatusError if the example is loaded already.
    """
    client.post("/example-journal").raise_for_status()


async def insert(db: Connection) -> None:
    """Write the example for the first user, with trades until October 30, 2026."""
    await example_journal.insert(db, await users.find_first_id(db), max_strategies=0, until=UNTIL)
