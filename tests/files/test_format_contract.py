"""What holds for every format of trade files, the built-in profiles and the modules: docs/imports.md."""

import csv
import io
import random
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import httpx
import pytest
from factories import create_account, create_import, read_file, unwrap
from hypothesis import given
from hypothesis import strategies as st
from proofs import tried

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Candidate, Rejected
from journal_api.trade_files import flex_query, headers, reader
from journal_api.trade_files.file_format import KnownFormat, find_column
from journal_api.trade_files.headers import split_rows
from journal_api.trade_files.known_formats import known_formats
from journal_api.trade_files.rows import Cells

DATA = Path(__file__).parents[1] / "data"


class Sample(NamedTuple):
    """A file of a format and what it comes to: sizes are contracts, shares or lots, all trades together."""

    file: str
    format: str
    longs: int
    shorts: int
    sizes: str
    gross: str
    fees: str
    left_out: int = 0
    unread: str = ""  # columns of the header whose cells are not read, separated by |
    separator: str = ","


SAMPLES = [
    Sample("round_trips.csv", "round trips", 5, 2, "1506.015", "-127", "28.18"),
    Sample("executions.csv", "executions", 3, 1, "530", "107", "6.27"),
    Sample("tradezella_template.csv", "TradeZella template", 2, 0, "123", "237", "5.96"),
    Sample("tradezella_trades.csv", "TradeZella trades", 5, 1, "236", "3695", "16.6", unread="Zella Score"),
    Sample("tradervue_trades.csv", "Tradervue trades", 3, 2, "572", "988.7", "24.44"),
    Sample("ninjatrader_trades.csv", "NinjaTrader trades", 3, 2, "6", "807.5", "15.1"),
    Sample("metatrader5_history.csv", "MetaTrader 5 history", 3, 2, "10.9", "-1225.65", "6.38"),
    Sample("tradovate_position_history.csv", "Tradovate position history", 3, 2, "16", "-218", "0",
           unread="Pair ID"),
    Sample("tradovate_performance.csv", "Tradovate performance", 3, 2, "16", "-218", "0"),
    Sample("tradovate_orders.csv", "Tradovate orders", 1, 1, "4", "-15", "0", 1),
    Sample("topstepx_trades.csv", "TopstepX trades", 1, 1, "3", "-75", "4.28"),
    Sample("topstepx_orders.csv", "TopstepX orders", 1, 0, "2", "40", "0", 1, "PositionDisposition"),
    Sample("ibkr_flex_trades.csv", "IBKR Flex trades", 1, 1, "102", "180", "4.6", 1),
    Sample("ibkr_flex_query.xml", "IBKR Flex trades", 1, 1, "102", "180", "4.6", 1),
    Sample("ibkr_activity_statement.csv", "IBKR activity statement", 2, 2, "20103", "470", "8.54", 1,
           "Asset Category"),
    Sample("metatrader4_statement.html", "MetaTrader 4 statement", 1, 2, "1.6", "394.28", "11.74", 2),
    Sample("thinkorswim_statement.csv", "ThinkOrSwim statement", 2, 1, "206", "150", "0", 0,
           "Spread|Pos Effect|Net Price"),
    Sample("thinkorswim_trade_history.csv", "ThinkOrSwim trade history", 1, 0, "50", "15", "0", 0,
           "Spread|Pos Effect|Net Price"),
    Sample("ninjatrader_executions.csv", "NinjaTrader executions", 1, 1, "3", "-135", "6.48", 0, "E/X"),
    Sample("ninjatrader_fills.csv", "NinjaTrader fills", 0, 1, "1", "250", "4.24"),
    Sample("webull_orders.csv", "Webull orders", 2, 0, "32", "9", "0", 1, "Status"),
    Sample("sierra_chart_trades.txt", "Sierra Chart trades", 1, 0, "1", "150", "4.8", 0, "OrderID", "\t"),
    Sample("sierra_chart_activity.txt", "Sierra Chart activity", 1, 0, "2", "30", "0", 1, "", "\t"),
    Sample("quantower_trades.csv", "Quantower trades", 1, 0, "0.5", "6.25", "0.38", 0,
           "Symbol type|Position ID"),
    Sample("tradezero_trades.csv", "TradeZero trades", 0, 1, "100", "24", "3.35", 0, "Gross Proceeds"),
    Sample("tradingview_trades.csv", "TradingView list of trades", 2, 1, "160", "40", "0"),
    Sample("fidelity_history.csv", "Fidelity history", 2, 0, "27", "20", "1.36", 1),
]  # fmt: skip
every_format = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.file)


def content_of(sample: Sample) -> bytes:
    return (DATA / sample.file).read_bytes()


