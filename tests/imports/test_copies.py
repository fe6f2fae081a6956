"""Copies that an import, or one request, links to their originals in a copy group: docs/imports.md#copies."""

import random
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import permutations
from typing import Any

import factories
import pytest
from commands import read_record
from factories import Client, unwrap
from positions import FileFill, executions
from proofs import examples
from saved_journals import for_rows

from journal_api.settings import Settings

pytestmark = pytest.mark.soak
BEGIN = datetime(2026, 2, 12, 14, 30)
MULTIPLIERS = {"A": 1, "B": 2, "C": 0.5}
WINDOW = 5  # seconds, the default of a group
# What a row of these tests says besides its time.
A_ROW = {"symbol": "MNQH6", "quantity": "2", "entry_price": "100", "exit_price": "101", "direction": "long"}


def at(seconds: float) -> str:
    return f"{(BEGIN + timedelta(seconds=seconds)).isoformat(timespec='milliseconds')}Z"


def build_row(name: str, opened: float, closed: float | None = None, **fields: str) -> dict[str, str]:
    """A row of a file: a trade that opens and closes so many seconds after 14:30."""
    closed = opened + 60 if closed is None else closed
    return {**A_ROW, "external_id": name, "opened_at": at(opened), "closed_at": at(closed), **fields}


