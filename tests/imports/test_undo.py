"""Undoing an import: DELETE /imports/{id}, and the goals afterwards."""

from datetime import UTC, datetime, timedelta
from itertools import cycle, product
from typing import Any

import factories
import pytest
import time_machine
from commands import read_record
from factories import Client, error_of, unwrap
from hypothesis import given
from hypothesis import strategies as st
from positions import executions, first_in_first_out, performance, random_fills
from proofs import examples, max_examples
from saved_journals import for_rows

from journal_api.settings import Settings

HIGH = {"strategy": "Breakout", "setup": "High"}


def build_fees(fees: dict[str, int]) -> str:
    """A file with a trade of each external id, with those fees."""
    return factories.build_file(*({"external_id": name, "fees": str(fee)} for name, fee in fees.items()))


async def undo(client: Client, report: Any, **query: Any) -> list[int]:
    """Undo the import but for what the trader wrote on; the trades that were kept."""
    response = await client.delete(f"/imports/{report['id']}", params=query or {"keep": True})
    assert response.status_code == 204, response.text
    kept = response.headers.get("x-trades-kept", "")
    return [int(trade_id) for trade_id in kept.split(",") if trade_id]


async def get_trades(client: Client, **query: Any) -> list[Any]:
    """The whole of every trade that matches, oldest first."""
    return [await factories.get_trade(client, trade["id"]) for trade in await factories.list_trades(client, **query)]


def without_times(trades: list[Any]) -> list[Any]:
    """Trades without the time of their last change."""
    return [{**trade, "updated_at": None} for trade in trades]


async def count_trades(client: Client) -> dict[int, int]:
    """How many trades of each import are still there."""
    return {one["id"]: one["trade_count"] for one in unwrap(await client.get("/imports"))}


# What goes and what comes back ---------------------------------------------------------------------------


async def test_an_undone_import_leaves_the_record_as_it_was(
    client: Client, settings: Settings, account_id: int
) -> None:
    await factories.create_strategy(client, **factories.A_CHECKLIST)
    await factories.create_tag(client)
    await factories.create_trade(client, account_id, symbol="CL")
    await factories.create_import(client, build_fees({"a": 1, "b": 2, "c": 3}), account_id=account_id)
    before = read_record(settings.db)
    file = factories.build_file(
        {"external_id": "a", "fees": "5"},
        {"external_id": "b", "fees": "2", "exit_price": "90"},
        {"external_id": "c", "fees": "3"},
        {"external_id": "d", "row": "d", **HIGH, "tags": "FOMO", "confirmations": '[["Volume", true, "x"]]'},
        {"external_id": "e", "copy_of": "d", "tags": "FOMO"},
        {"symbol": "CL", "notes": "content only"},
        {"symbol": "CL"},
    )
    report = await factories.create_import(client, file, account_id=account_id)

    response = await client.delete(f"/imports/{report['id']}", params={"force": "1"})

    assert report["counts"] == {"new": 3, "duplicate": 2, "updated": 2, "error": 0}
    assert (response.status_code, response.content) == (204, b"")
    assert "x-trades-kept" not in response.headers
    assert read_record(settings.db) == before
    again = [await client.request(how, f"/imports/{report['id']}") for how in ("GET", "DELETE")]
    assert [error_of(one) for one in again] == [(404, "not_found")] * 2


@for_rows(
    "before, after",
    [
        ({"closed_at": "2026-01-05T15:00:00Z"}, {"closed_at": "2026-02-05T15:00:00Z"}),
        (factories.OPEN_ROW, {}),
        ({"mae": ""}, {"mae": "12.5", "mfe": "0"}),
        ({}, {"symbol": "NQ", "direction": "short", "quantity": "3", "multiplier": "20", "entry_price": "9"}),
    ],
)
async def test_a_corrected_trade_is_again_exactly_what_it_was(
    client: Client, account_id: int, before: dict[str, str], after: dict[str, str]
) -> None:
    row = {"external_id": "1", "stop_loss": "99", "grade": "A", "notes": "kept"}
    await factories.create_import(client, factories.build_file({**row, **before}), account_id=account_id)
    was = await get_trades(client)
    report = await factories.create_import(client, factories.build_file({**row, **after}), account_id=account_id)
    corrected = await get_trades(client)

    kept = await undo(client, report)

    assert corrected != was
    assert (kept, without_times(await get_trades(client))) == ([], without_times(was))