def known(sample: Sample) -> KnownFormat:
    return next(known for known in known_formats() if known.name == sample.format)


def read(content: bytes) -> tuple[reader.TradeFile, list[Candidate | Rejected]]:
    file = read_file(content, "America/New_York")
    return file, list(file.candidates)


def trades_in(content: bytes) -> list[dict[str, Any]]:
    """The columns of the trades of a file without errors."""
    _, rows = read(content)
    trades = [row.columns for row in rows if isinstance(row, Candidate)]
    assert len(trades) == len(rows)
    return trades


def table_of(sample: Sample) -> list[list[str]]:
    """The rows of a sample; those of XML and HTML as the service splits them."""
    if not sample.file.endswith(("xml", "html")):
        return list(csv.reader(io.StringIO(content_of(sample).decode()), delimiter=sample.separator))
    (rows,) = split_rows(iter(content_of(sample).decode().splitlines(keepends=True)))
    return [row.cells for row in rows if isinstance(row, Cells)]


def written(sample: Sample, table: list[list[str]]) -> bytes:
    """A file of those rows; in XML and HTML each row is a line."""
    if sample.file.endswith("xml"):
        return as_xml(*table).encode()
    if sample.file.endswith("html"):
        return "\n".join(["<table>" + as_html(table[0]), *map(as_html, table[1:])]).encode()
    file = io.StringIO()
    csv.writer(file, delimiter=sample.separator).writerows(table)
    return file.getvalue().encode()


def as_html(row: list[str]) -> str:
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"


def as_xml(header: list[str], *rows: list[str]) -> str:
    """A Flex Query with an attribute for each column."""
    attributes = {column: name for name, column in flex_query.COLUMNS.items()}
    names = [attributes.get(column, column) for column in header]
    trades = [" ".join(f"{name}={quoteattr(cell)}" for name, cell in zip(names, row, strict=True))
              for row in rows]  # fmt: skip
    return "\n".join(
        ["<FlexQueryResponse>", *(f"<Trade {trade}/>" for trade in trades), "</FlexQueryResponse>"]
    )


def without_names(sample: Sample) -> bytes:
    """The sample without the columns that name things of the journal."""
    if sample.format != "round trips":
        return content_of(sample)
    table = table_of(sample)
    kept = [index for index, name in enumerate(table[0])
            if name not in ("strategy", "setup", "tags", "confirmations")]  # fmt: skip
    return written(sample, [[row[index] for index in kept] for row in table])


def into_account(content: bytes, account_id: int) -> dict[str, Any]:
    """The parameters that put all trades of a file into one account."""
    _, rows = read(content)
    names = {row.imported.account for row in rows if isinstance(row, Candidate)}
    if len(names) == 1:
        return {"account_id": account_id}
    return {"account_id": None, "accounts": [f"{name}:{account_id}" for name in names]}


def header_row(sample: Sample, table: list[list[str]]) -> int:
    """The index of the header in the table."""
    wanted = known(sample)
    headings = [(wanted.section or "") for _ in table]
    fitting = zip(range(len(table)), table, headings, strict=True)
    return next(index for index, row, heading in fitting if wanted.fits(headers.name_columns(row), heading))


def rows_below(sample: Sample, table: list[list[str]]) -> range:
    """The indexes of the rows below the header, up to a row of the next section."""
    begin = header_row(sample, table) + 1
    rows = range(begin, len(table))
    return range(begin, next((index for index in rows if sum(map(bool, table[index])) < 3), len(table)))


def line_of(content: bytes, sample: Sample, number: int) -> int:
    """The last line of the row with that index."""
    if sample.file.endswith(("xml", "html")):
        return number + 1
    rows = csv.reader(io.StringIO(content.decode()), delimiter=sample.separator)
    return [rows.line_num for _ in rows][number]


def required_in(sample: Sample, table: list[list[str]]) -> list[str]:
    """The names that the required columns have in the sample."""
    names = headers.name_columns(table[header_row(sample, table)])
    found = [find_column(names, list(parts)) for parts in known(sample).header]
    return [name for name in found if name is not None]


def is_named(column: str, missing: str) -> bool:
    """Whether the column is one of the alternatives that are missing; of Time and Time 2 the other may be."""
    alternatives = missing.split(" or ")
    return f"{column} 2" in alternatives or find_column([column], alternatives) is not None


def test_every_format_has_a_sample() -> None:
    assert {sample.format for sample in SAMPLES} == {known.name for known in known_formats()}


