"""Taking an import back: DELETE /imports/{id}, and what the goals say of it."""

import csv
import io
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import httpx
import pytest
import time_machine
from commands import dump
from factories import (
    create_account,
    create_goal,
    create_import,
    create_strategy,
    create_tag,
    create_trade,
    details_of,
    error_of,
    snapshots_of,
    unwrap,
)
from hypothesis import given
from hypothesis import strategies as st
from proofs import max_examples

from journal_api.settings import Settings

INVALID = (400, "validation_error")
NOT_FOUND = (404, "not_found")
PLAIN = {
    "symbol": "ES",
    "direction": "long",
    "quantity": "1",
    "entry_price": "100",
    "exit_price": "101",
    "opened_at": "2026-01-05T14:00:00Z",
    "closed_at": "2026-01-05T15:00:00Z",
}
OPEN = {"exit_price": "", "closed_at": ""}
CHECKLIST: dict[str, Any] = {
    "name": "Breakout",
    "setups": [{"name": "High", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]}],
}


def file_of(*trades: dict[str, str]) -> str:
    """Round trips; each is a long of one ES from 100 to 101 but for those cells."""
    rows = [PLAIN | trade for trade in trades]
    written = io.StringIO()
    columns = list(dict.fromkeys(column for row in rows for column in row))
    table = csv.DictWriter(written, columns, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return written.getvalue()


def fees_of(**fees: int) -> str:
    """A trade of each external id, with those fees."""
    return file_of(*({"external_id": name, "fees": str(fee)} for name, fee in fees.items()))


@pytest.fixture
async def account_id(client: httpx.AsyncClient) -> int:
    """An account to import into."""
    return int((await create_account(client))["id"])


async def undo(client: httpx.AsyncClient, report: Any, **query: Any) -> list[int]:
    """Take the import back; the trades that were kept."""
    answer = await client.delete(f"/imports/{report['id']}", params=query)
    assert answer.status_code == 204, answer.text
    kept = answer.headers.get("x-trades-kept", "")
    return [int(trade_id) for trade_id in kept.split(",") if trade_id]


async def trades_in(client: httpx.AsyncClient, **query: Any) -> list[Any]:
    """The whole of every trade that matches, oldest first."""
    listed = unwrap(await client.get("/trades", params={"limit": 200, **query}))
    ids = sorted(trade["id"] for trade in listed)
    return [unwrap(await client.get(f"/trades/{trade_id}")) for trade_id in ids]


async def imports_in(client: httpx.AsyncClient) -> dict[int, Any]:
    """How many trades of each import are still there."""
    return {one["id"]: one["trade_count"] for one in unwrap(await client.get("/imports"))}


async def patched(client: httpx.AsyncClient, trade_id: int, **fields: Any) -> Any:
    return unwrap(await client.patch(f"/trades/{trade_id}", json=fields))


def ids_of(report: Any) -> list[int]:
    return [row["trade_id"] for row in report["rows"]]


def record_in(settings: Settings) -> list[str]:
    """The whole database, but for the log of changes and the highest ids."""
    passing = ('INSERT INTO "changes"', 'INSERT INTO "sqlite_sequence"')
    return [line for line in dump(settings.db) if not line.startswith(passing)]


# What goes and what comes back ---------------------------------------------------------------------------


async def test_an_import_that_is_taken_back_leaves_the_record_as_it_was(
    client: httpx.AsyncClient, settings: Settings, account_id: int
) -> None:
    await create_strategy(client, **CHECKLIST)
    await create_tag(client)
    await create_trade(client, account_id, symbol="CL")
    await create_import(client, fees_of(a=1, b=2), account_id=account_id)
    before = record_in(settings)
    told = {"strategy": "Breakout", "setup": "High", "confirmations": '[["Volume", true, "x"]]'}
    file = file_of(
        {"external_id": "a", "fees": "5"},
        {"external_id": "b", "fees": "2", "exit_price": "90"},
        {"external_id": "c", "row": "c", "tags": "FOMO", **told},
        {"external_id": "d", "copy_of": "c", "tags": "FOMO"},
        {"symbol": "CL", "notes": "content only"},
    )
    report = await create_import(client, file, account_id=account_id)

    kept = await undo(client, report)

    assert report["counts"] == {"new": 2, "duplicate": 1, "updated": 2, "error": 0}
    assert kept == []
    assert record_in(settings) == before


async def test_an_import_that_was_taken_back_is_not_found_any_more(
    client: httpx.AsyncClient, account_id: int
) -> None:
    report = await create_import(client, account_id=account_id)

    answer = await client.delete(f"/imports/{report['id']}")

    assert (answer.status_code, answer.content) == (204, b"")
    assert "x-trades-kept" not in answer.headers
    again = [await client.request(how, f"/imports/{report['id']}") for how in ("GET", "DELETE")]
    assert [error_of(one) for one in again] == [NOT_FOUND] * 2
    assert await imports_in(client) == {}
    assert await trades_in(client) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"fees": "1"}, {"fees": "2"}),
        ({"gross_pnl": "1"}, {"gross_pnl": "-7"}),
        ({"closed_at": "2026-01-05T15:00:00Z"}, {"closed_at": "2026-02-05T15:00:00Z"}),
        (OPEN, {}),
        ({}, {"symbol": "NQ", "direction": "short", "quantity": "3", "multiplier": "20", "entry_price": "9"}),
    ],
    ids=["fees", "result", "another day", "closed", "all but the id"],
)
async def test_a_corrected_trade_is_again_exactly_what_it_was(
    client: httpx.AsyncClient, account_id: int, before: dict[str, str], after: dict[str, str]
) -> None:
    row = {"external_id": "1", "stop_loss": "99", "grade": "A", "notes": "kept"}
    await create_import(client, file_of({**row, **before}), account_id=account_id)
    was = await trades_in(client)
    report = await create_import(client, file_of({**row, **after}), account_id=account_id)
    corrected = await trades_in(client)

    kept = await undo(client, report)

    assert corrected != was
    assert (kept, await trades_in(client)) == ([], was)


