"""How the rows and cells of round trips and of pairs of fills are read."""

import csv
import io
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from factories import read_file
from hypothesis import given
from hypothesis import strategies as st
from proofs import max_examples

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import Candidate, Rejected

DATA = Path(__file__).parents[1] / "data"
TRADOVATE = DATA / "tradovate_position_history.csv"
ROUND_TRIPS = DATA / "round_trips.csv"
MINIMAL = ("symbol", "direction", "quantity", "entry_price", "opened_at")


# Helpers -----------------------------------------------------------------------------------------------


def read_table(file: Path) -> list[list[str]]:
    """The cells of a file, its header first."""
    return list(csv.reader(file.read_text().splitlines()))


def build_csv(table: Sequence[Sequence[str]]) -> bytes:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(table)
    return written.getvalue().encode()


def build_trades(*trades: dict[str, str]) -> bytes:
    """Round trips that have the columns of the first; what is not said is an open long of one ES."""
    plain = dict(zip(MINIMAL, ("ES", "long", "1", "6000", "2026-02-10 09:30:00"), strict=True))
    columns = list(dict.fromkeys([*MINIMAL, *trades[0]]))
    return build_csv(
        [columns, *([(plain | trade).get(column, "") for column in columns] for trade in trades)]
    )


def closed(**cells: str) -> dict[str, str]:
    return {"closed_at": "2026-02-10 10:00:00", "exit_price": "6010", **cells}


def read_all(content: bytes, zone: str = "UTC") -> list[Candidate | Rejected]:
    return list(read_file(content, zone).candidates)


def read_one(content: bytes, zone: str = "UTC") -> dict[str, Any]:
    """The columns, times in UTC, of the one trade in the file."""
    (found,) = read_all(content, zone)
    assert isinstance(found, Candidate), found
    return found.columns


def read_pair(zone: str = "UTC", **cells: str) -> dict[str, Any]:
    """The columns of a Tradovate pair: the last of the example but for those cells."""
    header, *_, row = read_table(TRADOVATE)
    pair = [cells.get(column, cell) for column, cell in zip(header, row, strict=True)]
    return read_one(build_csv([header, pair]), zone)


def units(amount: str) -> int:
    return int(Decimal(amount) * 10**8)


def read_reasons(content: bytes) -> dict[int, str]:
    """Why rows are refused, by line."""
    return {one.line: one.reason for one in read_all(content) if isinstance(one, Rejected)}


# Identity ----------------------------------------------------------------------------------------------


def test_a_trade_is_known_by_the_bytes_that_earlier_versions_have_stored_of_it() -> None:
    stated = {"multiplier": "1"}
    content = build_trades(
        closed(fees="4.36", external_id="", **stated),
        stated,
        closed(fees="0", external_id="a-1", **stated),
    )

    read = [one.columns for one in read_all(content) if isinstance(one, Candidate)]

    assert [(columns["fingerprint"].hex(), columns["content"][:40].hex()) for columns in read] == [
        (
            "24c1885a6f404763fbf6591e2c3702cb",
            "3eb5a9f13b97a9687a6992557a6992554b430e17a4816529bcead293d93a38a3efa013c8dda1e5c3",
        ),
        (
            "bf3f8a86f1f3fc30a7a8398f51e4f737",
            "3eb5a9f13b97a9687a6992557a6992554b430e17dfa2aff1bcead293dfa2aff1dfa2aff100000000",
        ),
        (
            "8b768309c26aa6a68a8f7ce720964c47",
            "3eb5a9f13b97a9687a6992557a6992554b430e17a4816529bcead293d93a38a3efa013c8f4dbdf21",
        ),
    ]


# What the file may look like ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.removesuffix("\n"),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.replace(",", " , "),
        lambda text: text.replace("\n", ",mine\n"),
    ],
    ids=["no last line end", "blank lines", "blanks around cells", "another column"],
)
def test_a_file_is_read_whatever_program_wrote_it(change: Any) -> None:
    rows = read_all(change(TRADOVATE.read_text()).encode())

    assert [isinstance(row, Candidate) for row in rows] == [True] * 5