# Steps, then the fees that are left by name, then the imports that are still listed.
HISTORIES: dict[str, tuple[list[Any], dict[str, int], list[int]]] = {
    "an edit before a correction": (
        [("import", {"a": 1}), ("edit", "a", 7), ("import", {"a": 2}), ("undo", 1, "")],
        {"a": 7},
        [0],
    ),
    "a restored trade is known to its file": (
        [("import", {"a": 1}), ("import", {"a": 2}), ("undo", 1, ""), ("import", {"a": 1}), ("undo", 2, "")],
        {"a": 1},
        [0],
    ),
    "force takes what was edited": (
        [
            *(("import", {"a": 1}), ("import", {"a": 2, "b": 2}), ("edit", "a", 9), ("edit", "b", 9)),
            *(("undo", 1, "b"), ("force", 1, "")),
        ],
        {"a": 9},
        [0],
    ),
    "an edit outlasts force and keeps the trade afterwards": (
        [("import", {"a": 1}), ("import", {"a": 2}), ("edit", "a", 9), ("force", 1, ""), ("undo", 0, "a")],
        {"a": 9},
        [0],
    ),
    "a kept trade that is then deleted by hand": (
        [("import", {"a": 1, "b": 1}), ("edit", "a", 5), ("undo", 0, "a"), ("delete", "a"), ("undo", 0, "")],
        {},
        [],
    ),
    "a corrected trade that was deleted by hand": (
        [("import", {"a": 1}), ("import", {"a": 2}), ("delete", "a"), ("undo", 1, "")],
        {},
        [0],
    ),
    "a trade that a later import corrected": (
        [*(("import", {"a": 1, "b": 1}), ("import", {"a": 2})), *(("undo", 0, ""), ("undo", 1, ""))],
        {},
        [],
    ),
    "a correction that force undid does not return": (
        [*(("import", {"a": fee}) for fee in (1, 2, 3)), ("force", 1, ""), ("force", 2, "")],
        {"a": 1},
        [0],
    ),
    "force takes a new trade whatever came after": (
        [("import", {"a": 1}), ("import", {"a": 2, "b": 2}), ("force", 0, ""), ("undo", 1, "")],
        {},
        [],
    ),
}


@for_rows("steps, fees, left", HISTORIES.values())
async def test_imports_and_edits_are_undone(
    client: Client, account_id: int, steps: list[Any], fees: dict[str, int], left: list[int]
) -> None:
    reports, ids = [], dict[str, int]()
    for how, what, *rest in steps:
        if how == "import":
            reports.append(await factories.create_import(client, build_fees(what), account_id=account_id))
            ids |= dict(zip(what, factories.read_ids(reports[-1]), strict=True))
        elif how == "edit":
            await factories.patch_trade(client, ids[what], fees=rest[0])
        elif how == "delete":
            await client.delete(f"/trades/{ids[what]}")
        else:
            kept = await undo(client, reports[what], **{"force" if how == "force" else "keep": True})
            assert kept == [ids[name] for name in rest[0]]

    assert {trade["external_id"]: trade["fees"] for trade in await factories.list_trades(client)} == fees
    assert sorted(await count_trades(client)) == [reports[place]["id"] for place in left]