async def test_what_the_trader_edited_before_a_correction_is_there_again_after_it(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first = await create_import(client, fees_of(a=1), account_id=account_id)
    edited = await patched(client, ids_of(first)[0], fees=7, symbol="MES", grade="C")
    second = await create_import(client, fees_of(a=2), account_id=account_id)

    kept = await undo(client, second)

    assert (kept, await trades_in(client)) == ([], [edited])


async def test_a_restored_trade_is_still_known_to_the_file_that_had_brought_it(
    client: httpx.AsyncClient, account_id: int
) -> None:
    await create_import(client, fees_of(a=1), account_id=account_id)
    second = await create_import(client, fees_of(a=2), account_id=account_id)

    await undo(client, second)

    again = [await create_import(client, fees_of(a=fee), account_id=account_id) for fee in (1, 2)]
    assert [one["rows"][0]["verdict"] for one in again] == ["duplicate", "updated"]


async def test_a_restored_trade_stands_on_its_day_in_the_zone_of_now(
    client: httpx.AsyncClient, account_id: int
) -> None:
    late = {"external_id": "1", "closed_at": "2026-01-05T23:30:00Z"}
    await create_import(client, file_of(late), account_id=account_id)
    report = await create_import(client, file_of({**late, "fees": "1"}), account_id=account_id)
    unwrap(await client.patch("/me", json={"timezone": "Asia/Tokyo"}))

    await undo(client, report)

    (trade,) = await trades_in(client)
    assert (trade["fees"], trade["trading_day"]) == (0, "2026-01-06")


async def test_trades_that_the_import_did_not_bring_stay_whatever_they_are(
    client: httpx.AsyncClient, account_id: int
) -> None:
    await create_trade(client, account_id, symbol="NQ")
    await create_trade(client, account_id, symbol="CL")
    await create_import(client, fees_of(a=1), account_id=account_id)
    before = await trades_in(client)
    file = file_of({"symbol": "NQ"}, {"symbol": "CL"}, {"symbol": "CL"}, {"external_id": "a", "fees": "1"})
    report = await create_import(client, file, account_id=account_id)

    kept = await undo(client, report, force="true")

    assert [row["verdict"] for row in report["rows"]] == ["duplicate", "duplicate", "new", "duplicate"]
    assert (kept, await trades_in(client)) == ([], before)


async def test_an_import_that_changed_nothing_goes_without_a_trace(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first = await create_import(client, fees_of(a=1), account_id=account_id)
    before = await trades_in(client)
    again = await create_import(client, fees_of(a=1), account_id=account_id)

    kept = await undo(client, again)

    assert (kept, await trades_in(client)) == ([], before)
    assert await imports_in(client) == {first["id"]: 1}


async def test_a_file_that_was_taken_back_comes_in_anew(client: httpx.AsyncClient, account_id: int) -> None:
    file = file_of({}, {}, {"external_id": "1"})
    first = await create_import(client, file, account_id=account_id)
    await undo(client, first)

    second = await create_import(client, file, account_id=account_id)

    assert [row["verdict"] for row in second["rows"]] == ["new"] * 3
    assert second["id"] > first["id"]
    assert min(ids_of(second)) > max(ids_of(first))


async def test_an_import_that_named_its_accounts_is_taken_back_from_all_of_them(
    client: httpx.AsyncClient,
) -> None:
    accounts = [await create_account(client, name) for name in ("Sim", "Live")]
    file = file_of({"account": "Sim"}, {"account": "Live"})
    report = unwrap(await client.post("/imports", content=file, headers={"Content-Type": "text/csv"}))

    (listed,) = unwrap(await client.get("/imports"))
    kept = await undo(client, report)

    assert (listed["account_id"], listed["account_ids"]) == (None, [account["id"] for account in accounts])
    assert kept == []
    gone = [await client.delete(f"/accounts/{account['id']}") for account in accounts]
    assert [answer.status_code for answer in gone] == [204, 204]


# What was edited since -----------------------------------------------------------------------------------


async def edit(client: httpx.AsyncClient, trade: Any, how: str) -> None:
    """Edit a trade whose setup has a checklist."""
    path = f"/trades/{trade['id']}"
    if how == "PATCH":
        unwrap(await client.patch(path, json={"notes": "mine"}))
    elif how == "PUT tags":
        tag = await create_tag(client, f"for {trade['id']}")
        unwrap(await client.put(f"{path}/tags", json={"tag_ids": [tag["id"]]}))
    else:
        (setup,) = unwrap(await client.get(f"/strategies/{trade['strategy_id']}/setups"))
        answer = {"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True}
        unwrap(await client.put(f"{path}/confirmations", json={"confirmations": [answer]}))


EDITS = ("PATCH", "PUT tags", "PUT confirmations")


@pytest.mark.parametrize("how", EDITS)
async def test_a_new_trade_that_was_edited_since_is_kept_and_named(
    client: httpx.AsyncClient, account_id: int, how: str
) -> None:
    await create_strategy(client, **CHECKLIST)
    row = {"strategy": "Breakout", "setup": "High"}
    report = await create_import(client, file_of(*[row] * 3), account_id=account_id)
    await edit(client, (await trades_in(client))[1], how)
    edited = (await trades_in(client))[1]

    kept = await undo(client, report)

    assert kept == [ids_of(report)[1]]
    assert await trades_in(client) == [edited]
    assert await imports_in(client) == {report["id"]: 1}
    assert await trades_in(client, import_id=report["id"]) == [edited]


@pytest.mark.parametrize("how", EDITS)
async def test_a_corrected_trade_that_was_edited_since_is_kept_and_named(
    client: httpx.AsyncClient, account_id: int, how: str
) -> None:
    await create_strategy(client, **CHECKLIST)
    rows = [{"external_id": name, "strategy": "Breakout", "setup": "High"} for name in ("1", "2")]
    await create_import(client, file_of(*rows), account_id=account_id)
    was = await trades_in(client)
    report = await create_import(
        client, file_of(*({**row, "fees": "1"} for row in rows)), account_id=account_id
    )
    await edit(client, was[0], how)
    edited = (await trades_in(client))[0]

    kept = await undo(client, report)

    assert kept == [was[0]["id"]]
    assert await trades_in(client) == [edited, was[1]]
    assert await trades_in(client, import_id=report["id"]) == [edited]
    assert (await imports_in(client))[report["id"]] == 0


async def test_an_edit_that_changes_nothing_keeps_nothing(client: httpx.AsyncClient, account_id: int) -> None:
    report = await create_import(client, file_of({"notes": "same"}), account_id=account_id)
    (trade_id,) = ids_of(report)
    await patched(client, trade_id, notes="same")
    await client.put(f"/trades/{trade_id}/tags", json={"tag_ids": []})
    await client.put(f"/trades/{trade_id}/confirmations", json={"confirmations": []})

    kept = await undo(client, report)

    assert (kept, await trades_in(client)) == ([], [])


async def test_a_dry_run_says_how_many_trades_go_and_how_many_of_them_were_annotated(
    client: httpx.AsyncClient, account_id: int
) -> None:
    await create_strategy(client, **CHECKLIST)
    row = {"strategy": "Breakout", "setup": "High", "notes": "from the file"}
    report = await create_import(client, file_of(*[row] * 6), account_id=account_id)
    trades = await trades_in(client)
    for trade, how in zip(trades, EDITS, strict=False):
        await edit(client, trade, how)
    bare = {"notes": None, "strategy_id": None, "setup_id": None}
    await patched(client, trades[3]["id"], **bare)  # edited, but no annotation is left
    before = await trades_in(client)

    answers = [
        await client.delete(f"/imports/{report['id']}", params={"dry_run": True, "force": force})
        for force in (False, True)
    ]

    said = [(one.headers["x-trades-deleted"], one.headers["x-trades-annotated"]) for one in answers]
    assert said == [("2", "0"), ("6", "3")]
    assert ["x-trades-kept" in one.headers for one in answers] == [True, False]
    assert await trades_in(client) == before


@pytest.mark.parametrize("force", ["true", "1"])
async def test_force_takes_what_was_edited_since_too(
    client: httpx.AsyncClient, account_id: int, force: str
) -> None:
    first = await create_import(client, fees_of(a=1), account_id=account_id)
    (was,) = await trades_in(client)
    second = await create_import(client, fees_of(a=2, b=2), account_id=account_id)
    for trade_id in ids_of(second):
        await patched(client, trade_id, fees=9)
    kept = await undo(client, second)

    kept_by_force = await undo(client, second, force=force)

    assert (kept, kept_by_force) == (ids_of(second), [])
    assert await imports_in(client) == {first["id"]: 1}
    (trade,) = await trades_in(client)
    assert {**trade, "updated_at": was["updated_at"]} == was


@pytest.mark.parametrize("force", ["", "yes", "True", "2"])
async def test_another_word_for_force_is_refused_and_takes_nothing(
    client: httpx.AsyncClient, account_id: int, force: str
) -> None:
    report = await create_import(client, account_id=account_id)

    refused = await client.delete(f"/imports/{report['id']}", params={"force": force})

    assert error_of(refused) == INVALID
    assert set(details_of(refused)["allowed"]) == {"true", "false", "1", "0"}
    assert await imports_in(client) == {report["id"]: 1}


async def test_what_the_trader_wrote_on_a_corrected_trade_outlasts_force_and_keeps_the_trade_afterwards(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first = await create_import(client, fees_of(a=1), account_id=account_id)
    second = await create_import(client, fees_of(a=2), account_id=account_id)
    (trade_id,) = ids_of(first)
    await patched(client, trade_id, grade="A")
    await undo(client, second, force="true")

    kept = await undo(client, first)

    assert kept == [trade_id]
    assert [(trade["fees"], trade["grade"]) for trade in await trades_in(client)] == [(1, "A")]


async def test_what_was_kept_goes_with_the_next_try_once_it_is_deleted_by_hand(
    client: httpx.AsyncClient, account_id: int
) -> None:
    report = await create_import(client, file_of({}, {}), account_id=account_id)
    await patched(client, ids_of(report)[0], grade="A")
    await undo(client, report)
    await client.delete(f"/trades/{ids_of(report)[0]}")

    kept = await undo(client, report)

    assert (kept, await imports_in(client)) == ([], {})


async def test_a_corrected_trade_that_was_deleted_by_hand_does_not_come_back(
    client: httpx.AsyncClient, account_id: int
) -> None:
    await create_import(client, fees_of(a=1), account_id=account_id)
    report = await create_import(client, fees_of(a=2), account_id=account_id)
    await client.delete(f"/trades/{ids_of(report)[0]}")

    kept = await undo(client, report)

    assert (kept, await trades_in(client)) == ([], [])
    assert report["id"] not in await imports_in(client)


async def test_up_to_100_kept_trades_are_named_and_all_of_them_are_listed(
    client: httpx.AsyncClient, account_id: int
) -> None:
    report = await create_import(client, file_of(*[{}] * 103), account_id=account_id)
    for trade_id in ids_of(report)[1:]:
        await patched(client, trade_id, grade="A")

    kept = await undo(client, report)

    assert kept == sorted(ids_of(report)[1:])[:100]
    listed = await client.get("/trades", params={"import_id": report["id"]})
    assert listed.json()["meta"]["pagination"]["total"] == 102
    assert await imports_in(client) == {report["id"]: 102}


# Several imports -----------------------------------------------------------------------------------------


async def test_a_trade_that_a_later_import_corrected_is_kept_until_that_one_is_taken_back(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first = await create_import(client, fees_of(a=1, b=1), account_id=account_id)
    was = await trades_in(client)
    second = await create_import(client, fees_of(a=2), account_id=account_id)

    kept = [await undo(client, first), await undo(client, second), await undo(client, first)]

    assert kept == [[was[0]["id"]], [], []]
    assert (await trades_in(client), await imports_in(client)) == ([], {})


async def test_two_imports_are_taken_back_in_the_order_in_which_they_came(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first = await create_import(client, fees_of(a=1), account_id=account_id)
    second = await create_import(client, fees_of(b=1), account_id=account_id)
    of_second = (await trades_in(client))[1]

    kept = [await undo(client, first)]
    left = await trades_in(client)
    kept.append(await undo(client, second))

    assert (kept, left) == ([[], []], [of_second])
    assert (await trades_in(client), await imports_in(client)) == ([], {})


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
async def test_in_whatever_order_corrections_are_taken_back_the_trade_is_at_last_what_it_was(
    client: httpx.AsyncClient, account_id: int, order: tuple[int, ...]
) -> None:
    await create_import(client, fees_of(a=0), account_id=account_id)
    was = await trades_in(client)
    reports = [await create_import(client, fees_of(a=fee), account_id=account_id) for fee in (1, 2, 3)]

    for _ in range(3):
        left = await imports_in(client)
        for place in order:
            if reports[place]["id"] in left:
                await undo(client, reports[place])

    assert await trades_in(client) == was
    assert len(await imports_in(client)) == 1


async def test_a_correction_that_force_took_back_does_not_return_with_a_later_one(
    client: httpx.AsyncClient, account_id: int
) -> None:
    await create_import(client, fees_of(a=1), account_id=account_id)
    middle = await create_import(client, fees_of(a=2), account_id=account_id)
    last = await create_import(client, fees_of(a=3), account_id=account_id)
    await undo(client, middle, force="true")

    await undo(client, last, force="true")

    assert [trade["fees"] for trade in await trades_in(client)] == [1]
    assert len(await imports_in(client)) == 1


async def test_force_takes_a_new_trade_whatever_came_after_and_leaves_the_later_import_nothing_of_it(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first = await create_import(client, fees_of(a=1), account_id=account_id)
    second = await create_import(client, fees_of(a=2, b=2), account_id=account_id)

    kept = [await undo(client, first, force="true")]
    left = await trades_in(client)
    kept.append(await undo(client, second))

    assert kept == [[], []]
    assert [trade["external_id"] for trade in left] == ["b"]
    assert (await trades_in(client), await imports_in(client)) == ([], {})


FILES = st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 2), min_size=1), max_size=4)


@given(files=FILES, order=st.randoms(use_true_random=False))
@max_examples(full=20, ci=4)
async def test_whatever_was_imported_and_in_whatever_order_it_is_taken_back_nothing_of_it_is_left(
    client: httpx.AsyncClient, files: list[dict[str, int]], order: Any
) -> None:
    number = len(unwrap(await client.get("/accounts")))
    account_id = (await create_account(client, f"of example {number}"))["id"]
    await create_import(client, fees_of(a=0, b=1), account_id=account_id)
    was, before = await trades_in(client, account_id=account_id), await imports_in(client)
    reports = [await create_import(client, fees_of(**fees), account_id=account_id) for fees in files]
    order.shuffle(reports)

    for _ in files:
        left = await imports_in(client)
        for report in reports:
            if report["id"] in left:
                await undo(client, report)

    assert await trades_in(client, account_id=account_id) == was
    assert await imports_in(client) == before


# Whatever the clock says ---------------------------------------------------------------------------------


NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def clock_at(hour: float) -> time_machine.travel:
    """The clock stands still at that hour, so two writes of one hour are of one instant."""
    return time_machine.travel(NOON + timedelta(hours=hour), tick=False)


@pytest.mark.parametrize("hours", [(0, 2, 1), (2, 1, 0), (0, 0, 0)], ids=["back", "back twice", "still"])
@pytest.mark.parametrize("force", ["true", "false"])
async def test_corrections_are_taken_back_in_the_order_of_the_imports_although_the_clock_went_back(
    client: httpx.AsyncClient, account_id: int, hours: tuple[int, ...], force: str
) -> None:
    reports, states = [], []
    for fee, hour in enumerate(hours):
        with clock_at(hour):
            reports.append(await create_import(client, fees_of(a=fee), account_id=account_id))
            states.append(await trades_in(client))

    kept = [await undo(client, reports[1])]
    kept += [await undo(client, report, force=force) for report in (reports[2], reports[1])]

    (trade_id,) = ids_of(reports[0])
    assert kept == [[trade_id], [], []]
    assert await trades_in(client) == states[0]


async def test_what_force_took_back_does_not_return_although_the_clock_went_back(
    client: httpx.AsyncClient, account_id: int
) -> None:
    reports = []
    for fee, hour in ((1, 0), (2, 2), (3, 1)):
        with clock_at(hour):
            reports.append(await create_import(client, fees_of(a=fee), account_id=account_id))

    for report in reports[1:]:
        await undo(client, report, force="true")

    assert [trade["fees"] for trade in await trades_in(client)] == [1]
    assert await imports_in(client) == {reports[0]["id"]: 1}


@pytest.mark.parametrize("hour", [0, -1], ids=["still", "back"])
@pytest.mark.parametrize("how", EDITS)
async def test_an_edit_is_an_edit_although_the_clock_stands_still_or_went_back(
    client: httpx.AsyncClient, account_id: int, how: str, hour: int
) -> None:
    await create_strategy(client, **CHECKLIST)
    row = {"external_id": "1", "strategy": "Breakout", "setup": "High"}
    new = {**row, "external_id": "2", "fees": "1"}
    with clock_at(0):
        await create_import(client, file_of(row), account_id=account_id)
        report = await create_import(client, file_of({**row, "fees": "1"}, new), account_id=account_id)
    with clock_at(hour):
        for trade in await trades_in(client):
            await edit(client, trade, how)
    edited = await trades_in(client)

    kept = await undo(client, report)

    assert kept == ids_of(report)
    assert await trades_in(client) == edited


class Imagined:
    """What imports, edits and undos come to, without a clock: each trade knows who wrote it last."""

    def __init__(self) -> None:
        self.trades: dict[str, dict[str, Any]] = {}

    def bring(self, import_id: int, fees: dict[str, int]) -> None:
        for name, fee in fees.items():
            trade = self.trades.get(name)
            if trade is None:
                written = {"fees": fee, "said": fee, "by": ("added", import_id)}
                self.trades[name] = {**written, "added_by": import_id, "before": {}}
            elif trade["said"] != fee:
                if trade["fees"] != fee:
                    trade["before"][import_id] = {key: trade[key] for key in ("fees", "said", "by")}
                    trade |= {"fees": fee, "by": ("import", import_id)}
                trade["said"] = fee

    def edit(self, name: str, fee: int) -> None:
        if name in self.trades and self.trades[name]["fees"] != fee:
            self.trades[name] |= {"fees": fee, "by": ("trader", 0)}

    def undo(self, import_id: int, force: bool) -> None:
        for name, trade in list(self.trades.items()):
            if import_id in trade["before"] and (force or trade["by"] == ("import", import_id)):
                by = trade["by"]
                trade |= trade["before"][import_id]
                trade["by"] = by if by[0] == "trader" else trade["by"]
                trade["before"] = {one: kept for one, kept in trade["before"].items() if one < import_id}
            if trade["added_by"] == import_id and (force or trade["by"] == ("added", import_id)):
                del self.trades[name]

    def left_of(self, import_id: int) -> list[str]:
        """The trades that keep the import listed."""
        return [
            name
            for name, trade in self.trades.items()
            if import_id == trade["added_by"] or import_id in trade["before"]
        ]

    def fees(self) -> dict[str, int]:
        return {name: trade["fees"] for name, trade in self.trades.items()}


# Few of each, so that imports, edits and instants meet.
HOURS = st.integers(0, 2)
NAMES = st.sampled_from("ab")
IMPORTS = st.tuples(
    st.just("import"), HOURS, st.dictionaries(NAMES, st.integers(0, 2), min_size=1), st.none()
)
EDITS_OF_FEES = st.tuples(st.just("edit"), HOURS, NAMES, st.integers(0, 2))
UNDOS = st.tuples(st.just("undo"), HOURS, st.integers(0, 5), st.booleans())
HISTORIES = st.tuples(
    st.lists(IMPORTS, min_size=2, max_size=3),
    st.lists(st.one_of(IMPORTS, EDITS_OF_FEES, UNDOS), max_size=6),
    st.lists(UNDOS, min_size=1, max_size=3),
).map(lambda parts: [step for part in parts for step in part])


@given(steps=HISTORIES)
@max_examples(full=40, ci=8)
@pytest.mark.promise(24)
async def test_imports_edits_and_undos_come_to_the_same_whatever_the_clock_says(
    client: httpx.AsyncClient, steps: list[tuple[str, int, Any, Any]]
) -> None:
    number = len(unwrap(await client.get("/accounts")))
    account_id = (await create_account(client, f"of steps {number}"))["id"]
    imagined, brought = Imagined(), list[Any]()
    for what, hour, one, other in steps:
        with clock_at(hour):
            listed = unwrap(await client.get("/trades", params={"account_id": account_id}))
            ids = {trade["external_id"]: trade["id"] for trade in listed}
            if what == "import":
                brought.append(await create_import(client, fees_of(**one), account_id=account_id))
                imagined.bring(brought[-1]["id"], one)
            elif what == "edit" and one in ids:
                await patched(client, ids[one], fees=other)
                imagined.edit(one, other)
            elif what == "undo" and brought:
                report = brought[one % len(brought)]
                kept = await undo(client, report, force="true" if other else "false")
                imagined.undo(report["id"], other)
                left = imagined.left_of(report["id"])
                assert sorted(kept) == sorted(ids[name] for name in left)
                if not left:
                    brought.remove(report)
        now = unwrap(await client.get("/trades", params={"account_id": account_id}))
        assert {trade["external_id"]: trade["fees"] for trade in now} == imagined.fees()


# Copies --------------------------------------------------------------------------------------------------


async def copies_of(client: httpx.AsyncClient) -> tuple[Any, list[int]]:
    """The import of an original, and the ids of its two copies, which a later import brought."""
    for name in ("Leader", "A", "B"):
        await create_account(client, name)
    original = {"account": "Leader", "row": "1"}
    copies = [{"account": name, "copy_of": "1", "gross_pnl": "-2"} for name in ("A", "B")]
    headers = {"Content-Type": "text/csv"}
    first = unwrap(await client.post("/imports", content=file_of(original), headers=headers))
    second = unwrap(await client.post("/imports", content=file_of(original, *copies), headers=headers))
    return first, ids_of(second)[1:]


async def test_copies_whose_original_is_taken_back_stay_one_decision_led_by_the_oldest(
    client: httpx.AsyncClient,
) -> None:
    first, copies = await copies_of(client)
    count, net = [await create_goal(client, metric=metric) for metric in ("trade_count", "net_pnl")]

    kept = await undo(client, first)

    assert kept == []
    trades = await trades_in(client)
    assert [(trade["id"], trade["source_trade_id"]) for trade in trades] == [
        (copies[0], None),
        (copies[1], copies[0]),
    ]
    january = {"from": "2026-01-01", "to": "2026-01-01"}
    actuals = [(await snapshots_of(client, goal["id"], **january))[0]["actual"] for goal in (count, net)]
    assert actuals == [1, -4]


async def test_copies_whose_original_was_taken_back_can_still_be_taken_back_themselves(
    client: httpx.AsyncClient,
) -> None:
    first, _ = await copies_of(client)
    await undo(client, first)
    (second,) = unwrap(await client.get("/imports"))

    kept = await undo(client, second)

    assert (kept, await trades_in(client)) == ([], [])


async def test_the_copies_of_an_import_are_taken_back_and_their_original_stays(
    client: httpx.AsyncClient,
) -> None:
    first, _ = await copies_of(client)
    second = unwrap(await client.get("/imports"))[0]

    kept = await undo(client, second)

    assert kept == []
    assert [trade["id"] for trade in await trades_in(client)] == ids_of(first)


# Goals ---------------------------------------------------------------------------------------------------


async def told_by(client: httpx.AsyncClient, goals: list[Any]) -> dict[str, list[Any]]:
    """By metric and timeframe, the snapshots without what is each goal's own."""
    own = ("goal_id", "computed_at")
    return {
        f"{goal['metric']} {goal['timeframe']}": [
            {name: value for name, value in snapshot.items() if name not in own}
            for snapshot in await snapshots_of(client, goal["id"], limit=365)
        ]
        for goal in goals
    }


async def make_goals(client: httpx.AsyncClient) -> list[Any]:
    """A goal of every metric, by day and by month."""
    metrics = [metric["key"] for metric in unwrap(await client.get("/metrics"))]
    return [
        await create_goal(client, metric=metric, timeframe=timeframe)
        for metric in metrics
        for timeframe in ("daily", "monthly")
    ]


FIRST = [
    {"external_id": "1", "row": "1", "grade": "A+", "stop_loss": "99", "fees": "0.1"},
    {"external_id": "2", "copy_of": "1", "gross_pnl": "-0.2", "tags": "FOMO"},
    {"external_id": "3", "closed_at": "2026-02-03T15:00:00Z", "exit_price": "97", "grade": "C"},
    {"external_id": "4", **OPEN},
]
SECOND = [
    {"external_id": "1", "gross_pnl": "-5", "fees": "0.3"},
    {"external_id": "3", "closed_at": "2026-03-04T15:00:00Z", "exit_price": "110"},
    {"external_id": "4", "closed_at": "2026-02-04T15:00:00Z"},
    {
        "external_id": "5",
        "strategy": "Breakout",
        "setup": "High",
        "confirmations": '[["Volume", true, null]]',
    },
    {"external_id": "6", "closed_at": "2026-04-04T15:00:00Z", "initial_risk": "0.7", "tags": "FOMO"},
]
STEPS = ("an import", "a correcting import", "taking the correction back", "taking all back")


@pytest.mark.parametrize("steps", range(1, 5), ids=STEPS)
async def test_snapshots_that_were_read_before_are_those_of_a_new_goal_after(
    client: httpx.AsyncClient, account_id: int, steps: int
) -> None:
    await create_tag(client, type="mistake")
    await create_strategy(client, **CHECKLIST)
    goals = await make_goals(client)
    reports: list[Any] = []

    for step in range(steps):
        await told_by(client, goals)
        if step < 2:
            reports.append(
                await create_import(client, file_of(*(FIRST, SECOND)[step]), account_id=account_id)
            )
        else:
            await undo(client, reports.pop())

    assert await told_by(client, goals) == await told_by(client, await make_goals(client))


async def test_a_goal_tells_exact_sums_after_an_import_a_correction_and_both_undone(
    client: httpx.AsyncClient, account_id: int
) -> None:
    goal = await create_goal(client, timeframe="daily")
    told = []

    async def tell() -> None:
        snapshots = await snapshots_of(client, goal["id"], to="2026-01-05")
        told.append([snapshot["actual"] for snapshot in snapshots])

    rows = [{"external_id": "1", "gross_pnl": "0.1"}, {"external_id": "2", "gross_pnl": "0.2"}]
    first = await create_import(client, file_of(*rows), account_id=account_id)
    await tell()
    second = await create_import(client, file_of({**rows[1], "gross_pnl": "0.6"}), account_id=account_id)
    await tell()
    for report in (second, first):
        await undo(client, report)
        await tell()

    assert told == [[0.3], [0.7], [0.3], []]


async def test_a_goal_that_counted_a_kept_trade_counts_it_still(
    client: httpx.AsyncClient, account_id: int
) -> None:
    goal = await create_goal(client, timeframe="daily", metric="trade_count")
    report = await create_import(client, file_of({}, {}, {}), account_id=account_id)
    before = await snapshots_of(client, goal["id"], to="2026-01-05")
    await patched(client, ids_of(report)[0], grade="A")

    await undo(client, report)

    after = await snapshots_of(client, goal["id"], to="2026-01-05")
    assert [[one["actual"] for one in snapshots] for snapshots in (before, after)] == [[3], [1]]