KNOWN_HEADER = b"symbol,direction,quantity,entry_price,opened_at\n"
ROW_OF_SIX = b"ES,long,1,6000,2026-02-10 09:30:00,NQ\n"


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        (b"", 1),
        (b"\n" + ROW_OF_SIX, 2),
        (b"\xff\xfe" + "symbol,direction\n".encode("utf-16-le") + ROW_OF_SIX, 1),
        (b"symbol,direction,quantity,entry_price,opened_at,symbol\n" + ROW_OF_SIX, 1),
        (KNOWN_HEADER + b'"ES,long,1,6000,2026-02-10 09:30:00\n', 2),
        (KNOWN_HEADER + b"E" * 200_000 + b",long,1,6000,2026\n", 2),
    ],
    ids=[
        *("empty", "blank", "UTF-16", "a column twice"),
        *("an open quote", "a huge cell"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_refused_with_the_line(broken: bytes, line: int) -> None:
    try:
        (refused,) = read_reasons(broken).items()
    except ValidationFailed as error:
        refused = (error.details["line"], str(error))
    assert refused[0] == line
    assert len(refused[1].splitlines()) == 1


# Cells -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        *(("615.", "615"), ("0001.50", "1.5"), ("(45.25)", "-45.25"), ("-0.00", "0")),
        *(("0.00000001", "0.00000001"), ("10000000000", "10000000000")),
        ("123456789.012345", "123456789.012345"),
    ],
)
def test_an_amount_is_read_exactly(written: str, amount: str) -> None:
    assert read_one(build_trades(closed(gross_pnl=written)))["gross_pnl"] == units(amount)


NO_AMOUNTS = [
    *("0x10", "Infinity", "1_000", "()", ".", "1.2.3", "5 USD", "(5", "5)", "(-45)", "(+45)", "1 00"),
    *("\N{FULLWIDTH DIGIT ONE}", "12,50", "1,2,3", "1,", "1234,567", "1,23.45", "12,3456"),
    *("10000000000.01", "-10000000001", "0.000000001", "9" * 5000),
    *(f"1.{'0' * 30}1", f"-1.{'0' * 120}1"),
]


def test_what_is_not_an_amount_within_the_limits_is_refused() -> None:
    reasons = read_reasons(build_trades(*(closed(gross_pnl=written) for written in NO_AMOUNTS)))

    for line, written in enumerate(NO_AMOUNTS, 2):
        assert reasons[line].startswith("gross_pnl must "), written


BAD_CELLS = [
    *(("symbol", cell) for cell in ("", "X" * 41, "E\tS")),
    *(("quantity", cell) for cell in ("", "0", "-1")),
    *(("multiplier", cell) for cell in ("0", "-50")),
    *(("direction", ""), ("entry_price", ""), ("exit_price", ""), ("stop_loss", "none"), ("fees", "free")),
    *(("initial_risk", cell) for cell in ("0", "-5")),
    *(("grade", cell) for cell in ("E", "a")),
    *(("opened_at", cell) for cell in ("", "2026-02-10", "02/10/2026 09:30:00", "2026-02-30 09:30:00")),
    *(("opened_at", cell) for cell in ("2026-02-10 24:00:00", "2026-02-10 09:30:60", "1776000000")),
    *(("opened_at", "2026-02-10T09:30:00+25:00"), ("closed_at", "2026-02-10 09:29:59")),
    *(("closed_at", "yesterday"), ("external_id", "x" * 101), ("notes", "x" * 10_001), ("notes", "a\0b")),
]


def test_a_cell_that_breaks_its_rule_is_refused_with_its_line_and_column() -> None:
    plain = closed(multiplier="", stop_loss="", fees="", initial_risk="", grade="", external_id="", notes="")

    reasons = read_reasons(build_trades(plain, *({**plain, column: cell} for column, cell in BAD_CELLS)))

    assert reasons.keys() == set(range(3, 3 + len(BAD_CELLS)))
    for line, (column, cell) in enumerate(BAD_CELLS, 3):
        assert reasons[line].startswith(f"{column} "), (column, cell)