async def test_a_restored_trade_stands_on_its_day_in_the_zone_of_now(client: Client, account_id: int) -> None:
    late = {"external_id": "1", "closed_at": "2026-01-05T23:30:00Z"}
    await factories.create_import(client, factories.build_file(late), account_id=account_id)
    report = await factories.create_import(client, factories.build_file({**late, "fees": "1"}), account_id=account_id)
    unwrap(await client.patch("/me", json={"timezone": "Asia/Tokyo"}))

    await undo(client, report)

    (trade,) = await get_trades(client)
    assert (trade["fees"], trade["trading_day"]) == (0, "2026-01-06")


async def test_an_import_that_named_its_accounts_is_undone_in_all_of_them(client: Client) -> None:
    account_ids = [(await factories.create_account(client, name))["id"] for name in ("Sim", "Live")]
    report = unwrap(await factories.send_file(client, factories.build_file({"account": "Sim"}, {"account": "Live"})))

    (listed,) = unwrap(await client.get("/imports"))
    kept = await undo(client, report)

    assert (listed["account_id"], listed["account_ids"]) == (None, account_ids)
    assert (kept, await factories.list_trades(client)) == ([], [])


# What was edited since -----------------------------------------------------------------------------------


async def edit(client: Client, trade: Any, how: str) -> None:
    """Edit a trade whose setup has a checklist."""
    path = f"/trades/{trade['id']}"
    if how == "PATCH":
        unwrap(await client.patch(path, json={"notes": "mine"}))
    elif how == "PUT tags":
        tag = await factories.create_tag(client, f"for {trade['id']}")
        unwrap(await client.put(f"{path}/tags", json={"tag_ids": [tag["id"]]}))
    else:
        (setup,) = unwrap(await client.get(f"/strategies/{trade['strategy_id']}/setups"))
        answer = {"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True}
        unwrap(await client.put(f"{path}/confirmations", json={"confirmations": [answer]}))


EDITS = ("PATCH", "PUT tags", "PUT confirmations")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def clock_at(hour: float) -> time_machine.travel:
    """The clock stands still at that hour, so two writes of one hour are of one instant."""
    return time_machine.travel(NOON + timedelta(hours=hour), tick=False)


@for_rows("how, hour", [*((how, 0) for how in EDITS), ("PATCH", 1), ("PATCH", -1)])
async def test_new_and_corrected_trades_that_were_edited_since_are_kept_and_named(
    client: Client, account_id: int, how: str, hour: int
) -> None:
    await factories.create_strategy(client, **factories.A_CHECKLIST)
    old = [{"external_id": name, **HIGH} for name in ("1", "2")]
    corrected = [{**row, "fees": "1"} for row in (*old, {**HIGH, "external_id": "3"}, {**HIGH, "external_id": "4"})]
    with clock_at(0):
        await factories.create_import(client, factories.build_file(*old), account_id=account_id)
        was = await get_trades(client)
        report = await factories.create_import(client, factories.build_file(*corrected), account_id=account_id)
    with clock_at(hour):
        for trade in (await get_trades(client))[::2]:
            await edit(client, trade, how)
    edited = (await get_trades(client))[::2]

    kept = await undo(client, report)

    after = await get_trades(client)
    written = ("notes", "tag_ids", "confirmations")
    assert kept == [factories.read_ids(report)[2]]
    assert without_times(after[1:]) == without_times([was[1], edited[1]])
    assert after[0]["fees"] == 0  # as the file that tells of it still says
    assert [after[0][name] for name in written] == [edited[0][name] for name in written]
    assert (await count_trades(client))[report["id"]] == 1


async def test_a_dry_run_tells_how_many_trades_go_and_how_many_of_them_were_annotated(
    client: Client, account_id: int
) -> None:
    await factories.create_strategy(client, **factories.A_CHECKLIST)
    row = {**HIGH, "notes": "from the file"}
    report = await factories.create_import(client, factories.build_file(*[row] * 6), account_id=account_id)
    trades = await get_trades(client)
    for trade, how in zip(trades, EDITS, strict=False):
        await edit(client, trade, how)
    last = f"/trades/{trades[5]['id']}"  # edited as it was, which is no edit
    unwrap(await client.patch(last, json={"notes": row["notes"]}))
    for path, member in (("tags", "tag_ids"), ("confirmations", "confirmations")):
        unwrap(await client.put(f"{last}/{path}", json={member: []}))
    bare = {"notes": None, "strategy_id": None, "setup_id": None}
    await factories.patch_trade(client, trades[3]["id"], **bare)  # edited, but no annotation is left
    before = await get_trades(client)

    path = f"/imports/{report['id']}"
    asked = await client.delete(path)
    responses = [await client.delete(path, params={"dry_run": True, name: True}) for name in ("keep", "force")]

    told = [(one.headers["x-trades-deleted"], one.headers["x-trades-annotated"]) for one in responses]
    assert error_of(asked) == (409, "trades_kept")
    assert asked.json()["error"]["details"] == {"trades": 4, "others": 2}
    assert told == [("2", "0"), ("6", "3")]
    assert ["x-trades-kept" in one.headers for one in responses] == [True, False]
    assert await get_trades(client) == before


async def test_up_to_100_kept_trades_are_named_and_all_of_them_are_listed(client: Client, account_id: int) -> None:
    report = await factories.create_import(client, factories.build_file(*[{}] * 103), account_id=account_id)
    for trade_id in factories.read_ids(report)[1:]:
        await factories.patch_trade(client, trade_id, grade="A")

    kept = await undo(client, report)

    assert kept == sorted(factories.read_ids(report)[1:])[:100]
    assert [trade["id"] for trade in await factories.list_trades(client, import_id=report["id"])] == factories.read_ids(
        report
    )[1:]
    assert await count_trades(client) == {report["id"]: 102}


# Several imports, whatever the clock says ----------------------------------------------------------------


class Imagined:
    """A model of imports, edits and undos without a clock: what each file says, and what the trader does."""

    def __init__(self) -> None:
        self.files: dict[int, dict[str, int]] = {}
        self.edits: dict[str, int] = {}

    def fees(self) -> dict[str, int]:
        said = {name: fee for file in self.files.values() for name, fee in file.items()}
        return said | self.edits

    def edit(self, name: str, fee: int) -> None:
        if name in self.edits or self.fees()[name] != fee:
            self.edits[name] = fee

    def undo(self, import_id: int, force: bool) -> list[str]:
        """Forget what the file says; the trades that are kept."""
        gone = self.files.pop(import_id)
        only = [name for name in gone if not any(name in file for file in self.files.values())]
        kept = [] if force else [name for name in only if name in self.edits]
        for name in set(only) - set(kept):
            self.edits.pop(name, None)
        if kept:
            self.files = dict(sorted({**self.files, import_id: {name: gone[name] for name in kept}}.items()))
        return kept


# Few of each, so that imports, edits and instants meet.
HOURS = st.integers(0, 2)
NAMES = st.sampled_from("ab")
IMPORTS = st.tuples(st.just("import"), HOURS, st.dictionaries(NAMES, st.integers(0, 2), min_size=1), st.none())
EDITS_OF_FEES = st.tuples(st.just("edit"), HOURS, NAMES, st.integers(0, 2))
UNDOS = st.tuples(st.just("undo"), HOURS, st.integers(0, 5), st.booleans())
RANDOM_HISTORIES = st.tuples(
    st.lists(IMPORTS, min_size=2, max_size=3),
    st.lists(st.one_of(IMPORTS, EDITS_OF_FEES, UNDOS), max_size=6),
    st.lists(UNDOS, min_size=1, max_size=3),
).map(lambda parts: [step for part in parts for step in part])


@given(steps=RANDOM_HISTORIES)
@max_examples(full=40, ci=8)
@pytest.mark.promise(24)
async def test_imports_edits_and_undos_come_to_the_same_whatever_the_clock_says(
    client: Client, steps: list[tuple[str, int, Any, Any]]
) -> None:
    number = len(unwrap(await client.get("/accounts")))
    account_id = (await factories.create_account(client, f"of steps {number}"))["id"]
    imagined, brought = Imagined(), list[Any]()
    for what, hour, one, other in steps:
        with clock_at(hour):
            found = await factories.list_trades(client, account_id=account_id)
            ids = {trade["external_id"]: trade["id"] for trade in found}
            if what == "import":
                brought.append(await factories.create_import(client, build_fees(one), account_id=account_id))
                imagined.files[brought[-1]["id"]] = one
            elif what == "edit" and one in ids:
                await factories.patch_trade(client, ids[one], fees=other)
                imagined.edit(one, other)
            elif what == "undo" and brought:
                report = brought[one % len(brought)]
                kept = await undo(client, report, **{"force" if other else "keep": True})
                assert sorted(kept) == sorted(ids[name] for name in imagined.undo(report["id"], other))
                if not kept:
                    brought.remove(report)
        now = await factories.list_trades(client, account_id=account_id)
        assert {trade["external_id"]: trade["fees"] for trade in now} == imagined.fees()


# Copies and goals ----------------------------------------------------------------------------------------


async def create_copies(client: Client) -> list[Any]:
    """The import of an original, and a later import of two copies of it."""
    for name in ("Leader", "A", "B"):
        await factories.create_account(client, name)
    original = {"account": "Leader", "row": "1"}
    copies = [{"account": name, "copy_of": "1", "gross_pnl": "-2"} for name in ("A", "B")]
    return [unwrap(await factories.send_file(client, factories.build_file(original, *rows))) for rows in ([], copies)]


async def test_an_original_of_which_the_file_of_its_copies_tells_too_stays_until_that_is_undone(client: Client) -> None:
    first, second = await create_copies(client)
    original, *copies = factories.read_ids(second)
    count, net = [await factories.create_goal(client, metric=metric) for metric in ("trade_count", "net_pnl")]

    kept = await undo(client, first)

    assert kept == []
    sources = [(trade["id"], trade["source_trade_id"]) for trade in await factories.list_trades(client)]
    assert sources == [(original, None), (copies[0], original), (copies[1], original)]
    january = {"from": "2026-01-01", "to": "2026-01-01"}
    actuals = [(await factories.snapshots_of(client, goal["id"], **january))[0]["actual"] for goal in (count, net)]
    assert actuals == [1, -3]
    assert (await undo(client, second), await factories.list_trades(client)) == ([], [])


async def read_histories(client: Client, goals: list[Any]) -> dict[str, list[Any]]:
    return {f"{goal['metric']} {goal['timeframe']}": await factories.history_of(client, goal) for goal in goals}


async def create_goals(client: Client) -> list[Any]:
    """A goal of every metric, by day and by month in turns; in the short form of every second metric."""
    metrics = sorted(metric["key"] for metric in unwrap(await client.get("/metrics")))[:: examples(full=1, ci=2)]
    timeframes = cycle(["daily", "monthly"])
    return [await factories.create_goal(client, metric=metric, timeframe=next(timeframes)) for metric in metrics]


FIRST = [
    {"external_id": "1", "row": "1", "grade": "A+", "stop_loss": "99", "fees": "0.1"},
    {"external_id": "2", "copy_of": "1", "gross_pnl": "-0.2", "tags": "FOMO"},
    {"external_id": "3", "closed_at": "2026-02-03T15:00:00Z", "exit_price": "97", "grade": "C"},
    {"external_id": "4", **factories.OPEN_ROW},
]
SECOND = [
    {"external_id": "1", "gross_pnl": "-5", "fees": "0.3"},
    {"external_id": "3", "closed_at": "2026-03-04T15:00:00Z", "exit_price": "110"},
    {"external_id": "4", "closed_at": "2026-02-04T15:00:00Z"},
    {"external_id": "5", **HIGH, "confirmations": '[["Volume", true, null]]'},
    {"external_id": "6", "closed_at": "2026-04-04T15:00:00Z", "initial_risk": "0.7", "tags": "FOMO"},
]


async def test_snapshots_that_were_read_before_are_those_of_a_new_goal_after_each_step(
    client: Client, account_id: int
) -> None:
    await factories.create_tag(client, type="mistake")
    await factories.create_strategy(client, **factories.A_CHECKLIST)
    goals = await create_goals(client)
    await read_histories(client, goals)
    reports: list[Any] = []

    for step in ("an import", "a correction", "undo the correction", "undo all"):
        if step.startswith("undo"):
            await undo(client, reports.pop())
        else:
            file = factories.build_file(*(SECOND if reports else FIRST))
            reports.append(await factories.create_import(client, file, account_id=account_id))

        new_goals = await create_goals(client)
        assert await read_histories(client, goals) == await read_histories(client, new_goals), step


async def test_a_goal_has_exact_sums_after_a_correction_and_undos_and_counts_a_kept_trade(
    client: Client, account_id: int
) -> None:
    goal = await factories.create_goal(client, timeframe="daily")

    async def read_actuals() -> list[float]:
        return [one["actual"] for one in await factories.snapshots_of(client, goal["id"], to="2026-01-05")]

    rows = [{"external_id": "1", "gross_pnl": "0.1"}, {"external_id": "2", "gross_pnl": "0.2"}]
    first = await factories.create_import(client, factories.build_file(*rows), account_id=account_id)
    assert await read_actuals() == [0.3]
    second = await factories.create_import(
        client, factories.build_file({**rows[1], "gross_pnl": "0.6"}), account_id=account_id
    )
    assert await read_actuals() == [0.7]
    await undo(client, second)
    assert await read_actuals() == [0.3]
    await factories.patch_trade(client, factories.read_ids(first)[0], grade="A")
    await undo(client, first)
    assert await read_actuals() == [0.1]
    await undo(client, first, force="true")
    assert await read_actuals() == []


@pytest.mark.parametrize("kind", ["fills", "pairs"])
async def test_parts_of_a_file_whose_trades_pay_commissions_change_nothing_and_leave_nothing(
    client: Client, settings: Settings, kind: str
) -> None:
    account = await factories.create_account(client, fees={"default": 0.5})
    fills = random_fills(5, 30)
    rows: list[Any] = fills if kind == "fills" else list(first_in_first_out(fills))
    form: Any = executions if kind == "fills" else performance
    await factories.create_import(client, form(rows), account_id=account["id"])
    before = read_record(settings.db)

    for begin, size in product(range(0, len(rows), examples(full=1, ci=10)), (1, 4, 10)):
        part = await factories.create_import(client, form(rows[begin : begin + size]), account_id=account["id"])

        assert part["counts"]["new"] == part["counts"]["updated"] == 0
        assert await undo(client, part) == []
        assert read_record(settings.db) == before, (begin, size)


async def test_a_fill_that_turned_a_position_has_all_its_fees_when_one_side_is_imported_again(
    client: Client, account_id: int
) -> None:
    header = b"Date,Time,Symbol,Quantity,Price,Side,Execution ID,Commission\n"
    bought = b"01/05/2026,09:00:00,ES,1,1005,Buy,101,1\n"
    turned = b"01/05/2026,10:00:00,ES,2,1008,Sell,102,4\n"
    first = await factories.create_import(client, header + bought, account_id=account_id)
    await factories.create_import(client, header + turned, account_id=account_id)
    assert (await client.delete(f"/imports/{first['id']}?force=true")).status_code == 204

    await factories.create_import(client, header + bought + turned, account_id=account_id)

    trades = unwrap(await client.get("/trades"))
    assert [(trade["fees"], trade["gross_pnl"]) for trade in trades] == [(2, None), (3, 3)]
