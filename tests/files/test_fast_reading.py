"""What makes an import fast changes nothing: remembered cells, times without a datetime, fewer lookups."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import chain
from random import Random
from typing import Any

import httpx
import pytest
from factories import create_account, create_import, create_trade, send_file, unwrap
from hypothesis import given
from hypothesis import strategies as st
from proofs import tried, tries

from journal_api.errors import ValidationFailed
from journal_api.repositories import new_trades
from journal_api.rules import trade_identity
from journal_api.rules.import_rows import Candidate, Rejected
from journal_api.rules.trade_draft import TradeDraft
from journal_api.trade_files import amounts, cells, date_cells, reader, remembered
from journal_api.trade_files.formats import round_trips
from journal_api.trade_files.formats.plain_round_trips import PlainReader
from journal_api.trade_files.timezones import FileTimezone
from journal_api.values import timestamps
from journal_api.values.timestamps import Timestamp

TRIPS = (
    *("symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price", "stop_loss", "opened_at"),
    *("closed_at", "gross_pnl", "fees", "initial_risk", "external_id", "account"),
)
GRID = ("Instrument", "Account", "Market pos.", "Qty", "Entry price", "Exit price", "Entry time", "Exit time",
        "Profit", "Commission")  # fmt: skip
FILLS = ("Date", "Time", "Symbol", "Side", "Quantity", "Price", "Commission", "Account")
ZONES = ("UTC", "America/New_York", "Australia/Lord_Howe", "America/St_Johns", "Asia/Kathmandu")

symbols = st.sampled_from(["ES", "ESU6", "MNQ 09-26", " SPY", "SPY240422P00496000", "é"])
sides = st.sampled_from(["long", "Short", "BUY", "sell ", "b"])
sizes = st.sampled_from(["1", "2.5", "0.5", "$3"])
prices = st.sampled_from(["5000.25", "$1234.50", "4", "0.12345678", "4990"])
sums = st.sampled_from(["", "12.5", "($5.00)", "-3"])
accounts = st.sampled_from(["", "One"])
# Cells that some column refuses, or that are rounded or read in an unusual way.
unusual = st.sampled_from(
    [
        *("", " ", "x", "up", "none", "0.123456789", "99999999999", "1,234", "1.234,5", "ABCU6", "Two"),
        *("2026-02-30T10:00:00", "2026-01-05T24:00:00", "2026-01-05T10:00:60", "1969-12-31T23:59:59Z"),
        *("13/1/2026 10:00:00", "1/5/2026 24:00:00", "1/5/2026 1x:00:00", "2200-12-31T23:30:00", "é" * 41),
    ]
)
# Where clocks change in New York, St. John's and on Lord Howe.
changes = st.sampled_from(
    [datetime(2026, 3, 8, 2), datetime(2026, 11, 1, 1), datetime(2006, 10, 29), datetime(2026, 4, 5, 1)]
)
instants = st.one_of(
    st.datetimes(datetime(1970, 1, 3), datetime(2200, 12, 28)),
    st.builds(datetime.replace, changes, minute=st.integers(0, 59)),
)
ISO = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S.%f")
US = ("%m/%d/%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%y %H:%M", "%Y-%m-%d %H:%M:%S")


def times_in(forms: tuple[str, ...], *offsets: str) -> st.SearchStrategy[tuple[str, str]]:
    """Opening and close in one of the forms and with one of the offsets."""
    return st.builds(
        lambda at, minutes, form, offset: (
            f"{at:{form}}{offset}",
            f"{at + timedelta(minutes=minutes):{form}}{offset}",
        ),
        instants,
        st.integers(0, 3000),
        st.sampled_from(forms),
        st.sampled_from(offsets),
    )


def with_unusual(row: tuple[str, ...], change: tuple[int, str] | None) -> list[str]:
    """The row, perhaps with one cell replaced."""
    index, cell = (0, row[0]) if change is None else (change[0] % len(row), change[1])
    return [*row[:index], cell, *row[index + 1 :]]


def rows_like(*cells: Any) -> st.SearchStrategy[list[list[str]]]:
    """Rows of those cells, of which a strategy of two times is two cells; a third has an unusual cell."""
    rows = st.tuples(*cells).map(lambda row: tuple(chain.from_iterable(map(cells_of, row))))
    change = st.one_of(st.none(), st.none(), st.tuples(st.integers(0, 13), unusual))
    return st.lists(st.builds(with_unusual, rows, change), min_size=1, max_size=12)


def cells_of(part: str | tuple[str, str]) -> tuple[str, ...]:
    return (part,) if isinstance(part, str) else part


trips = rows_like(
    symbols, sides, sizes, st.sampled_from(["", "50"]), prices, prices, st.sampled_from(["", "3"]),
    times_in(ISO, "", "", "Z", "Z", "z", "+05:30", "-0400"), sums, sums, st.sampled_from(["", "none", "5"]),
    st.sampled_from(["", "", "a", "1-2"]), accounts,
)  # fmt: skip
grids = rows_like(
    symbols, accounts, sides, sizes, prices, prices, times_in(US, ""),
    st.sampled_from(["$20.00", "($7.50)"]), st.sampled_from(["", "1.2"]),
)  # fmt: skip
fills = rows_like(
    st.sampled_from(["3/9/2026", "2026-03-10", "3/8/2026"]),
    st.sampled_from(["09:31:04", "9:40", "02:30:00"]),
    st.sampled_from(["ESU6", "QLTX"]), st.sampled_from(["Buy", "Sell"]), st.sampled_from(["1", "2", "0.5"]),
    st.sampled_from(["5000.25", "1234.5", "0.00000001"]), st.sampled_from(["", "1.2", "-0.3"]), accounts,
)  # fmt: skip
files = st.one_of(
    st.tuples(st.just(TRIPS), trips), st.tuples(st.just(GRID), grids), st.tuples(st.just(FILLS), fills)
)


def csv_of(header: tuple[str, ...], rows: list[Any], separator: str = ",") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows([header, *rows])
    return text.getvalue().encode()


def forget() -> None:
    """Empty everything that is remembered of cells, times and amounts."""
    for by_type in amounts.REMEMBERED.values():
        by_type.clear()
    remembered.remembered.cache_clear()
    date_cells.day_in.cache_clear()
    for cached in (
        timestamps._is_day,
        timestamps._utc_hour,
        timestamps._hours_of_day,
        trade_identity.checksum,
    ):
        cached.cache_clear()


@contextmanager
def definitions_alone() -> Iterator[None]:
    """Read times and amounts by their definitions only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(round_trips, "written_time", Timestamp.decode)
        for order in date_cells.ORDERS:
            patch.setitem(
                date_cells.TIMES, order, lambda cell, order=order: date_cells.date_and_clock(cell, order)
            )
        patch.setattr(cells, "remember", lambda values, cell, value: None)
        patch.setattr(remembered, "remember", lambda values, cell, value: None)
        forget()
        yield
    forget()


