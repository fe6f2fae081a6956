"""What holds for every format of trade files, the built-in profiles and the modules: docs/formats.md.

Each file of tests/data has its trades beside it, in <file>.expected.json.
"""

import csv
import io
import json
import random
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import pytest
from factories import Client, create_import, read_file, unwrap
from file_positions import FileTrade, read_positions_of
from file_tables import SAMPLES, read_trades, show_trade, write_csv
from proofs import examples

from journal_api.positions.import_rows import Rejected
from journal_api.trade_files import flex_query
from journal_api.trade_files.file_format import MAX_NAMES_SHOWN, KnownFormat
from journal_api.trade_files.headers import UnknownHeader, name_columns, recognise
from journal_api.trade_files.known_formats import list_known_formats
from journal_api.trade_files.readings import split_rows
from journal_api.trade_files.rows import Cells
from journal_api.trade_files.texts import FileText, read_text
from journal_api.trade_files.vocabulary import find_column

NEW_YORK = "America/New_York"


class Sample(NamedTuple):
    """A file of a format and its trades."""

    file: str
    expected: Any

    @property
    def content(self) -> bytes:
        return (SAMPLES / self.file).read_bytes()

    @property
    def known(self) -> KnownFormat:
        return next(known for known in list_known_formats() if known.name == self.expected["format"])

    @property
    def separator(self) -> str:
        header = self.content.splitlines()[0]
        return "\t" if b"\t" in header else ";" if b";" in header else ","

    @property
    def table(self) -> list[list[str]]:
        """The rows of the sample; rows of XML and HTML as the service splits them."""
        if not self.file.endswith(("xml", "html")):
            return list(csv.reader(io.StringIO(self.content.decode()), delimiter=self.separator))
        (rows,) = split_rows(FileText("utf-8", iter(self.content.decode().splitlines(keepends=True))))
        return [row.cells for row in rows if isinstance(row, Cells)]

    def write(self, table: list[list[str]]) -> bytes:
        """A file of those rows; in XML and HTML each row is a line."""
        if self.file.endswith("xml"):
            return as_xml(*table).encode()
        if self.file.endswith("html"):
            return "\n".join(["<table>" + as_html(table[0]), *map(as_html, table[1:])]).encode()
        return write_csv(table, self.separator)

    def line(self, content: bytes, index: int) -> int:
        """The last line of the row with that index."""
        if self.file.endswith(("xml", "html")):
            return index + 1
        rows = csv.reader(io.StringIO(content.decode()), delimiter=self.separator)
        return [rows.line_num for _ in rows][index]


def as_html(row: list[str]) -> str:
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"


def as_xml(header: list[str], *rows: list[str]) -> str:
    """A Flex Query with an attribute for each column."""
    names = [flex_query.ACCOUNT if column == flex_query.ACCOUNT_COLUMN else column for column in header]
    trades = [" ".join(f"{name}={quoteattr(cell)}" for name, cell in zip(names, row, strict=True))
              for row in rows]  # fmt: skip
    return "\n".join(["<FlexQueryResponse>", *(f"<Trade {trade}/>" for trade in trades), "</FlexQueryResponse>"])


def find_samples() -> list[Sample]:
    suffix = ".expected.json"
    return [
        Sample(file.name.removesuffix(suffix), json.loads(file.read_text()))
        for file in sorted(SAMPLES.glob(f"*{suffix}"))
    ]


every_sample = pytest.mark.parametrize("sample", find_samples(), ids=lambda sample: sample.file)
# One sample a format, of which the test changes cells.
EDITED = [
    sample
    for sample in find_samples()
    if sample.file not in ("metatrader5_history.html", "ninjatrader_trades_semicolons.csv")
]
every_format = pytest.mark.parametrize("sample", EDITED, ids=lambda sample: sample.file)


def find_header(sample: Sample, table: list[list[str]]) -> tuple[int, list[str]]:
    """The index of the header in the table, and its columns."""
    section = sample.known.section or ""
    fitting = (index for index, row in enumerate(table) if sample.known.fits(name_columns(row), section))
    index = next(fitting)
    return index, name_columns(table[index])


def rows_below(sample: Sample, table: list[list[str]]) -> range:
    """The indexes of the rows below the header, up to a row of the next section."""
    begin = find_header(sample, table)[0] + 1
    rows = range(begin, len(table))
    return range(begin, next((index for index in rows if sum(map(bool, table[index])) < 3), len(table)))


def test_every_format_has_a_sample() -> None:
    assert {sample.expected["format"] for sample in EDITED} == {known.name for known in list_known_formats()}