@every_format
def test_a_sample_is_read_with_its_totals(sample: Sample) -> None:
    file, rows = read(content_of(sample))
    trades = [row.columns for row in rows if isinstance(row, Candidate)]

    def total(name: str) -> Decimal:
        return Decimal(sum(trade[name] or 0 for trade in trades)) / 10**8

    assert (file.format, len(trades)) == (sample.format, len(rows))
    assert [trade["direction"] for trade in trades].count("long") == sample.longs
    assert [trade["direction"] for trade in trades].count("short") == sample.shorts
    assert (total("quantity"), total("gross_pnl")) == (Decimal(sample.sizes), Decimal(sample.gross))
    assert total("fees") == Decimal(sample.fees)
    assert file.left_out.counts.total() == sample.left_out


@every_format
def test_a_file_without_a_required_column_is_not_of_the_format_and_the_column_is_named(
    sample: Sample,
) -> None:
    table = table_of(sample)
    header = header_row(sample, table)
    names = headers.name_columns(table[header])
    for parts, column in zip(known(sample).header, required_in(sample, table), strict=True):
        named = [name if find_column([name], list(parts)) is None else "x" for name in names]
        other = [*table[:header], named, *table[header + 1 :]]
        try:
            file, _ = read(written(sample, other))
        except ValidationFailed as error:
            missing = error.details["missing"][sample.format]
            assert any(is_named(column, part) for part in missing)
        else:
            assert file.format != sample.format


@every_format
def test_a_broken_cell_of_a_required_column_is_an_error_of_its_line(sample: Sample) -> None:
    table = table_of(sample)
    names = headers.name_columns(table[header_row(sample, table)])
    # Not the first row of a spread, whose time the next row repeats, nor a row that is left out.
    is_last = known(sample).section is not None or sample.format == "Sierra Chart activity"
    number = rows_below(sample, table)[-1 if is_last else 0]
    unread = set()
    for name in required_in(sample, table):
        broken = [list(row) for row in table]
        broken[number][names.index(name)] = "?" * 300

        content = written(sample, broken)
        file, rows = read(content)

        errors = [row for row in rows if isinstance(row, Rejected)]
        assert [error.line for error in errors] in ([], [line_of(content, sample, number)])
        if errors:
            assert name in errors[0].reason
        elif file.left_out.counts.total() == sample.left_out:
            unread.add(name)
    assert unread == {name for name in sample.unread.split("|") if name}


@every_format
def test_the_order_of_the_rows_does_not_matter(sample: Sample) -> None:
    if known(sample).section:
        pytest.skip("the legs of a spread stand below its first row")
    table = table_of(sample)
    below = rows_below(sample, table)
    begin, end = below.start, below.stop
    rows = table[begin:end]
    random.Random(5).shuffle(rows)

    shuffled = trades_in(written(sample, [*table[:begin], *rows, *table[end:]]))

    def key(trade: dict[str, Any]) -> tuple[Any, ...]:
        return trade["opened_at"], trade["symbol"], trade["external_id"] or "", trade["quantity"]

    def told(trades: list[dict[str, Any]]) -> list[Any]:
        return sorted(
            (key(trade), trade["direction"], trade["gross_pnl"], trade["fees"]) for trade in trades
        )  # fmt: skip

    assert told(shuffled) == told(trades_in(content_of(sample)))


@tried(full=400, short=60)
@given(sample=st.sampled_from(SAMPLES), data=st.data())
def test_a_file_cut_anywhere_gives_trades_and_errors_only(sample: Sample, data: st.DataObject) -> None:
    content = content_of(sample)
    begin = data.draw(st.integers(0, len(content) - 1))
    end = data.draw(st.integers(begin, len(content)))
    for cut in (content[:begin], content[:begin] + content[end:]):
        try:
            _, rows = read(cut)
        except ValidationFailed:
            continue
        assert all(isinstance(row, Candidate) or row.reason for row in rows)


@every_format
async def test_a_file_again_is_all_duplicates_and_undo_leaves_nothing(
    client: httpx.AsyncClient, sample: Sample
) -> None:
    account = await create_account(client)
    content = without_names(sample)
    options = {**into_account(content, account["id"]), "timezone": "America/New_York"}
    first = await create_import(client, content, **options)

    again = await create_import(client, content, **options)

    number = sample.longs + sample.shorts
    assert first["counts"] == {"new": number, "duplicate": 0, "updated": 0, "error": 0}
    assert again["counts"] == {"new": 0, "duplicate": number, "updated": 0, "error": 0}
    assert sum(part["rows"] for part in first["left_out"]) == sample.left_out
    for report in (again, first):
        assert (await client.delete(f"/imports/{report['id']}")).status_code == 204
    assert unwrap(await client.get("/trades")) == []