def read(content: bytes, zone: str) -> list[Any]:
    """The columns of the trades, and the rejected lines with their reasons; or why nothing is read."""
    timezone = FileTimezone(zone)
    try:
        file = reader.read(io.BytesIO(content), timezone, date_order="month")
        rows = list(file.candidates)
    except ValidationFailed as error:
        return [str(error)]
    results = [row if isinstance(row, Rejected) else outcome_of(row) for row in rows]
    return [*results, file.rounded.count, file.dates, timezone.source]


def outcome_of(row: Candidate) -> tuple[Any, ...]:
    imported = row.imported
    return imported.line, imported.account, imported.unstated, imported.is_future, row.columns


@tried(full=3000, short=60)
@given(files, st.sampled_from(ZONES), st.sampled_from(",;\t"))
def test_a_file_is_read_as_by_the_definitions(file: Any, zone: str, separator: str) -> None:
    header, rows = file
    content = csv_of(header, rows, separator)
    with definitions_alone():
        expected = read(content, zone)

    assert read(content, zone) == expected
    assert read(content, zone) == expected  # with everything remembered


PLAIN = (
    *("symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price"),
    *("opened_at", "closed_at", "gross_pnl", "fees"),
)
plain_rows = rows_like(
    symbols, sides, sizes, st.sampled_from(["", "50"]), prices, prices,
    times_in(ISO, "", "", "Z", "Z", "+05:30"), sums, sums,
)  # fmt: skip


