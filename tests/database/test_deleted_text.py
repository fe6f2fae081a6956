"""What was deleted or overwritten is not in the file any more, once the log was folded into it."""

from pathlib import Path

import pytest
from conftest import opened
from factories import A_FILE, A_TRADE, Client, create_account, create_import, create_strategy, unwrap

from journal_api.settings import Settings

SECRET = "nobody-shall-read-this-again"
# In the row itself, beside others in a page, and on pages of their own.
LENGTHS = (1, 40, 500, 3000, 9000)


def note_of(length: int) -> str:
    return f"{SECRET} " + "x" * length


async def write_notes(client: Client) -> list[int]:
    """The ids of trades with notes between such that stay."""
    account_id = (await create_account(client))["id"]
    trades = [
        {"account_id": account_id, **A_TRADE, "notes": notes}
        for length in LENGTHS * 8
        for notes in (note_of(length), "stays " * 20)
    ]
    created = unwrap(await client.post("/trades/bulk", json={"trades": trades}))
    return [trade["id"] for trade in created if trade["notes"].startswith(SECRET)]


async def delete_trades(client: Client) -> None:
    for trade_id in await write_notes(client):
        assert (await client.delete(f"/trades/{trade_id}")).status_code == 204


async def overwrite_notes(client: Client) -> None:
    for number, trade_id in enumerate(await write_notes(client)):
        unwrap(await client.patch(f"/trades/{trade_id}", json={"notes": "short" * (number % 3) or None}))


async def undo_an_import(client: Client) -> None:
    header, row, _ = A_FILE.split("\n")
    rows = [f"{row},{note_of(length)}" for length in LENGTHS * 50]
    report = await create_import(client, "\n".join([f"{header},notes", *rows]))
    assert (await client.delete(f"/imports/{report['id']}")).status_code == 204


async def replace_setups(client: Client) -> None:
    setups = [{"name": f"{SECRET} {n}", "description": note_of(n * 100)} for n in range(50)]
    strategy = await create_strategy(client, setups=setups)
    unwrap(await client.patch(f"/strategies/{strategy['id']}", json={"setups": [{"name": "Other"}]}))


@pytest.mark.parametrize("use", [delete_trades, overwrite_notes, undo_an_import, replace_setups])
@pytest.mark.promise(25)
async def test_deleted_text_is_overwritten_in_the_file(settings: Settings, use: object) -> None:
    assert callable(use)
    async with opened(settings) as client:
        await use(client)
        was_there = traces_in(settings.db.parent)

    assert was_there > 0
    assert traces_in(settings.db.parent) == 0


def traces_in(folder: Path) -> int:
    return sum(file.read_bytes().count(SECRET.encode()) for file in folder.iterdir())