class Journal:
    """A copy group of a master, M, and its followers."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.accounts: dict[str, int] = {}
        self.group: Any = None
        self.names: dict[int, str] = {}

    async def begin(self, multipliers: dict[str, float], **rules: Any) -> "Journal":
        for name in ("M", *multipliers):
            self.accounts[name] = (await factories.create_account(self.client, name))["id"]
        self.group = await factories.create_copy_group(self.client)
        members = [
            {"account_id": account_id, "quantity_multiplier": multipliers.get(name, 1)}
            for name, account_id in self.accounts.items()
        ]
        path = f"/copy-groups/{self.group['id']}"
        await self.client.put(f"{path}/members", json={"members": members})
        body = {"master_account_id": self.accounts["M"], **rules}
        unwrap(await self.client.patch(path, json=body))
        return self

    async def add(self, account: str, *rows: dict[str, str], **query: Any) -> Any:
        return await self.add_file(factories.build_file(*rows), account_id=self.accounts[account], **query)

    async def add_file(self, file: str | bytes, **query: Any) -> Any:
        return unwrap(await factories.send_file(self.client, file, **query))

    async def undo(self, report: Any, header: str = "x-trades-kept", **query: Any) -> str:
        response = await self.client.delete(f"/imports/{report['id']}", params=query)
        assert response.status_code == 204, response.text
        return str(response.headers.get(header, ""))

    async def trades(self) -> dict[str, Any]:
        """The trades by their names."""
        return {one["external_id"]: one for one in unwrap(await self.client.get("/trades?limit=200"))}

    async def links(self) -> dict[str, str]:
        """The names of the originals by the names of their copies."""
        trades = await self.trades()
        names = {one["id"]: name for name, one in trades.items()}
        return {name: names[one["source_trade_id"]] for name, one in trades.items() if one["source_trade_id"]}

    async def patch(self, name: str, **fields: Any) -> Any:
        trade = (await self.trades())[name]
        return unwrap(await self.client.patch(f"/trades/{trade['id']}", json=fields))

    async def link(self, **query: Any) -> Any:
        response = await self.client.post(f"/copy-groups/{self.group['id']}/link", params=query)
        assert response.status_code == 200, response.text
        return response.json()["data"]


# A master and three followers ----------------------------------------------------------------------------


def random_files(seed: int) -> tuple[dict[str, list[dict[str, str]]], dict[str, str], set[str]]:
    """The rows of each account, the originals of the copies in time, and those near two originals.

    Followers are 0 to 8 seconds late with other delays for entry and exit, and miss some trades. Now and then
    the master opens another position within a second or two of one.
    """
    choose = random.Random(seed)
    files: dict[str, list[dict[str, str]]] = {"M": [], "A": [], "B": [], "C": []}
    originals: dict[str, str] = {}
    crowded: set[str] = set()
    opened, previous = 0.0, -1000.0
    for number in range(24):
        opened += choose.choice((0.5, 1, 2, 40, 90, 300, 900))
        closed = opened + choose.choice((0.4, 20, 200))
        direction = {"direction": choose.choice(("long", "short"))}
        files["M"].append(build_row(f"M{number}", opened, closed, **direction, quantity="2"))
        for account, multiplier in MULTIPLIERS.items():
            late = choose.choice((0, 0.2, 1, 2, 5, 6, 8))
            exit_late = choose.choice((0, 0.3, 3, 8))
            name, size = f"{account}{number}", f"{2 * multiplier:g}"
            if choose.random() < 0.1:
                continue
            begin, end = opened + late, max(opened + late, closed + exit_late)
            files[account].append(build_row(name, begin, end, **direction, quantity=size))
            if late <= WINDOW:
                originals[name] = f"M{number}"
        if opened - previous < 20:
            crowded |= {f"{account}{one}" for account in MULTIPLIERS for one in (number, number - 1)}
        opened, previous = max(opened, closed), opened
    return files, originals, crowded


def counts_of(report: Any) -> tuple[int, list[Any]]:
    """What a dry run and its import say alike."""
    listed = [[one["trade"], *one["candidates"]] for one in report["ambiguous"]]
    return report["linked"], [[{**one, "trade_id": None} for one in those] for those in listed]


@pytest.mark.parametrize("seed", range(examples(full=60, ci=2)))
async def test_four_files_in_any_order_are_linked_alike_and_never_wrongly(
    client: Client, settings: Settings, seed: int
) -> None:
    journal = await Journal(client).begin(MULTIPLIERS)
    files, originals, crowded = random_files(seed)
    empty = read_record(settings.db)
    found: list[dict[str, str]] = []

    for order in [*permutations(files)][examples(full=0, ci=seed % 3) :: examples(full=1, ci=10)]:
        tried, reports = [], []
        for account in order:
            tried.append(await journal.add(account, *files[account], dry_run="1"))
            reports.append(await journal.add(account, *files[account]))
        found.append(await journal.links())
        assert [counts_of(report) for report in tried] == [counts_of(report) for report in reports]
        assert sum(report["linked"] for report in reports) == len(found[-1])
        random.Random(str(order)).shuffle(reports)
        assert [await journal.undo(report) for report in reports] == [""] * 4
        assert read_record(settings.db) == empty

    rows = [{**row, "account": account} for account in files for row in files[account]]
    random.Random(seed).shuffle(rows)
    await journal.add_file(factories.build_file(*rows))
    found.append(await journal.links())
    assert all(links == found[0] for links in found)
    links = found[0]
    assert {name: original for name, original in links.items() if original[1:] != name[1:]} == {}
    assert {name for name in originals if name not in links} <= crowded


# One at a time -------------------------------------------------------------------------------------------

M = build_row("M1", 0, 60)
SOON, LATE = build_row("M2", 3, 90), build_row("M2", 40, 90)


COPY, BOTH = build_row("A1", 1), {"A1": "M1", "A2": "M2"}
LINKED: dict[str, tuple[list[dict[str, str]], list[dict[str, str]], dict[str, Any], dict[str, str]]] = {
    # rows of the master, rows of the follower, rules of the group, what is linked
    "at the end of the window": ([M], [build_row("A1", 5)], {}, {"A1": "M1"}),
    "before the master": ([M], [build_row("A1", -5)], {}, {"A1": "M1"}),
    "too late": ([M], [build_row("A1", 5.001)], {}, {}),
    "a longer window": ([M], [build_row("A1", 8)], {"copy_seconds": 8}, {"A1": "M1"}),
    "no window": ([M], [build_row("A1", 0)], {"copy_seconds": 0}, {"A1": "M1"}),
    "the other direction": ([M], [{**COPY, "direction": "short"}], {}, {}),
    "a contract by another name": ([M], [{**COPY, "symbol": "mnq 03-26"}], {}, {"A1": "M1"}),
    "another month": ([M], [{**COPY, "symbol": "MNQM6"}], {}, {}),
    "another market": ([M], [{**COPY, "symbol": "ESH6"}], {}, {}),
    "any quantity": ([M], [{**COPY, "quantity": "3"}], {"any_quantity": True}, {"A1": "M1"}),
    "one after the other": ([M, LATE], [COPY, build_row("A2", 41, 91)], {}, BOTH),
    "the nearest": ([M, SOON], [build_row("A1", 0.5), build_row("A2", 3.5, 91)], {}, BOTH),
    "one that was missed": ([M, SOON], [build_row("A2", 3.5, 91)], {}, {"A2": "M2"}),
    **{
        f"{size} {symbol} of {master_size} {master} times {multiplier}": (
            [{**M, "symbol": master, "quantity": master_size}],
            [{**COPY, "symbol": symbol, "quantity": size}],
            {"multiplier": multiplier},
            {"A1": "M1"} if is_linked else {},
        )
        for multiplier, master, master_size, symbol, size, is_linked in [
            (1, "MNQH6", "2", "MNQH6", "3", False),
            (3, "MNQH6", "2", "MNQH6", "6", True),
            (0.5, "MNQH6", "3", "MNQH6", "1", True),
            (0.5, "MNQH6", "3", "MNQH6", "2", True),
            (0.5, "MNQH6", "4", "MNQH6", "1", False),
            (0.1, "MNQH6", "3", "MNQH6", "1", True),
            (1, "MNQH6", "2", "NQH6", "2", True),
            (1, "NQH6", "1", "MNQH6", "10", True),
            (2, "NQH6", "1", "MNQH6", "2", True),
            (1, "NQH6", "1", "MNQH6", "5", False),
            (1, "SILH6", "5", "SIH6", "1", True),
            (1, "M2KH6", "10", "RTYH6", "1", True),
            (0.5, "BTCUSD", "0.3", "BTCUSD", "0.15", True),
        ]
    },
}


@for_rows("masters, followers, rules, expected", LINKED.values())
async def test_a_copy_has_time_contract_direction_and_quantity_of_its_original(
    client: Client,
    masters: list[dict[str, str]],
    followers: list[dict[str, str]],
    rules: dict[str, Any],
    expected: dict[str, str],
) -> None:
    rules = {**rules}
    files = [("A", followers), ("M", masters)] if "multiplier" in rules else [("M", masters), ("A", followers)]
    (first, rows), (second, later) = files
    journal = await Journal(client).begin({"A": rules.pop("multiplier", 1)}, **rules)

    await journal.add(first, *rows)
    tried = await journal.add(second, *later, dry_run="1")
    report = await journal.add(second, *later)

    assert await journal.links() == expected
    assert tried["linked"] == report["linked"] == len(expected)
    assert report["ambiguous"] == []


AMBIGUOUS: dict[str, tuple[list[dict[str, str]], list[dict[str, str]], str | None, list[str]]] = {
    # rows of the master, rows of the follower, the trade that may belong to several, and those
    "two equally near": ([M, build_row("M2", 2)], [COPY], "A1", ["M1", "M2"]),
    "two in a second": ([M, build_row("M2", 1)], [COPY], "A1", ["M1", "M2"]),
    "one opened nearer, one closed nearer": (
        *([M, build_row("M2", 3, 300)], [build_row("A1", 2.5, 61)], "A1", ["M1", "M2"]),
    ),
    "one still open": (
        [{**M, "exit_price": "", "closed_at": ""}, build_row("M2", 3, 300)],
        *([{**build_row("A1", 2.5), "exit_price": "", "closed_at": ""}], "A1", ["M1", "M2"]),
    ),
    "late by one": (
        [build_row("M1", 0, 0.4), build_row("M2", 2, 2.4)],
        *([build_row("A1", 1.6, 1.8), build_row("A2", 8, 8.2)], "A1", ["M1", "M2"]),
    ),
    "two of an account": ([M], [COPY, build_row("A2", 4)], "M1", ["A1", "A2"]),
    "the contract itself before its full-size sibling": (
        [M, build_row("M2", 1, symbol="NQH6")],
        *([build_row("A1", 0, symbol="NQM6"), build_row("A2", 3.5)], None, []),
    ),
}


@for_rows("masters, followers, trade, candidates", AMBIGUOUS.values())
async def test_what_may_be_a_copy_of_two_is_listed_and_left_alone(
    client: Client,
    masters: list[dict[str, str]],
    followers: list[dict[str, str]],
    trade: str | None,
    candidates: list[str],
) -> None:
    journal = await Journal(client).begin({"A": 1})

    await journal.add("M", *masters)
    tried = await journal.add("A", *followers, dry_run="1")
    report = await journal.add("A", *followers)

    trades = await journal.trades()
    names = {one["id"]: name for name, one in trades.items()}
    listed = [(names[one["trade"]["trade_id"]], one["candidates"]) for one in report["ambiguous"]]
    assert [(name, {names[one["trade_id"]] for one in others}) for name, others in listed] == (
        [(trade, set(candidates))] if trade else []
    )
    assert await journal.links() == ({} if trade else {"A2": "M1"})
    without_ids = [
        [{**one, "trade_id": 0} for one in (both["trade"], *both["candidates"])] for both in report["ambiguous"]
    ]
    assert without_ids == [
        [{**one, "trade_id": 0} for one in (both["trade"], *both["candidates"])] for both in tried["ambiguous"]
    ]
    new = {one["trade_id"] for both in tried["ambiguous"] for one in (both["trade"], *both["candidates"])}
    assert new <= {None, *(trades[row["external_id"]]["id"] for row in masters)}


# What the trader decided ---------------------------------------------------------------------------------


async def test_what_the_trader_linked_or_unlinked_stays_as_it_is(client: Client) -> None:
    journal = await Journal(client).begin({"A": 1, "B": 1, "C": 1})
    await journal.add("M", M, LATE)
    for account in "ABC":
        await journal.add(account, build_row(f"{account}1", 1))
    trades = await journal.trades()
    await journal.patch("A1", source_trade_id=None)
    await journal.patch("B1", source_trade_id=trades["M2"]["id"])

    again = await journal.link()

    assert again == {"linked": 0, "ambiguous": []}
    assert await journal.links() == {"B1": "M2", "C1": "M1"}
    assert (await journal.add("M", {**M, "fees": "3"}))["linked"] == 0
    await journal.patch("A1", source_trade_id=trades["M1"]["id"])
    assert (await journal.links())["A1"] == "M1"
    second = await journal.add("A", build_row("A2", 4))
    assert (second["linked"], len(second["ambiguous"])) == (0, 1)  # A1 is the copy of its account
    await journal.add("A", build_row("A3", 601))
    await journal.patch("A3", source_trade_id=None, notes="Late")  # as it was read: not unlinked
    assert (await journal.add("M", build_row("M3", 600)))["linked"] == 1


async def test_a_new_trade_stays_as_new_and_what_has_copies_of_its_own_is_no_copy(client: Client) -> None:
    journal = await Journal(client).begin({"A": 1, "B": 1})
    await journal.add("A", build_row("A1", 1))
    await journal.add("B", build_row("B1", 1, 400))
    await journal.patch("B1", source_trade_id=(await journal.trades())["A1"]["id"])

    assert (await journal.add("M", M))["linked"] == 0
    assert (await journal.add("A", build_row("A2", 41)))["linked"] == 0
    report = await journal.add("M", LATE)

    assert (report["linked"], await journal.links()) == (1, {"B1": "A1", "A2": "M2"})
    new = await journal.add("B", build_row("B2", 41, notes="from the file"))
    trade = (await journal.trades())["B2"]
    assert (new["linked"], trade["created_at"]) == (1, trade["updated_at"])


async def test_copies_that_a_file_names_are_kept_and_their_original_is_that_of_others(client: Client) -> None:
    journal = await Journal(client).begin({"A": 1, "B": 1})
    rows = [
        {**M, "account": "M", "row": "m", "copy_of": "x"},
        {**build_row("X", 1), "account": "B", "row": "x", "copy_of": ""},
        {**build_row("A1", 1), "account": "A", "row": "a", "copy_of": ""},
    ]

    tried = await journal.add_file(factories.build_file(*rows), dry_run="1")
    report = await journal.add_file(factories.build_file(*rows))

    assert (tried["linked"], report["linked"]) == (1, 1)
    assert await journal.links() == {"M1": "X", "A1": "X"}


async def test_the_copies_of_an_undone_original_are_free_and_linked_when_it_is_imported_again(client: Client) -> None:
    journal = await Journal(client).begin({"A": 1, "B": 1})
    master = await journal.add("M", M)
    for account in "AB":
        copy = await journal.add(account, build_row(f"{account}1", 1))

    assert await journal.undo(copy, "x-copies-unlinked", dry_run=True) == "0"
    assert await journal.undo(master, "x-copies-unlinked", dry_run=True) == "2"
    assert await journal.undo(master) == ""
    assert await journal.links() == {}
    assert (await journal.add("M", M))["linked"] == 2
    assert await journal.links() == {"A1": "M1", "B1": "M1"}


async def test_an_undone_import_leaves_what_the_trader_edited_since(client: Client) -> None:
    journal = await Journal(client).begin({"A": 1, "B": 1})
    for account in "AB":
        await journal.add(account, build_row(f"{account}1", 1))
    report = await journal.add("M", M)
    await journal.patch("A1", grade="B")
    await journal.patch("M1", grade="A")

    kept = await journal.undo(report, keep="1")

    trades = await journal.trades()
    assert kept == str(trades["M1"]["id"])
    assert await journal.links() == {"A1": "M1", "B1": "M1"}
    assert await journal.undo(report, force="1") == ""
    assert {name: one["grade"] for name, one in (await journal.trades()).items()} == {"A1": "B", "B1": None}


@pytest.mark.parametrize(
    ("before", "files", "linked"),
    [
        # A copy that has the quantity of its original from a later file on, and one whose price is corrected.
        ([], [("A", build_row("A1", 1)), ("M", M)], [0, 1]),
        ([("M", M)], [("A", build_row("A1", 1))], [1]),
        ([("A", build_row("A1", 1)), ("M", M)], [("A", build_row("A1", 1, exit_price="102"))], [0]),
    ],
    ids=["a correction, then the original", "a correction beside the original", "a correction of a copy"],
)
async def test_a_correction_of_a_copy_and_its_link_are_undone_in_any_order(
    client: Client, settings: Settings, before: list[Any], files: list[Any], linked: list[int]
) -> None:
    journal = await Journal(client).begin({"A": 1})
    await journal.add("A", build_row("A1", 1, quantity="1"))
    for account, row in before:
        await journal.add(account, row)
    record = read_record(settings.db)

    for order in permutations(range(len(files))):
        tried, reports = [], []
        for account, row in files:
            tried.append((await journal.add(account, row, dry_run="1"))["linked"])
            reports.append(await journal.add(account, row))
        assert tried == [report["linked"] for report in reports] == linked
        assert await journal.links() == {"A1": "M1"}
        assert [await journal.undo(reports[one]) for one in order] == [""] * len(files)
        assert read_record(settings.db) == record


async def test_a_position_that_a_file_cuts_is_linked_when_the_next_file_completes_it(
    client: Client, settings: Settings
) -> None:
    fills = [
        FileFill(1000 + number, BEGIN + timedelta(seconds=10 * number), "MNQH6", quantity, Decimal(100))
        for number, quantity in enumerate((1, 1, -2))
    ]
    journal = await Journal(client).begin({"A": 1})
    accounts = journal.accounts
    await journal.add_file(executions(fills[:1]), account_id=accounts["M"])
    late = [fill._replace(time=fill.time + timedelta(seconds=2)) for fill in fills]
    before_copy = read_record(settings.db)
    copied = await journal.add_file(executions(late), account_id=accounts["A"])
    before = read_record(settings.db)

    completed = await journal.add_file(executions(fills), account_id=accounts["M"])

    original, copy = sorted(await factories.list_trades(client), key=lambda trade: int(trade["account_id"]))
    assert [copied["linked"], completed["linked"]] == [0, 1]
    assert (copy["source_trade_id"], original["quantity"]) == (original["id"], 2)
    assert await journal.undo(completed) == ""
    assert read_record(settings.db) == before
    assert await journal.undo(copied) == ""
    assert read_record(settings.db) == before_copy


# What is there already -----------------------------------------------------------------------------------


async def test_one_request_links_what_is_there_already_and_a_dry_run_does_not(client: Client) -> None:
    journal = await Journal(client).begin({"A": 1, "B": 1}, master_account_id=None)
    trades = {
        account: await factories.create_trade(
            client,
            account_id,
            symbol="MNQH6",
            quantity=2,
            external_id=account,
            opened_at=at(0),
            closed_at=None,
            exit_price=None,
        )
        for account, account_id in journal.accounts.items()
    }
    without_master = await journal.link()
    master = {"master_account_id": journal.accounts["M"]}
    unwrap(await client.patch(f"/copy-groups/{journal.group['id']}", json=master))

    tried = await journal.link(dry_run="1")
    assert await journal.links() == {}
    other = await journal.add("M", build_row("M2", 30, direction="short"))
    linked = await journal.link()

    assert other["linked"] == 0
    assert without_master == {"linked": 0, "ambiguous": []}
    assert tried == linked == {"linked": 2, "ambiguous": []}
    assert await journal.links() == {"A": "M", "B": "M"}
    assert (await journal.trades())["A"]["updated_at"] > trades["A"]["updated_at"]
    unknown = await client.post("/copy-groups/987654/link")
    assert unknown.status_code == 404