# Tradovate's pairs of fills ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bought_at", "sold_at", "buy_fill", "sell_fill", "direction"),
    [
        ("10:00:00", "10:00:01", "9", "8", "long"),
        ("10:00:01", "10:00:00", "8", "9", "short"),
        ("10:00:00", "10:00:00", "8", "9", "long"),
        ("10:00:00", "10:00:00", "9", "8", "short"),
        ("10:00:00", "10:00:00", "10", "9", "short"),
    ],
    ids=[
        "bought first",
        "sold first",
        "one second, bought first",
        "one second, sold first",
        "ids are numbers",
    ],
)
def test_the_fill_that_came_first_tells_long_from_short(
    bought_at: str, sold_at: str, buy_fill: str, sell_fill: str, direction: str
) -> None:
    times = {"Bought Timestamp": f"02/12/2026 {bought_at}", "Sold Timestamp": f"02/12/2026 {sold_at}"}
    trade = read_pair(**times, **{"Buy Fill ID": buy_fill, "Sell Fill ID": sell_fill})

    prices = [units("22510.25"), units("22498.50")]
    assert trade["direction"] == direction
    assert [trade["entry_price"], trade["exit_price"]] == prices[:: 1 if direction == "long" else -1]
    assert trade["gross_pnl"] == units("-70.5")


BAD_CELLS_OF_PAIRS = [
    *(("Contract", ""), ("Buy Price", ""), ("P/L", ""), ("Buy Fill ID", "x1"), ("Buy Fill ID", "9" * 5000)),
    *(("Sell Fill ID", "\N{ARABIC-INDIC DIGIT ONE}"), ("Sell Fill ID", "-1")),
    *(("Paired Qty", "0"), ("Paired Qty", "-3"), ("Bought Timestamp", "2026-02-12")),
    *(("Sold Timestamp", "02/12/2026 09:31:60"), ("Sold Timestamp", "02/30/2026 09:31:04")),
]


def test_a_cell_of_a_pair_that_breaks_its_rule_is_refused_with_its_line_and_column() -> None:
    header, *_, last = read_table(TRADOVATE)
    pair = dict(zip(header, last, strict=True))
    table = [[*{**pair, column: cell}.values()] for column, cell in BAD_CELLS_OF_PAIRS]

    reasons = read_reasons(build_csv([header, *table]))

    for line, (column, cell) in enumerate(BAD_CELLS_OF_PAIRS, 2):
        assert reasons[line].startswith(f"{column} "), (column, cell)


# Whatever a cell holds -------------------------------------------------------------------------------

FILES = st.sampled_from([TRADOVATE, ROUND_TRIPS])
CELLS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["", " ", "0", "-1", "1", "nan", "1e9", "\0", "\n", '"', "1,5", "(5)", "02/12/2026 09:31:04"]
    ),
    st.text("0123456789.,$()+-: /T", max_size=20),
)


@max_examples(full=60, ci=30)
@given(file=FILES, place=st.data(), cell=CELLS)
def test_whatever_a_cell_holds_its_row_alone_is_an_error(file: Path, place: st.DataObject, cell: str) -> None:
    table = read_table(file)
    row = place.draw(st.integers(1, len(table) - 1))
    table[row][place.draw(st.integers(0, len(table[0]) - 1))] = cell

    found = read_all(build_csv(table))

    # A row may end on a later line than it began, or be broken in two by a bare carriage return.
    before, after = (
        len(io.StringIO(build_csv(table[:end]).decode(), newline="").readlines()) for end in (row, row + 1)
    )
    wrong = [one.line for one in found if isinstance(one, Rejected)]
    assert len(found) >= len(table) - 2
    assert all(before < line <= after for line in wrong)
