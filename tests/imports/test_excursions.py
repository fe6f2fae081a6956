"""The excursions `mae` and `mfe` of trades that imports add and update."""

from typing import Any

from factories import OPEN_ROW, Client, build_file, create_import, list_trades, patch_trade
from file_tables import SAMPLES, write_file
from plain_rows import PLAIN, Cells
from saved_journals import for_rows

Excursions = tuple[float | None, float | None]
GRID = PLAIN["NinjaTrader"]
STATED: Cells = {"MAE": "$10.00", "MFE": "$35.00"}
# A second pair that was entered while the first was open.
ADDED: Cells = {"Entry time": "1/6/2026 9:40:00 AM", "Exit time": "1/6/2026 9:58:03 AM", "MAE": "$1.00", "MFE": "$9.00"}


def grid(*rows: Cells) -> str:
    return write_file(GRID, *rows).decode()


def stated(mae: str, mfe: str, **cells: str) -> str:
    return build_file({"external_id": "1", "mae": mae, "mfe": mfe, **cells})


async def read_excursions(client: Client) -> list[Excursions]:
    return [(trade["mae"], trade["mfe"]) for trade in await list_trades(client)]


TRADOVATE = (SAMPLES / "tradovate_performance.csv").read_text()
FILLS = (
    "Date,Time,Symbol,Quantity,Price,Side\n"
    "1/6/2026,9:31:12,MESH6,2,6012.25,Buy\n1/6/2026,9:48:03,MESH6,2,6015.50,Sell\n"
)
# A file, what the trader then writes, a later file, how many trades it updates, and the excursions then.
LATER: dict[str, tuple[str, Any, str, int, list[Excursions]]] = {
    "a file that states them": (stated("", ""), {}, stated("5", "7"), 1, [(5, 7)]),
    "one of them": (stated("3", ""), {}, stated("3", "7"), 1, [(3, 7)]),
    "a file with others": (stated("3", "4"), {}, stated("5", "7"), 1, [(5, 7)]),
    "a file without them": (stated("3", "4"), {}, stated("", ""), 0, [(3, 4)]),
    "a correction without them": (stated("3", "4"), {}, stated("", "", quantity="2"), 1, [(3, 4)]),
    "more while it is open": (stated("3", "4", **OPEN_ROW), {}, stated("5", "7", **OPEN_ROW), 1, [(5, 7)]),
    "the close": (stated("3", "4", **OPEN_ROW), {}, stated("5", ""), 1, [(5, 4)]),
    "the same rows of pairs": (grid({}), {}, grid(STATED), 1, [(10, 35)]),
    "another pair of the position": (grid(STATED), {}, grid(ADDED), 1, [(None, None)]),
    "both pairs of the position": (grid(STATED), {}, grid(STATED, ADDED), 1, [(None, None)]),
    "another format": (FILLS, {}, grid(STATED), 1, [(10, 35)]),
    "what the trader has written": (grid(STATED), {"mae": 12, "mfe": 30.5}, grid(STATED), 0, [(12, 30.5)]),
    "a corrected price of a pair": (
        *(TRADOVATE, {"mae": 12}, TRADOVATE.replace(",22481.00,", ",22482.00,"), 1),
        [(12, None)] * 5,
    ),
}


@for_rows("first, edit, second, updated, expected", LATER.values())
async def test_a_later_file_states_excursions_and_undo_takes_them_back(
    client: Client,
    account_id: int,
    first: str,
    edit: dict[str, float],
    second: str,
    updated: int,
    expected: list[Excursions],
) -> None:
    await create_import(client, first, account_id=account_id)
    for trade in await list_trades(client) if edit else ():
        await patch_trade(client, trade["id"], **edit)
    before, excursions = await list_trades(client), await read_excursions(client)

    said = await create_import(client, second, account_id=account_id, dry_run=True)
    unchanged = await list_trades(client)
    report = await create_import(client, second, account_id=account_id)
    after = await read_excursions(client)
    await client.delete(f"/imports/{report['id']}")

    assert (said["counts"], unchanged, said["counts"]["updated"]) == (report["counts"], before, updated)
    assert after == expected
    told = {one["field"]: (one["before"], one["after"]) for one in report["rows"][0].get("changes", ())}
    changes = zip(("mae", "mfe"), excursions[0], after[0], strict=True)
    assert {name: (old, new) for name, old, new in changes if old != new}.items() <= told.items()
    shown = [{**trade, "updated_at": None} for trade in await list_trades(client)]
    assert shown == [{**trade, "updated_at": None} for trade in before]


@for_rows(
    "one_trade_is, expected",
    [
        ("position", [(10, 35), (125, 1100), (310, 95), (None, None)]),
        ("row", [(10, 35), (125, 1100), (2.5, 5), (2.5, 5), (310, 95)]),
    ],
)
async def test_rows_that_are_joined_have_none(
    client: Client, account_id: int, one_trade_is: str, expected: list[Any]
) -> None:
    sample = (SAMPLES / "ninjatrader_trades.csv").read_bytes()

    await create_import(client, sample, account_id=account_id, one_trade_is=one_trade_is)

    assert sorted(await read_excursions(client), key=str) == expected