def left_open(row: list[str]) -> list[str]:
    """The row without exit, close and result."""
    return [*row[:5], "", row[6], "", "", row[9]]


plain_files = st.lists(
    st.builds(
        lambda rows, is_open: [left_open(row) if is_open else row for row in rows], plain_rows, st.booleans()
    ),
    min_size=1,
    max_size=3,
).map(lambda parts: list(chain.from_iterable(parts)))


def read_by_column(content: bytes, zone: str) -> tuple[list[Any], FileTimezone]:
    """The columns of the trades, read by column if the rows are plain, and the chosen time zone."""
    file = reader.read(io.BytesIO(content), FileTimezone(zone))
    rows: list[Any] = []
    for batch in file.batches:
        if (columns := batch.columns()) is None:
            rows += [row if isinstance(row, Rejected) else row.columns for row in batch.candidates]
        else:
            absent = {**dict.fromkeys(new_trades.COLUMNS), **dict.fromkeys(TradeDraft.__struct_fields__)}
            names = columns.columns
            rows += [
                {name: value for name, value in {**absent, **dict(zip(names, values, strict=True))}.items()
                 if name not in ("id", "occurrence")}
                for values in zip(*names.values(), strict=True)
            ]  # fmt: skip
    return rows, file.timezone


@tried(full=5000, short=150)
@given(plain_files, st.sampled_from(ZONES), st.sampled_from(",;\t"))
def test_round_trips_are_read_by_column_as_by_row(rows: Any, zone: str, separator: str) -> None:
    content = csv_of(PLAIN, rows, separator)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PlainReader, "read", lambda reader, rows: None)
        expected, chosen = read_by_column(content, zone)

    found, timezone = read_by_column(content, zone)

    assert found == expected
    assert (timezone.name, timezone.source, timezone.accounts) == (
        chosen.name,
        chosen.source,
        chosen.accounts,
    )


def test_rows_that_state_nothing_but_a_trade_are_read_by_column() -> None:
    row = [
        "ESU6",
        "long",
        "2",
        "",
        "5000",
        "5001.25",
        "2026-03-09T10:00:00",
        "2026-03-09T10:05:00",
        "",
        "1.2",
    ]
    refused = [*row[:2], "none", *row[3:]]
    contents = [csv_of(PLAIN, rows) for rows in ([row, left_open(row)], [row, refused])]
    noted = csv_of((*PLAIN, "notes"), [[*row, ""], [*row, "late"]])

    batches = [
        next(reader.read(io.BytesIO(file), FileTimezone("UTC")).batches) for file in (*contents, noted)
    ]

    assert [batch.columns() is not None for batch in batches] == [True, False, False]


A_TRIP = "ESU6,long,1,,5000,5001,2026-03-09T10:00:00,2026-03-09T10:05:00,,"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (A_TRIP.replace(",1,,5000,", ",10000000000,,5000,"), "gross_pnl computed from the prices exceeds"),
        (A_TRIP.replace(",1,,5000,", ",300000000,,5000,"), "gross_pnl computed from the prices exceeds"),
        ("ESU6,long,1,,5000,,2200-12-31T23:30:00,,,", "opened_at must be in the years"),
        ("ESU6,long,1,,5000,5001,2026-03-09T10:00:00,,,", "exit_price requires closed_at"),
        ("ESU6,long,1,,5000,,2026-03-09T10:00:00,,3,", "gross_pnl requires closed_at"),
        ("ESU6,long,1,,5000,,2026-03-09T10:00:00,2026-03-09T10:05:00,,", "exit_price is required"),
        (f"{A_TRIP},more", "has 11 cells"),
        (A_TRIP.removesuffix(","), "has 9 cells"),
        (A_TRIP.replace("ESU6", '"ES"U6'), "is not CSV"),
    ],
)
def test_no_rule_for_rows_is_lost_when_they_are_read_by_column(line: str, reason: str) -> None:
    # Once beside a row that is read by column, and once with the same width as all rows of the file.
    for lines in ([A_TRIP + "," * line.endswith("more"), line], [line]):
        *_, last = read_by_column("\n".join([",".join(PLAIN), *lines]).encode(), "America/New_York")[0]

        assert isinstance(last, Rejected)
        assert last.reason.startswith(reason)


