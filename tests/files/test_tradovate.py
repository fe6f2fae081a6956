"""Tradovate's reports Performance and Position History, which have the same trades: docs/imports.md."""

from pathlib import Path

import httpx
import pytest
from factories import create_account, create_import, run_sql, unwrap
from starlette.applications import Starlette

DATA = Path(__file__).parents[1] / "data"
PERFORMANCE = (DATA / "tradovate_performance.csv").read_bytes()
POSITION_HISTORY = (DATA / "tradovate_position_history.csv").read_bytes()
ALL_NEW = {"new": 5, "duplicate": 0, "updated": 0, "error": 0}
ALL_THERE = {"new": 0, "duplicate": 5, "updated": 0, "error": 0}


@pytest.mark.parametrize(
    "reports",
    [(PERFORMANCE, POSITION_HISTORY), (POSITION_HISTORY, PERFORMANCE)],
    ids=["Performance first", "Position History first"],
)
async def test_both_reports_of_a_day_are_the_same_trades(
    client: httpx.AsyncClient, reports: tuple[bytes, bytes]
) -> None:
    account = await create_account(client)

    counts = [(await create_import(client, file, account_id=account["id"]))["counts"] for file in reports]

    assert counts == [ALL_NEW, ALL_THERE]


@pytest.mark.parametrize("report", [PERFORMANCE, POSITION_HISTORY], ids=["Performance", "Position History"])
async def test_trades_that_an_earlier_release_stored_under_their_pair_id_are_recognised(
    client: httpx.AsyncClient, app: Starlette, report: bytes
) -> None:
    account = await create_account(client)
    await create_import(client, POSITION_HISTORY, account_id=account["id"])
    await run_sql(app, "UPDATE trades SET external_id = 512300418000 + id, fingerprint = randomblob(16)")

    later = await create_import(client, report, account_id=account["id"])

    assert later["counts"] == ALL_THERE


async def test_of_equal_trades_under_a_pair_id_each_is_recognised_once(
    client: httpx.AsyncClient, app: Starlette
) -> None:
    header, row, *_ = PERFORMANCE.decode().splitlines()
    account = await create_account(client)
    two = "\n".join([header, row, row.replace("512300418871", "512300418872")])
    three = "\n".join([two, row.replace("512300418871", "512300418873")])
    await create_import(client, two, account_id=account["id"])
    await run_sql(app, "UPDATE imports SET format = 'Tradovate position history'")
    await run_sql(app, "UPDATE trades SET external_id = 512300418000 + id, fingerprint = randomblob(16)")

    later = await create_import(client, three, account_id=account["id"])

    assert later["counts"] == {"new": 1, "duplicate": 2, "updated": 0, "error": 0}


async def test_a_position_that_is_still_open_is_left_out_of_the_position_history(
    client: httpx.AsyncClient,
) -> None:
    *lines, last = POSITION_HISTORY.decode().splitlines()
    cells = last.split(",")
    open_position = ",".join([*cells[:16], *[""] * 7, "USD", "", ""])

    report = await create_import(client, "\n".join([*lines, open_position]))

    assert report["counts"] == {"new": 4, "duplicate": 0, "updated": 0, "error": 0}
    assert report["left_out"] == [{"reason": "Pair ID is empty", "rows": 1}]
    assert len(unwrap(await client.get("/trades"))) == 4
