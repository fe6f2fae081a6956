"""What a dry run shows is what the import writes: sums, first and last trades, costs, and the token."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import factories
import pytest
from commands import import_file
from factories import Client, details_of, error_of, unwrap
from positions import executions, first_in_first_out, performance, random_fills
from proofs import examples
from saved_journals import for_rows

SUMS = ("trades", "open", "quantity", "gross_pnl", "fees", "net_pnl")
SHOWN = (
    *("account_id", "symbol", "direction", "quantity", "entry_price", "exit_price", "opened_at", "closed_at"),
    *("trading_day", "gross_pnl", "fees", "fees_source", "net_pnl"),
)
WITH_FEES = factories.build_file({"fees": "1"}, {"fees": "2", "quantity": "2"})
AMBIGUOUS = """\
Date,Time,Symbol,Side,Quantity,Price
1/5/2026,14:00:00,MNQH6,BUY,1,100
1/5/2026,14:30:00,MNQH6,SELL,1,101
"""


def pairs_of(seed: int, fills: int = 60) -> bytes:
    return performance(first_in_first_out(random_fills(seed, fills)))


async def preview(client: Client, file: str | bytes, account_id: int, **query: Any) -> Any:
    report = unwrap(await factories.send_file(client, file, account_id, dry_run=True, **query))
    return report["preview"]


def add_up(trades: Sequence[Any]) -> list[float]:
    """The sums of trades; results and fees of the closed ones."""
    closed = [trade for trade in trades if trade["closed_at"] is not None]
    amounts = [round(sum(trade[name] for trade in closed), 8) for name in SUMS[3:]]
    return [len(trades), len(trades) - len(closed), sum(trade["quantity"] for trade in trades), *amounts]


def group(trades: Sequence[Any], name: str) -> dict[Any, list[float]]:
    keys = {trade[name] for trade in trades}
    return {key: add_up([trade for trade in trades if trade[name] == key]) for key in keys}


def read_sums(groups: Sequence[Any], name: str) -> dict[Any, list[float]]:
    return {one[name]: [one[sum_] for sum_ in SUMS] for one in groups}


@for_rows("seed", range(examples(full=60, ci=4)))
async def test_the_import_adds_the_trades_of_its_preview(client: Client, seed: int) -> None:
    account = await factories.create_account(client, fees={"MNQ": 0.37} if seed % 2 else {})
    fills = random_fills(seed, 8 * (1 + seed % 9))
    file = executions(fills[: -1 - seed % 3])  # the last positions may stay open

    shown = await preview(client, file, account["id"])
    report = await factories.create_import(client, file, account_id=account["id"], preview=shown["token"])

    trades = await factories.list_trades(client, import_id=report["id"])
    assert [shown["total"][name] for name in SUMS] == add_up(trades)
    assert report["counts"]["new"] == shown["total"]["trades"]
    assert read_sums(shown["accounts"], "account_id") == group(trades, "account_id")
    assert read_sums(shown["symbols"], "contract") == group(trades, "contract")
    assert read_sums(shown["days"], "day") == group(trades, "trading_day")
    in_order = sorted(trades, key=lambda trade: (trade["opened_at"], trade["id"]))
    expected = [{name: trade[name] for name in SHOWN} for trade in in_order]
    listed = [{name: trade[name] for name in SHOWN} for trade in (*shown["first"], *shown["last"])]
    assert listed == (expected if len(expected) <= 10 else [*expected[:5], *expected[-5:]])
    days = sorted(trade["trading_day"] for trade in trades if trade["closed_at"])
    (stored,) = unwrap(await client.get("/imports"))
    assert [shown["first_day"], shown["last_day"]] == [days[0], days[-1]] if days else [None, None]
    assert [stored["first_day"], stored["last_day"]] == [shown["first_day"], shown["last_day"]]
    assert round(stored["net_pnl"] or 0, 8) == shown["total"]["net_pnl"]


@for_rows(
    "file, shown, sent, changed",
    [
        (factories.A_FILE, {}, {"content": WITH_FEES}, "file"),
        (factories.A_FILE, {}, {"content": factories.A_FILE + "\n"}, "file"),
        (factories.A_FILE, {}, {"account_id": 2}, "options"),
        (AMBIGUOUS, {}, {"timezone": "America/New_York"}, "options"),
        (AMBIGUOUS, {}, {"date_order": "day"}, "options"),
        (AMBIGUOUS, {"date_order": "day"}, {}, "options"),
        (factories.A_FILE, {}, {"force": True}, "options"),
        (factories.A_FILE, {}, {"one_trade_is": "row"}, "options"),
        (pairs_of(1), {}, {"one_trade_is": "row"}, "options"),
        (pairs_of(1), {"one_trade_is": "row"}, {"one_trade_is": "position"}, "options"),
    ],
)
async def test_another_request_than_the_preview_showed_is_refused(
    client: Client, file: str | bytes, shown: Any, sent: Any, changed: str
) -> None:
    account, _ = await factories.create_account(client), await factories.create_account(client, "Other")
    token = (await preview(client, file, account["id"], **shown))["token"]
    query = {"account_id": account["id"], "timezone": "UTC", "preview": token, **sent}

    refused = await factories.send_file(client, query.pop("content", file), **query)
    dry = await factories.send_file(client, sent.get("content", file), **query, dry_run=True)

    assert error_of(refused) == error_of(dry) == (409, "preview_changed")
    assert details_of(refused)["changed"] == [changed]
    assert (await factories.list_trades(client), unwrap(await client.get("/imports"))) == ([], [])


FUTURE = factories.build_file({"symbol": "ESH6"})
ENTERED = {**factories.A_TRADE, "symbol": "ESH6", "account_id": 1}
CHANGES: dict[str, tuple[str, str, Any, bool]] = {
    "another name of the account": ("PATCH", "/accounts/1", {"name": "Renamed"}, False),
    "the file in another account": ("POST", "/imports?account_id=2", FUTURE, False),
    "the file in the account": ("POST", "/imports?account_id=1", FUTURE, True),
    "the trade by hand": ("POST", "/trades", {**ENTERED, "multiplier": 50}, True),
    "commissions": ("PATCH", "/accounts/1", {"fees": {"ES": 1}}, True),
    "a point value": ("PUT", "/instruments/ES", {"point_value": 49}, True),
}


@for_rows("method, path, body, is_refused", CHANGES.values())
async def test_a_journal_that_changes_the_import_since_its_preview_refuses_it(
    client: Client, account_id: int, method: str, path: str, body: Any, is_refused: bool
) -> None:
    await factories.create_account(client, "Other")
    token = (await preview(client, FUTURE, account_id))["token"]
    request: Any = {"content": body, "headers": {"Content-Type": "text/csv"}} if body is FUTURE else {"json": body}
    unwrap(await client.request(method, path, **request))
    before = await factories.list_trades(client)

    sent = await factories.send_file(client, FUTURE, account_id, preview=token)

    if is_refused:
        assert error_of(sent) == (409, "preview_changed")
        assert details_of(sent)["changed"] == ["journal"]
        assert await factories.list_trades(client) == before
    else:
        assert sent.status_code == 201


async def test_a_preview_of_errors_has_no_token_and_a_malformed_token_is_refused(
    client: Client, account_id: int
) -> None:
    broken = factories.A_FILE + "ES,up,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z\n"

    shown = await preview(client, broken, account_id)
    refused = await factories.send_file(client, factories.A_FILE, account_id, preview="abc")

    assert (shown["token"], shown["total"]["trades"]) == (None, 1)
    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["fields"] == {"preview": "must be the token of a dry run's preview"}


async def test_an_update_shows_the_old_values_beside_the_new(client: Client, account_id: int) -> None:
    before, after = {"external_id": "1", "fees": "1"}, {"external_id": "1", "fees": "2.5", "symbol": "NQ"}
    await factories.create_import(client, factories.build_file(before), account_id=account_id)

    report = unwrap(await factories.send_file(client, factories.build_file(after), account_id, dry_run=True))

    assert report["rows"][0]["changes"] == [
        {"field": "symbol", "before": "ES", "after": "NQ"},
        {"field": "fees", "before": 1, "after": 2.5},
    ]
    assert report["preview"]["total"]["trades"] == 0


def two_files() -> tuple[bytes, bytes]:
    """Fills, and pairs of another size at the same times."""
    fills = random_fills(3, 2)
    larger = [fill._replace(quantity=2 * fill.quantity, id=fill.id + 500) for fill in fills]
    return executions(fills), performance(first_in_first_out(larger))


@pytest.mark.parametrize("said", [("--force",), ("--answer", "2=new")])
def test_the_command_names_suspects_and_imports_them_when_told(tmp_path: Path, said: Sequence[str]) -> None:
    db, paths = tmp_path / "journal.db", (tmp_path / "fills.csv", tmp_path / "pairs.csv")
    for path, content in zip(paths, two_files(), strict=True):
        path.write_bytes(content)
    import_file(db, paths[0])

    plain = import_file(db, paths[1])
    forced = import_file(db, paths[1], *said)

    assert plain.out == "0 new, 0 already there, 1 suspect: --answer or --force imports them\n"
    assert "line 2: suspect: is contradicted by another file of the same time" in plain.err
    assert "(--answer 2=new or --answer 2=leave)" in plain.err
    assert forced.out == "0 new, 1 updated, 0 already there\n"


async def test_suspects_have_the_stored_values_beside_theirs_and_are_imported_by_force_alone(
    client: Client, account_id: int
) -> None:
    first, other = two_files()
    added = await factories.create_import(client, first, account_id=account_id)
    (stored,) = await factories.list_trades(client)
    said = await factories.create_import(client, other, account_id=account_id, dry_run=True)
    (suspect,), plain = said["rows"], said["preview"]
    assert (added["has_pairs"], said["has_pairs"]) == (False, True)
    assert (suspect["trade_id"], suspect["changed"]) == (stored["id"], [])
    doubled = {**stored, "quantity": 2 * stored["quantity"], "gross_pnl": 2 * stored["gross_pnl"]}
    changes = {one["field"]: (one["before"], one["after"]) for one in suspect["changes"]}
    compared = ("direction", "quantity", "opened_at", "closed_at", "entry_price", "exit_price", "gross_pnl")
    assert {name: changes[name] for name in compared} == {name: (stored[name], doubled[name]) for name in compared}

    forced = await preview(client, other, account_id, force=True)
    kept = await factories.create_import(client, other, account_id=account_id, preview=plain["token"])
    count = len(await factories.list_trades(client))
    mixed = await factories.send_file(client, other, account_id, preview=plain["token"], force=True)
    report = await factories.create_import(client, other, account_id=account_id, preview=forced["token"], force=True)
    again = await factories.create_import(client, other, account_id=account_id)

    assert error_of(mixed) == (409, "preview_changed")
    assert kept["counts"]["new"] == plain["total"]["trades"] == 0
    assert kept["counts"]["suspect"] == report["counts"]["updated"] == 1
    assert [trade["quantity"] for trade in await factories.list_trades(client)] == [2 * stored["quantity"]]
    assert again["counts"]["new"] == again["counts"].get("suspect", 0) == 0
    assert (await client.delete(f"/imports/{report['id']}")).status_code == 204
    assert len(await factories.list_trades(client)) == count


@for_rows(
    "fees, file, costs",
    [
        ({}, WITH_FEES, "stated"),
        ({}, factories.A_FILE, "none"),
        ({"default": 0}, factories.A_FILE, "by_account"),
        ({"NQ": 1}, factories.A_FILE, "none"),
        ({"ES": 1}, factories.build_file({"fees": "1"}, {"fees": ""}), "by_account"),
        ({}, factories.build_file({"fees": "1"}, {"fees": ""}), "none"),
        ({}, factories.A_FILE.splitlines()[0], None),
    ],
)
async def test_the_report_says_where_the_costs_come_from(client: Client, fees: Any, file: str, costs: Any) -> None:
    account = await factories.create_account(client, fees=fees)

    for dry_run in (True, False, False):
        report = unwrap(await factories.send_file(client, file, account["id"], dry_run=dry_run))

        assert report["costs"] == costs
        assert report["accounts_without_costs"] == ([account["id"]] if costs == "none" else [])


async def test_the_setting_of_the_account_says_what_one_trade_is(client: Client) -> None:
    account = await factories.create_account(client, one_trade_is="row")
    path = f"/accounts/{account['id']}"

    rows = unwrap(await factories.send_file(client, pairs_of(1), account["id"], dry_run=True))
    stated = unwrap(
        await factories.send_file(client, pairs_of(1), account["id"], dry_run=True, one_trade_is="position")
    )
    await client.patch(path, json={"one_trade_is": None})
    default = unwrap(await factories.send_file(client, pairs_of(1), account["id"], dry_run=True))

    assert [one["one_trade_is"] for one in (rows, stated, default)] == ["row", "position", "position"]
    assert stated["counts"] == default["counts"] != rows["counts"]


async def create_group(client: Client) -> tuple[int, int]:
    """The master and the follower of a copy group."""
    accounts = [(await factories.create_account(client, name))["id"] for name in ("Master", "Follower")]
    group = await factories.create_copy_group(client, account_ids=accounts)
    unwrap(await client.patch(f"/copy-groups/{group['id']}", json={"master_account_id": accounts[0]}))
    return accounts[0], accounts[1]


@for_rows("is_copied", [True, False])
async def test_the_token_covers_the_copies_that_an_import_links(client: Client, is_copied: bool) -> None:
    master, follower = await create_group(client)
    original = await factories.create_import(client, factories.A_FILE, account_id=master)
    shown = unwrap(await factories.send_file(client, factories.A_FILE, follower, dry_run=True))
    await factories.create_import(client, factories.A_FILE)  # takes the next id
    if not is_copied:
        await client.delete(f"/imports/{original['id']}")

    sent = await factories.send_file(client, factories.A_FILE, follower, preview=shown["preview"]["token"])

    assert shown["linked"] == 1
    if is_copied:
        assert unwrap(sent)["linked"] == 1
    else:
        assert error_of(sent) == (409, "preview_changed")


async def test_undo_unlinks_a_copy_that_was_charged_since(client: Client) -> None:
    master, follower = await create_group(client)
    await factories.create_import(client, factories.A_FILE, account_id=follower)
    report = await factories.create_import(client, factories.A_FILE, account_id=master)
    before = [trade["source_trade_id"] for trade in await factories.list_trades(client, account_id=follower)]
    charged = await client.patch(f"/accounts/{follower}", params={"apply_to": "earlier"}, json={"fees": {"ES": 1}})

    undone = await client.delete(f"/imports/{report['id']}")

    assert (report["linked"], charged.headers["x-trades-charged"], before) == (1, "1", factories.read_ids(report))
    assert "x-trades-kept" not in undone.headers
    (left,) = await factories.list_trades(client)
    assert (left["account_id"], left["source_trade_id"], left["fees"]) == (follower, None, 2)
