"""Trades of imports that an earlier release stored: an upgrade keeps them, and knows their files again."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import pytest
from commands import rows
from conftest import opened
from factories import Client, send_file, unwrap
from journals import DATA, prepare, write_released

from journal_api.settings import Settings

VERSION = 11  # the last in which an import wrote trades, and did not keep what its file states
PAIRS = """\
symbol,buyFillId,sellFillId,qty,buyPrice,sellPrice,pnl,boughtTimestamp,soldTimestamp,duration,_priceFormat
MNQH6,1011,1012,1,22500.00,22510.00,$20.00,03/10/2026 10:00:00,03/10/2026 10:05:00,5min,-2
MNQH6,1011,1013,1,22500.00,22505.00,$10.00,03/10/2026 10:00:00,03/10/2026 10:09:00,9min,-2
MNQH6,1021,1022,1,22520.00,22516.00,$(8.00),03/10/2026 11:00:00,03/10/2026 11:05:00,5min,-2
MNQH6,1021,1023,1,22520.00,22522.00,$4.00,03/10/2026 11:00:00,03/10/2026 11:09:00,9min,-2
MNQH6,1031,1032,2,22530.00,22532.00,$8.00,03/10/2026 12:00:00,03/10/2026 12:05:00,5min,-2
MNQH6,1031,1033,1,22530.00,22531.00,$2.00,03/10/2026 12:00:00,03/10/2026 12:09:00,9min,-2
"""
ROUND_TRIPS = """\
symbol,direction,quantity,multiplier,entry_price,exit_price,opened_at,closed_at,fees,external_id
NQ,long,1,20,100,101,2026-03-09T14:00:00,2026-03-09T15:00:00,3,c1
NQ,short,2,20,105,104,2026-03-09T16:00:00,2026-03-09T16:30:00,2,c2
"""
# What the stored journal has imported, by the names of its accounts. Some trades were edited, two merged,
# two merged and split again; the round trips had corrected an earlier file.
FILES: dict[str, str | bytes] = {
    "Fills": (DATA / "executions.csv").read_bytes(),
    "Fills with ids": (DATA / "tradovate_fills.csv").read_bytes(),
    "Pairs": PAIRS,
    "Copies of pairs": PAIRS,
    "Rows": PAIRS,
    "Orders": (DATA / "tradovate_orders.csv").read_bytes(),
    "Round trips": ROUND_TRIPS,
    "Pairs without ids": (DATA / "ninjatrader_trades.csv").read_bytes(),
}
IS_MADE = "external_id GLOB 'fill-*' AND length(external_id) = 21"  # of fills without ids
TRADES = f"""
    SELECT id, account_id, symbol, direction, quantity, multiplier, entry_price, exit_price, stop_loss,
      opened_at, closed_at, trading_day, gross_pnl, fees, initial_risk, grade, strategy_id, setup_id,
      source_trade_id, iif({IS_MADE}, NULL, external_id), notes, import_id, contract, root, fills,
      fees_source, unlinked, mae, mfe, merged IS NOT NULL
    FROM trades
    ORDER BY id
"""


@pytest.fixture
def before(settings: Settings) -> list[Any]:
    """The trades of the stored journal, before it is upgraded."""
    write_released(settings.db, VERSION)
    with closing(sqlite3.connect(settings.db)) as db, db:
        # As parts are that were merged before there were excursions and pictures.
        for name in ("mae", "mfe", "picture_ids"):
            db.execute(f"UPDATE trades SET merged = json_remove(merged, '$[0].{name}', '$[1].{name}')")
    return rows(settings.db, TRADES)


@pytest.fixture
async def client(before: list[Any], settings: Settings) -> AsyncIterator[Client]:
    async with opened(settings) as client:
        yield client


async def import_again(client: Client) -> list[Any]:
    """The reports of the same files, in the accounts that have them."""
    accounts = {account["name"]: account["id"] for account in unwrap(await client.get("/accounts"))}
    return [unwrap(await send_file(client, file, accounts[name], "America/New_York")) for name, file in FILES.items()]


def test_an_upgrade_changes_no_trade_and_keeps_what_every_import_states(before: list[Any], settings: Settings) -> None:
    imported = rows(settings.db, "SELECT count(*) FROM trades WHERE import_id IS NOT NULL")

    prepare(settings.db)

    assert rows(settings.db, TRADES) == before
    merged = rows(settings.db, "SELECT sum(json_array_length(merged) - 1) FROM trades")
    stated = rows(settings.db, "SELECT count(DISTINCT key) FROM statements WHERE trade_id IS NOT NULL")
    assert stated == [(imported[0][0] + merged[0][0],)]


async def test_the_same_files_are_duplicates_and_undoing_them_changes_nothing(
    before: list[Any], client: Client, settings: Settings
) -> None:
    reports = await import_again(client)

    verdicts = [{name: count for name, count in report["counts"].items() if count} for report in reports]
    assert [set(found) for found in verdicts] == [{"duplicate"}] * len(FILES)
    assert rows(settings.db, TRADES) == before
    for report in reports:
        assert (await client.delete(f"/imports/{report['id']}")).status_code == 204
    assert rows(settings.db, TRADES) == before


async def test_what_the_owner_has_merged_is_split_into_what_the_files_state(
    before: list[Any], client: Client, settings: Settings
) -> None:
    ((whole,),) = rows(settings.db, "SELECT id FROM trades WHERE merged IS NOT NULL")

    parts = unwrap(await client.post(f"/trades/{whole}/split"))
    split = rows(settings.db, TRADES)
    reports = await import_again(client)

    assert [part["net_pnl"] for part in parts] == [20, 10]
    assert {name for report in reports for name, count in report["counts"].items() if count} == {"duplicate"}
    assert rows(settings.db, TRADES) == split


async def test_undoing_every_import_leaves_the_trades_that_were_typed(
    before: list[Any], client: Client, settings: Settings
) -> None:
    typed = rows(settings.db, "SELECT id FROM trades WHERE import_id IS NULL ORDER BY id")

    for one in unwrap(await client.get("/imports")):
        assert (await client.delete(f"/imports/{one['id']}?force=true")).status_code == 204

    assert rows(settings.db, "SELECT id FROM trades ORDER BY id") == typed
    assert rows(settings.db, "SELECT count(*) FROM statements") == [(0,)]