@every_sample
def test_a_sample_is_read_as_documented(sample: Sample) -> None:
    file = read_file(sample.content, NEW_YORK)

    trades = [show_trade(row) for row in read_positions_of(file) if isinstance(row, FileTrade)]

    assert (file.format, file.left_out.counts) == (sample.expected["format"], sample.expected["left_out"])
    for trade, expected in zip(trades, sample.expected["trades"], strict=True):
        assert {name: value for name, value in trade.items() if name in expected} == expected
        unexpected = {"exit_price", "stop_loss", "gross_pnl", "initial_risk", "notes", "unstated", "account"}
        unexpected |= {"mae", "mfe", "external_id"}
        assert not any(trade[name] for name in unexpected - expected.keys())


@every_format
def test_a_file_without_a_required_column_is_not_of_the_format_and_the_column_is_named(sample: Sample) -> None:
    table = sample.table
    header, names = find_header(sample, table)
    for parts in sample.known.header[:: examples(full=1, ci=2)]:
        renamed = [name if find_column([name], parts) is None else "x" for name in names]
        content = sample.write([*table[:header], renamed, *table[header + 1 : header + 2]])
        found = recognise(read_text(io.BytesIO(content)), list_known_formats())
        if isinstance(found, UnknownHeader):
            missing = (found.missing or {})[sample.expected["format"]]
            # Of Time and Time 2 the other one may be missing.
            assert {" or ".join(parts[:MAX_NAMES_SHOWN]), *(f"{part} 2" for part in parts)} & set(missing)
        else:
            assert found[0].format.name != sample.expected["format"]


@every_format
def test_a_broken_cell_of_a_required_column_is_an_error_of_its_line(sample: Sample) -> None:
    table = sample.table
    _, names = find_header(sample, table)
    # Not the first row of a spread, whose time the next row repeats, nor a row that is left out.
    is_last = sample.known.section is not None or sample.expected["format"] == "Sierra Chart activity"
    index = rows_below(sample, table)[-1 if is_last else 0]
    unread = []
    for name in filter(None, (find_column(names, parts) for parts in sample.known.header)):
        broken = [list(row) for row in table]
        broken[index][names.index(name)] = "?" * 300
        content = sample.write(broken)
        file = read_file(content, NEW_YORK)
        errors = [row for row in read_positions_of(file) if isinstance(row, Rejected)]
        assert [error.line for error in errors] in ([], [sample.line(content, index)])
        if errors:
            assert name in errors[0].reason
        elif file.left_out.counts == sample.expected["left_out"]:
            unread.append(name)
    assert sorted(unread) == sorted(sample.expected.get("unread_columns", []))


@every_format
def test_the_order_of_the_rows_does_not_matter(sample: Sample) -> None:
    if sample.known.section:
        pytest.skip("the legs of a spread stand below its first row")
    table = sample.table
    below = rows_below(sample, table)
    rows = table[below.start : below.stop]
    random.Random(5).shuffle(rows)

    def show(content: bytes) -> list[Any]:
        names = ("opened_at", "symbol", "external_id", "quantity", "direction", "gross_pnl", "fees")
        return sorted([str(trade[name]) for name in names] for trade in read_trades(content, NEW_YORK))

    shuffled = sample.write([*table[: below.start], *rows, *table[below.stop :]])
    assert show(shuffled) == show(sample.content)


@every_format
async def test_a_file_again_is_all_duplicates_and_undo_leaves_nothing(
    client: Client, account_id: int, sample: Sample
) -> None:
    content, trades = without_journal_names(sample), sample.expected["trades"]
    accounts = {trade.get("account") for trade in trades}
    options: dict[str, Any] = {"account_id": account_id}
    if len(accounts) > 1:
        options = {"account_id": None, "accounts": [f"{name}:{account_id}" for name in accounts]}
    first = await create_import(client, content, timezone=NEW_YORK, **options)

    again = await create_import(client, content, timezone=NEW_YORK, **options)

    assert first["counts"] == {"new": len(trades), "duplicate": 0, "updated": 0, "error": 0}
    assert again["counts"] == {"new": 0, "duplicate": len(trades), "updated": 0, "error": 0}
    assert {part["reason"]: part["rows"] for part in first["left_out"]} == sample.expected["left_out"]
    for report in (again, first):
        assert (await client.delete(f"/imports/{report['id']}")).status_code == 204
    assert unwrap(await client.get("/trades")) == []


def without_journal_names(sample: Sample) -> bytes:
    """The sample without the columns that name things of the journal."""
    if sample.expected["format"] != "round trips":
        return sample.content
    table = sample.table
    names = ("strategy", "setup", "tags", "confirmations")
    kept = [index for index, name in enumerate(table[0]) if name not in names]
    return sample.write([[row[index] for index in kept] for row in table])