def test_a_cell_that_is_too_long_is_not_read_by_column() -> None:
    rows = [
        [symbol, "long", "1", "", "5000", "", "2026-03-09T10:00:00", "", "", ""]
        for symbol in ("SPY".ljust(9_000), "SPY".ljust(10_001))
    ]

    short, long = (read_by_column(csv_of(PLAIN, [row]), "UTC")[0] for row in rows)

    assert short[0]["symbol"] == "SPY"
    assert long == [Rejected(2, "symbol has over 10000 characters")]


async def test_rows_without_an_account_are_errors_of_their_lines(client: httpx.AsyncClient) -> None:
    file = "\n".join((f"{','.join(PLAIN)},account", f"{A_TRIP},", f"{A_TRIP},"))

    answer = await send_file(client, file)

    assert [row[:2] for row in verdicts_of(answer)] == [(2, "error"), (3, "error")]


async def test_columns_are_read_only_for_an_account_that_takes_them(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, rows_read = PlainReader.read, []

    def counted(reader: PlainReader, rows: Any) -> Any:
        rows_read.append(len(rows))
        return read(reader, rows)

    monkeypatch.setattr(PlainReader, "read", counted)
    empty, charged = [
        await create_account(client, name, fees=fees) for name, fees in (("A", {}), ("B", {"ES": 1}))
    ]

    for account in (empty, empty, charged):
        await create_import(client, account_id=account["id"])

    assert rows_read == [
        1
    ]  # of the first file: then the account has trades, and the other charges commissions


async def stored(client: httpx.AsyncClient, account_id: int) -> list[dict[str, Any]]:
    """The trades of an account as they are answered, without what differs between two accounts."""
    trades = unwrap(await client.get("/trades", params={"account_id": account_id, "limit": 200}))
    own = ("id", "account_id", "created_at", "updated_at")
    return [
        {name: value for name, value in trade.items() if name not in own}
        for trade in sorted(trades, key=lambda trade: trade["id"])
        if trade["symbol"] != "OTHER"
    ]


def random_file(random: Random) -> bytes:
    """Round trips of which some are equal, some have ids, and perhaps one is refused."""
    rows = []
    has_ids = random.random() < 0.7
    for _ in range(random.randint(1, 12)):
        minute = random.randint(0, 3)
        closed_at, exit_price = random.choice([("", ""), (f"2026-03-08T10:3{minute}:00", "5001.25")])
        external_id = random.choice(["", "", "", *"abcdefgh", "12-34", *"stuvwxyz"]) if has_ids else ""
        fees = random.choice(["", "1.2"])
        row = (
            "ESU6",
            "long",
            random.choice("12"),
            "5000",
            exit_price,
            f"2026-03-08T10:0{minute}:00",
            closed_at,
        )
        rows.append((*row, fees, external_id))
    header = (
        "symbol",
        "direction",
        "quantity",
        "entry_price",
        "exit_price",
        "opened_at",
        "closed_at",
        "fees",
    )
    return csv_of((*header, "external_id"), rows)


def verdicts_of(response: httpx.Response) -> list[Any]:
    body = response.json()
    rows = body["data"]["import"]["rows"] if response.is_success else body["error"]["details"]["rows"]
    return [(row["line"], row["verdict"], row["reason"], row["changed"]) for row in rows]


@pytest.mark.soak
async def test_a_file_has_the_same_verdicts_in_an_empty_account_and_beside_other_trades(
    client: httpx.AsyncClient,
) -> None:
    for seed in range(tries(full=300, short=12)):
        first, second = (random_file(Random(f"{seed} {turn}")) for turn in "ab")
        empty, used = [await create_account(client, f"{name} {seed}") for name in ("empty", "used")]
        await create_trade(client, used["id"], symbol="OTHER")

        outcomes = []
        for account in (empty, used):
            answers = [await send_file(client, file, account["id"]) for file in (first, first, second)]
            outcomes.append(
                ([verdicts_of(answer) for answer in answers], await stored(client, account["id"]))
            )

        assert outcomes[0] == outcomes[1], seed
