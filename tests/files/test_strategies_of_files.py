"""New trades of a file and strategies that are restricted to accounts: docs/api.md T11, docs/imports.md."""

from typing import Any

import httpx
import pytest
from factories import (
    create_account,
    create_copy_group,
    create_import,
    create_strategy,
    details_of,
    error_of,
    send_file,
    unwrap,
)

HEADER = "account,symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at,strategy,setup"
REASON = "strategy is restricted to other accounts"


def row(account: str, day: int, strategy: str, setup: str = "") -> str:
    times = f"2026-01-{day:02}T14:00:00Z,2026-01-{day:02}T15:00:00Z"
    return f"{account},ES,long,1,100,101,{times},{strategy},{setup}"


def file_of(*rows: str) -> str:
    return "\n".join([HEADER, *rows, ""])


@pytest.fixture
async def restrictions(client: httpx.AsyncClient) -> dict[str, dict[str, Any]]:
    """The members of a strategy that restrict it to the account Own, in two ways; Other is in no group."""
    own = await create_account(client, "Own")
    await create_account(client, "Other")
    group = await create_copy_group(client, account_ids=[own["id"]])
    return {"account": {"account_id": own["id"]}, "group": {"copy_group_id": group["id"]}}


restricted = pytest.mark.parametrize("way", ["account", "group"])


@restricted
@pytest.mark.parametrize("setup", ["", "Retest"])
@pytest.mark.parametrize("dry_run", ["true", "false"])
async def test_a_new_trade_of_another_account_is_an_error_of_its_row(
    client: httpx.AsyncClient, restrictions: Any, way: str, setup: str, dry_run: str
) -> None:
    await create_strategy(client, "Breakout", setups=[{"name": "Retest"}], **restrictions[way])
    file = file_of(row("Own", 5, "Breakout", setup), row("Other", 6, "Breakout", setup))

    response = await send_file(client, file, dry_run=dry_run)

    if dry_run == "true":
        rows = unwrap(response)["rows"]
        assert [(line["verdict"], line["reason"]) for line in rows] == [("new", None), ("error", REASON)]
    else:
        assert error_of(response) == (400, "validation_error")
        assert (details_of(response)["line"], details_of(response)["reason"]) == (3, REASON)
    assert unwrap(await client.get("/trades")) == []


@restricted
async def test_an_account_of_the_strategy_and_a_strategy_of_all_accounts_take_new_trades(
    client: httpx.AsyncClient, restrictions: Any, way: str
) -> None:
    await create_strategy(client, "Breakout", **restrictions[way])
    await create_strategy(client, "Fade")
    file = file_of(row("Own", 5, "Breakout"), row("Other", 6, "Fade"), row("Own", 7, "Fade"))

    report = await create_import(client, file, account_id=None)

    assert report["counts"] == {"new": 3, "duplicate": 0, "updated": 0, "error": 0}


@restricted
async def test_a_trade_that_the_strategy_had_before_is_recognised_and_stays(
    client: httpx.AsyncClient, restrictions: Any, way: str
) -> None:
    strategy = await create_strategy(client, "Breakout")
    file = file_of(row("Other", 5, "Breakout"))
    await create_import(client, file, account_id=None)
    unwrap(await client.patch(f"/strategies/{strategy['id']}", json=restrictions[way]))

    again = await create_import(client, file, account_id=None)

    assert again["counts"] == {"new": 0, "duplicate": 1, "updated": 0, "error": 0}
    (trade,) = unwrap(await client.get("/trades"))
    assert trade["strategy_id"] == strategy["id"]


async def test_a_strategy_of_a_group_without_members_takes_no_new_trade(client: httpx.AsyncClient) -> None:
    await create_account(client, "Own")
    group = await create_copy_group(client)
    await create_strategy(client, "Breakout", copy_group_id=group["id"])

    refused = await send_file(client, file_of(row("Own", 5, "Breakout")))

    assert details_of(refused)["reason"] == REASON
