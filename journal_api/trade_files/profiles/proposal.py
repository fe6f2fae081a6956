"""Proposes a profile for a file with an unknown header, by the names that brokers use for columns."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import msgspec

from journal_api.positions.import_rows import Rejected
from journal_api.structs.import_profiles import Costs, ProposedProfile, Side
from journal_api.trade_files.headers import name_columns, split_rows
from journal_api.trade_files.profiles.amount_checks import (
    Numbers,
    find_cost_sign,
    find_value_column,
    find_warnings,
    is_net_of_costs,
    simplify,
)
from journal_api.trade_files.rows import MAX_COLUMNS, Cells
from journal_api.trade_files.texts import Unreadable, read_text
from journal_api.values.time_formats import TimeFormat
from journal_api.values.visible_text import escape_invisible

# Names of columns without blanks, signs and capitals, the more specific first.
NAMES = {
    "symbol": "symbol ticker instrument contract contractname market asset pair product contracts",
    "side": "side openingdirection buysell bs direction marketpos action transcode tradetype type way",
    "quantity": "filledqty fillqty qtyfilled filled closingquantity quantity qty size volume shares"
    " contracts lots units",
    "entry_price": "entryprice openprice avgentryprice priceopen entry in",
    "exit_price": "exitprice closeprice closingprice avgexitprice priceclose exit out",
    "opened_at": "entrytime opentime openedat enteredat opened opendatetime openingtime entrydate opendate"
    " from",
    "closed_at": "exittime closetime closedat exitedat closed closedatetime closingtime exitdate closedate"
    " to",
    "price": "fillprice filledprice avgfillprice avgprice averageprice executionprice executeprice"
    " tradeprice price",
    "at": "filltime filledtime filledat executiontime exectime transactiontime updatedtime updatetime"
    " datetime timestamp time tradedate rundate activitydate date",
    "net_pnl": "netpnl netpl netprofit net",
    "gross_pnl": "grosspnl gross grosspl grossprofit realizedpnl pnl pl profitloss profit",
    "multiplier": "multiplier pointvalue",
    "external_id": "executionid execid fillid tradeid transactionid ticket positionid id",
    "account": "account accountname accountid accountnumber",
}
# The ends of the names of costs; a total stands for all of them.
COSTS = ("commission", "commissions", "comm", "fee", "fees", "feespaid", "brokerage", "swap", "taxes")
TOTALS = ("totalfees", "totalcosts", "totalcommissions")
FILLED = ("filled", "executed", "complete", "completed", "trade")
STATUS = ("status", "state", "orderstatus", "filledtype", "exectype", "type")
SALES = ("s", "open short", "close long")
PURCHASES = ("b", "l", "open long", "close short")
AMERICAN_TIME = " ET"
BARE_KEY = re.compile("[a-z_]+")
# Whether a file has one trade per row: it has both of one of these pairs.
OF_TRADES = ({"entry_price", "exit_price"}, {"opened_at", "closed_at"})
ONLY_TRADES = ("entry_price", "exit_price", "opened_at", "closed_at", "gross_pnl", "net_pnl")
ONLY_FILLS = ("price", "at")
DAYS = (
    *("%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d"),
    *("%m/%d/%y", "%d-%m-%Y", "%Y%m%d", "%b %d, %Y", "%d %b %Y"),
)
CLOCKS = (" %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p", "T%H:%M:%S", " %H:%M:%S.%f", ";%H%M%S", "")
OFFSETS = ("", " %z", "%z", " %Z", AMERICAN_TIME)
FORMATS = tuple(TimeFormat(day + clock + offset) for clock in CLOCKS for day in DAYS for offset in OFFSETS)
ROWS_SEARCHED, ROWS_READ, SAMPLE_ROWS, MAX_SHOWN_LENGTH = 100, 100, 3, 200
MAX_CHARACTERS, MAX_ROWS = 1024 * 1024, 2000  # in which those rows are searched


class Proposal(NamedTuple):
    """The header of an unknown file, rows below it, the profile that may read them, and doubts about it."""

    encoding: str
    columns: list[str]
    sample_rows: list[list[str]]
    profile: ProposedProfile
    warnings: list[str]


class Table(NamedTuple):
    """The names of columns, the rows below them, and the columns that a member of a profile is named for."""

    columns: list[str]
    rows: list[list[str]]
    members: dict[str, str]


def propose_profile(file: BinaryIO) -> Proposal | None:
    """Return the proposal for a file, None for a file without a table."""
    file.seek(0)
    text = read_text(file)
    readings = split_rows(text._replace(pieces=limit_pieces(text.pieces)))
    tables = [table for rows in readings if (table := find_table(rows)) is not None]
    if not tables:
        return None
    table = max(tables, key=lambda table: len(table.members))
    profile, warnings = build_profile(table)
    return Proposal(text.encoding, table.columns, table.rows[:SAMPLE_ROWS], profile, warnings)


def limit_pieces(pieces: Iterator[str | Unreadable]) -> Iterator[str | Unreadable]:
    """Yield the pieces of the first MAX_CHARACTERS."""
    length = 0
    for piece in pieces:
        yield piece
        length += len(piece) if isinstance(piece, str) else 0
        if length > MAX_CHARACTERS:
            return


def find_table(rows: Iterator[Cells | Rejected]) -> Table | None:
    """Return the rows below the most likely header, None for rows without a header of two columns."""
    cells = list(islice(shorten_cells(islice(rows, MAX_ROWS)), ROWS_SEARCHED + ROWS_READ))
    if not cells:
        return None
    index = max(range(min(len(cells), ROWS_SEARCHED)), key=lambda index: len(find_members(cells[index])))
    header = cells[index]
    if sum(map(bool, header)) < 2:
        return None
    below = [row for row in cells[index + 1 :] if len(row) == len(header)]
    return Table(name_columns(header), below, find_members(header))


def shorten_cells(rows: Iterator[Cells | Rejected]) -> Iterator[list[str]]:
    """Yield the rows up to the first that cannot be read, with shortened cells."""
    for row in rows:
        if isinstance(row, Rejected):
            return
        if len(row.cells) <= MAX_COLUMNS and any(map(str.strip, row.cells)):
            yield [cell.strip()[:MAX_SHOWN_LENGTH] for cell in row.cells]


def find_members(columns: Sequence[str]) -> dict[str, str]:
    """Return the column of each member of a profile that one of the columns is named for."""
    by_name = {simplify(column): column for column in reversed(columns)}
    found = {
        member: next((by_name[name] for name in names.split() if name in by_name), None)
        for member, names in NAMES.items()
    }
    return {member: column for member, column in found.items() if column is not None}


def build_profile(table: Table) -> tuple[ProposedProfile, list[str]]:
    """Return the profile with the words, signs and the format of times that the rows have, and warnings."""
    members = find_members(table.columns)
    is_of_trades = any(pair <= members.keys() for pair in OF_TRADES)
    others = ONLY_FILLS if is_of_trades else ONLY_TRADES
    members = {name: column for name, column in members.items() if name not in others}
    side, external_id = members.pop("side", None), members.pop("external_id", None)
    numbers = Numbers(table.columns, table.rows)
    costs = propose_costs(table, numbers, members)
    times = find_time_format(read_cells(table, members.get("opened_at" if is_of_trades else "at")))
    ids = read_cells(table, external_id)
    profile = ProposedProfile(
        name="New profile",
        kind="trades" if is_of_trades else "fills",
        header=[column for column in table.columns if column][:50],
        where=propose_condition(table),
        side=None if side is None else propose_side(side, read_cells(table, side), is_of_trades),
        costs=costs.columns,
        abs=costs.without_sign,
        external_id=[external_id] if external_id and len(set(ids)) == len(ids) else None,
        time=times,
        zone="America/New_York" if times and times[0].endswith(AMERICAN_TIME) else None,
        **costs.members,
    )
    return profile, find_warnings(numbers, members, find_value_column(table.columns))


def read_cells(table: Table, column: str | None) -> list[str]:
    """Return the cells of a column that are not empty."""
    if column is None:
        return []
    index = table.columns.index(column)
    return [row[index] for row in table.rows if row[index]]


class ProposedCosts(NamedTuple):
    """The costs, the columns whose sign is dropped, and the members with the result as gross or net."""

    columns: Costs | None
    without_sign: list[str] | None
    members: dict[str, str]


def propose_costs(table: Table, numbers: Numbers, members: dict[str, str]) -> ProposedCosts:
    """Return the costs with the sign that the rows have, and whether the result is before or after them."""
    costs = find_costs(table.columns)
    gross, net = members.get("gross_pnl"), members.get("net_pnl")
    sign = find_cost_sign(numbers, costs, gross, net)
    is_net = gross is None or (net is None and is_net_of_costs(numbers, members, costs, sign or 1))
    others = {name: column for name, column in members.items() if not name.endswith("_pnl")}
    result = {"net_pnl": net or gross} if is_net else {"gross_pnl": gross}
    return ProposedCosts(
        Costs(columns=list(costs), paid="negative" if sign < 0 else "positive") if costs else None,
        None if sign else costs,
        others | {name: column for name, column in result.items() if column},
    )


def find_costs(columns: Sequence[str]) -> list[str]:
    """Return the columns of costs, the column of their total if there is one."""
    total = [column for column in columns if simplify(column) in TOTALS]
    return total[:1] or [column for column in columns if simplify(column).endswith(COSTS)]


def propose_condition(table: Table) -> dict[str, list[str]] | None:
    """Return the condition that leaves out the orders that were not filled, None without such a column."""
    for column in table.columns:
        words = list(dict.fromkeys(word for word in read_cells(table, column) if word.casefold() in FILLED))
        if simplify(column) in STATUS and words:
            return {column: words}
    return None


def propose_side(column: str, cells: Sequence[str], is_of_trades: bool) -> Side:
    """Return the side with the words of the cells, which begin with B or L, and with S."""
    words = list(dict.fromkeys(cells))[:50]
    long = [word for word in words if word.casefold().startswith(PURCHASES)]
    short = [word for word in words if word.casefold().startswith(SALES)]
    usual = ("Long", "Short") if is_of_trades else ("Buy", "Sell")
    return Side(column=column, long=long or [usual[0]], short=short or [usual[1]])


def find_time_format(cells: Sequence[str]) -> list[str]:
    """Return the first format that reads all cells, nothing without one."""
    found = (str(time) for time in FORMATS if cells and all(fits(time, cell) for cell in cells))
    return list(islice(found, 1))


def fits(time: TimeFormat, cell: str) -> bool:
    try:
        return time.reader()(cell) is not None
    except ValueError:
        return False


def as_toml(profile: ProposedProfile, warnings: Sequence[str] = ()) -> str:
    """Return the profile as a TOML document, without the members that are not known, below the warnings."""
    members = msgspec.to_builtins(profile)
    comments = "".join(f"# Check: {escape_invisible(warning)}\n" for warning in warnings)
    return comments + "".join(f"{name} = {toml_value(value)}\n" for name, value in members.items() if value)


def toml_key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else toml_value(name)


def toml_value(value: Any) -> str:
    """Return a text, a list of texts or a table of them. A JSON string is a TOML string.

    Its invisible characters are escaped: the text comes from the file, and a command prints it.
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_key(name)} = {toml_value(part)}" for name, part in value.items()) + "}"
    return escape_invisible(msgspec.json.encode(value).decode())
