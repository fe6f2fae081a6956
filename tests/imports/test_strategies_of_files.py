"""New trades of a file and strategies that are restricted to accounts: docs/api.md T11, docs/imports.md."""

from typing import Any

import httpx
import pytest
from factories import (
    build_file,
    create_account,
    create_copy_group,
    create_import,
    create_strategy,
    details_of,
    error_of,
    send_file,
    unwrap,
)

REASON = "strategy is restricted to other accounts"


def build_rows(*rows: tuple[str, str]) -> str:
    """A file of pairs of account and strategy."""
    return build_file(
        *(
            {"account": account, "strategy": strategy, "symbol": f"N{number}"}
            for number, (account, strategy) in enumerate(rows)
        )
    )


@pytest.fixture
async def restrictions(client: httpx.AsyncClient) -> dict[str, dict[str, Any]]:
    """The members of a strategy that restrict it to the account Own, in two ways; Other is in no group."""
    own = await create_account(client, "Own")
    await create_account(client, "Other")
    group = await create_copy_group(client, account_ids=[own["id"]])
    return {"account": {"account_id": own["id"]}, "group": {"copy_group_id": group["id"]}}


@pytest.mark.parametrize(("way", "setup"), [("account", ""), ("group", "Retest")])
async def test_a_new_trade_of_another_account_is_an_error_of_its_row(
    client: httpx.AsyncClient, restrictions: Any, way: str, setup: str
) -> None:
    await create_strategy(client, "Breakout", setups=[{"name": "Retest"}], **restrictions[way])
    row = {"strategy": "Breakout", "setup": setup}
    file = build_file({"account": "Own", **row}, {"account": "Other", **row})

    report = unwrap(await send_file(client, file, dry_run="true"))
    refused = await send_file(client, file)

    verdicts = [(line["verdict"], line["reason"]) for line in report["rows"]]
    assert verdicts == [("new", None), ("error", REASON)]
    assert error_of(refused) == (400, "validation_error")
    assert (details_of(refused)["line"], details_of(refused)["reason"]) == (3, REASON)
    assert unwrap(await client.get("/trades")) == []


async def test_a_strategy_of_all_accounts_takes_new_trades(
    client: httpx.AsyncClient, restrictions: Any
) -> None:
    await create_strategy(client, "Breakout", **restrictions["group"])
    await create_strategy(client, "Fade")
    file = build_rows(("Own", "Breakout"), ("Other", "Fade"), ("Own", "Fade"))

    report = await create_import(client, file, account_id=None)

    assert report["counts"] == {"new": 3, "duplicate": 0, "updated": 0, "error": 0}


async def test_a_trade_that_the_strategy_had_before_is_recognised_and_stays(
    client: httpx.AsyncClient, restrictions: Any
) -> None:
    strategy = await create_strategy(client, "Breakout")
    file = build_rows(("Other", "Breakout"))
    await create_import(client, file, account_id=None)
    unwrap(await client.patch(f"/strategies/{strategy['id']}", json=restrictions["account"]))

    again = await create_import(client, file, account_id=None)

    assert again["counts"] == {"new": 0, "duplicate": 1, "updated": 0, "error": 0}
    (trade,) = unwrap(await client.get("/trades"))
    assert trade["strategy_id"] == strategy["id"]


async def test_a_strategy_of_a_group_without_members_takes_no_new_trade(client: httpx.AsyncClient) -> None:
    await create_account(client, "Own")
    group = await create_copy_group(client)
    await create_strategy(client, "Breakout", copy_group_id=group["id"])

    refused = await send_file(client, build_rows(("Own", "Breakout")))

    assert details_of(refused)["reason"] == REASON
