"""Proposes a profile for a file with an unknown header, by the names that brokers use for columns."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import msgspec
from msgspec.structs import replace

from journal_api.positions.import_rows import Rejected
from journal_api.structs.import_profiles import Costs, Option, ProposedProfile, Side
from journal_api.structs.trades import Direction
from journal_api.trade_files.amounts import Comma, guess_comma
from journal_api.trade_files.cells import PART_OF_ORDER, parse_symbol
from journal_api.trade_files.dates import CLOCK, DATE, is_time
from journal_api.trade_files.headers import name_columns, split_rows
from journal_api.trade_files.profiles.amount_checks import (
    Numbers,
    are_results_apart,
    find_cost_sign,
    find_warnings,
    is_net_of_costs,
)
from journal_api.trade_files.rows import MAX_COLUMNS, Cells
from journal_api.trade_files.texts import Unreadable, read_text
from journal_api.trade_files.words import (
    FILLED,
    KINDS,
    NAMES,
    NOTHING,
    STATUS,
    UNFILLED,
    ColumnNames,
    find_column,
    find_costs,
    find_direction,
    find_value_column,
    is_side,
    simplify,
    translate,
)
from journal_api.values.visible_text import escape_invisible

BARE_KEY = re.compile("[a-z_]+")
# Two columns of one name are of the opening and of the close.
REPEATED = (("entry_price", "price"), ("exit_price", "price2"), ("opened_at", "time"), ("closed_at", "time2"))
# Whether a file has one trade per row: it has both of one of these pairs.
OF_TRADES = (("entry_price", "exit_price"), ("opened_at", "closed_at"))
ONLY_TRADES = ("entry_price", "exit_price", "opened_at", "closed_at", "gross_pnl", "net_pnl")
ONLY_FILLS, NOT_MEMBERS = ("price", "at"), ("commission", "value", "currency", "exchange_rate")
OF_OPTIONS = ("expires", "strike", "right")
TIMES, TEXTS = (("opened_at", "closed_at", "at", "expires"), ("symbol", "side", "account", "external_id"))
SIGNS: dict[str, Direction | None] = {"1": "long", "+1": "long", "-1": "short"}
AMOUNTS = ("price", "entry_price", "exit_price")  # which are not 0 in all rows
RIGHTS = frozenset({"c", "p", "call", "put"})
MOST = 0.5  # of the cells of a column, which a total or a remark may end
NO_SIDE = "the file has no side, and no negative quantity: every row is a purchase or a long trade"
ONE_TIME = "the file has one time per trade, which is taken for both its opening and its close"
DAYS_ONLY = "the file has days without times: fills of a day are in the order of the file"
ROWS_SEARCHED, ROWS_READ, SAMPLE_ROWS, MAX_SHOWN_LENGTH = 100, 100, 3, 200
MAX_CHARACTERS, MAX_ROWS = 1024 * 1024, 2000  # in which those rows are searched


class Proposal(NamedTuple):
    """The header of an unknown file, rows below it, the profile that may read them, and doubts about it."""

    encoding: str
    columns: list[str]
    sample_rows: list[list[str]]
    profile: ProposedProfile
    warnings: list[str]


class Table:
    """A table below its header: the names of its columns, its rows, and the numbers in them."""

    def __init__(self, header: list[str], below: Sequence[list[str]], comma: Comma) -> None:
        self.columns = name_columns(header)
        self.rows = [row + [""] * (len(header) - len(row)) for row in below]
        self.names = ColumnNames(self.columns)
        shown = guess_comma((cell for row in self.rows for cell in row), comma)
        self.numbers = Numbers(self.columns, self.rows, shown)

    def read_cells(self, column: str | None) -> list[str]:
        """Return the cells of a column that hold something."""
        if not column:
            return []
        index = self.columns.index(column)
        return [row[index] for row in self.rows if row[index] and row[index] not in NOTHING]

    def find_column(self, member: str, names: Iterable[str]) -> str | None:
        """Return the first column of these names whose cells are what the member holds."""
        found = (column for name in names if (column := self.names.simple.get(name)))
        return next((column for column in found if self.holds(member, column)), None)

    def holds(self, member: str, column: str) -> bool:
        """Return whether most cells of a column can be read as this member."""
        cells, numbers = self.read_cells(column), self.numbers.read_all(column)
        if not cells or (member == "quantity" and all(map(PART_OF_ORDER.fullmatch, cells))):
            return True
        if member in TIMES:
            return self.count(column, lambda cell: is_time(cell) or CLOCK.fullmatch(cell)) >= MOST * len(cells)
        if member == "side":
            return any(map(find_direction, cells))
        if member == "right":
            return {cell.casefold() for cell in cells} <= RIGHTS
        if member == "symbol":
            return len(numbers) < len(cells) and all(map(is_symbol, cells))
        has_amounts = any(numbers) or member not in AMOUNTS
        return member in TEXTS or (has_amounts and len(numbers) >= MOST * len(cells))

    def count(self, column: str, test: Callable[[str], object]) -> int:
        return sum(map(bool, map(test, self.read_cells(column))))


def propose_profile(file: BinaryIO) -> Proposal | None:
    """Return the proposal for a file, None for a file without a table."""
    file.seek(0)
    text = read_text(file)
    readings = split_rows(text._replace(pieces=limit_pieces(text.pieces)))
    tables = [table for rows in readings if (table := find_table(rows)) is not None]
    if not tables:
        return None
    table = max(tables, key=lambda table: len(find_members(table)))
    profile, warnings = build_profile(table)
    return Proposal(text.encoding, table.columns, table.rows[:SAMPLE_ROWS], profile, warnings)


def is_symbol(cell: str) -> bool:
    try:
        return bool(parse_symbol(cell))
    except ValueError:
        return False


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
    found = list(islice(shorten_cells(islice(rows, MAX_ROWS)), ROWS_SEARCHED + ROWS_READ))
    if not found:
        return None
    cells = [row.cells for row in found]
    index = max(range(min(len(cells), ROWS_SEARCHED)), key=lambda index: count_known_names(cells[index]))
    header = cells[index]
    if sum(map(bool, header)) < 2:
        return None
    others = [row for row in cells[index + 1 :] if row != header]
    below = [row for row in others if len(row) == len(header)]
    return Table(header, below or [row for row in others if 1 < len(row) < len(header)], found[index].comma)


def count_known_names(header: Sequence[str]) -> int:
    """Return how many members of a profile the cells are named for."""
    names = ColumnNames(header).simple
    return sum(any(name in names for name in known) for known in NAMES.values())


def shorten_cells(rows: Iterator[Cells | Rejected]) -> Iterator[Cells]:
    """Yield the rows up to the first that cannot be read, with shortened cells."""
    for row in rows:
        if isinstance(row, Rejected):
            return
        if len(row.cells) <= MAX_COLUMNS and any(map(str.strip, row.cells)):
            yield replace(row, cells=[cell.strip()[:MAX_SHOWN_LENGTH] for cell in row.cells])


def find_members(table: Table) -> dict[str, str]:
    """Return the column of each member of a profile, by the names and the cells of the columns."""
    found = {member: table.find_column(member, names) for member, names in NAMES.items()}
    if {"price2", "time2"} & table.names.simple.keys():
        found |= {member: found[member] or table.find_column(member, [name]) for member, name in REPEATED}
    if found["side"] is None:
        found["side"] = find_side(table, found["quantity"])
    return {member: column for member, column in found.items() if column is not None}


def find_side(table: Table, quantity: str | None) -> str | None:
    """Return the column whose cells are all sides, else one named so if the quantities have no sign."""
    for name in table.columns:
        if (cells := table.read_cells(name)) and all(map(is_side, cells)):
            return name
    if quantity and any(number < 0 for number in table.numbers.read_all(quantity)):
        return None
    others = [name for name in table.columns if not table.holds("right", name)]
    return find_column(others, NAMES["side"])


def propose_side_of_value(table: Table, value: str | None, size: str | None) -> Side | None:
    """Return the sign of a fill's value as its side, a purchase if negative; None without both signs."""
    amounts = [(cell, table.numbers.parse(cell)) for cell in table.read_cells(value) if value != size]
    bought = {f"{cell[0]}*" for cell, number in amounts if number and number < 0}
    sold = {f"{cell[0]}*" for cell, number in amounts if number and number > 0}
    digits = {f"{digit}*" for digit in range(10)}
    if not (value and bought and sold) or bought & (sold | digits):
        return None
    return Side(column=value, long=sorted(bought), short=sorted(sold | digits))


def build_profile(table: Table) -> tuple[ProposedProfile, list[str]]:
    """Return the profile with the words and signs that the rows have, and warnings."""
    members = find_members(table)
    warnings: list[str] = []
    is_of_trades = any(len({members.get(name) for name in pair} - {None}) == 2 for pair in OF_TRADES)
    if is_of_trades:
        complete_trade(members, warnings)
    else:
        members.setdefault("price", members.get("entry_price") or members.get("exit_price") or "")
        if not members["price"]:
            derive_price(table, members, warnings)
        members.setdefault("at", members.get("closed_at") or members.get("opened_at") or "")
    clock = None if is_of_trades else find_clock(table, members, warnings)
    others = (*(ONLY_FILLS if is_of_trades else ONLY_TRADES), *NOT_MEMBERS)
    members = {name: column for name, column in members.items() if column and name not in others}
    side, external_id = members.pop("side", None), members.pop("external_id", None)
    option = [members.pop(name, None) for name in OF_OPTIONS]
    costs = propose_costs(table, members)
    ids = table.read_cells(external_id)
    value, size = find_value_column(table.columns), members.get("quantity")
    sides = None if side is None else propose_side(side, table.read_cells(side), is_of_trades)
    if side is None and (sizes := table.numbers.read_all(size)) and min(sizes) >= 0:
        sides = None if is_of_trades else propose_side_of_value(table, value, size)
        warnings += [] if sides else [NO_SIDE]
    divided = [value] if value and size and members.get("price") == value else []
    profile = ProposedProfile(
        name="New profile",
        kind="trades" if is_of_trades else "fills",
        one_trade_is="row" if is_of_trades and are_results_apart(table.numbers, members, costs.names) else None,
        header=[column for column in table.columns if column][:50],
        where=propose_condition(table, side, members.get("quantity", "")),
        side=sides,
        clock=clock,
        option=None if is_of_trades else propose_option(table, option),
        costs=costs.columns,
        abs=[*(costs.without_sign or []), *divided] or None,
        divide_by=dict.fromkeys(divided, size) if divided and size else None,
        external_id=[external_id] if external_id and len(set(ids)) == len(ids) else None,
        **costs.members,  # type: ignore[arg-type]  # texts, of which it is a dict
    )
    return profile, warnings + find_warnings(table.numbers, members, costs.names, None if divided else value)


def derive_price(table: Table, members: dict[str, str], warnings: list[str]) -> None:
    """Take the value of a fill divided by its quantity for its price."""
    value, quantity = find_value_column(table.columns), members.get("quantity")
    if value and quantity and value != quantity:
        members["price"] = value
        warnings.append(f"the file has no price: it is {value} divided by {quantity}")


def complete_trade(members: dict[str, str], warnings: list[str]) -> None:
    """Take a price beside that of one end for the other, and the only time of a trade for both of its ends."""
    ends = [name for name in ("entry_price", "exit_price") if members.get(name) is None]
    if len(ends) == 1 and "price" in members:
        members[ends[0]] = members["price"]
    times = {members.get(name) for name in ("opened_at", "closed_at")} - {None}
    if len(times) < 2 and (time := next(iter(times), members.get("at"))):
        members["opened_at"] = members["closed_at"] = time
        warnings.append(ONE_TIME)


def find_clock(table: Table, members: dict[str, str], warnings: list[str]) -> str | None:
    """Return the column with the time of day if the day stands in another, which becomes `at`."""
    at = members["at"]
    if not table.read_cells(at) or has_clock(table, at):
        return None
    named = [name for name in table.columns if table.read_cells(name) and table.holds("at", name)]
    if whole := [name for name in named if has_clock(table, name) and translate(name) in NAMES["at"]]:
        members["at"] = whole[0]
        return None
    clocks = [name for name in named if table.count(name, CLOCK.fullmatch)]
    days = [name for name in (at, *named) if name not in clocks]
    if days and clocks:
        members["at"] = days[0]
        return at if at in clocks else clocks[0]
    if days:
        warnings.append(DAYS_ONLY)
    return None


def has_clock(table: Table, column: str) -> bool:
    """Return whether the cells of a column have both a date and a time of day."""
    cells = table.read_cells(column)
    return table.count(column, lambda cell: is_time(cell) and not DATE.fullmatch(cell)) >= MOST * len(cells)


def propose_option(table: Table, columns: Sequence[str | None]) -> Option | None:
    """Return the columns of the contract of an option, None without one of them."""
    expires, strike, right = columns
    if not (expires and strike and right and table.read_cells(strike)):
        return None
    return Option(expires=expires, strike=strike, right=right)


class ProposedCosts(NamedTuple):
    """The costs, the columns whose sign is dropped, and the members with the result as gross or net."""

    columns: Costs | None
    without_sign: list[str] | None
    members: dict[str, str]

    @property
    def names(self) -> list[str]:
        return [] if self.columns is None else [str(name) for name in self.columns.columns]


def propose_costs(table: Table, members: dict[str, str]) -> ProposedCosts:
    """Return the costs with the sign that the rows have, and whether the result is before or after them."""
    numbers = table.numbers
    costs = [column for column in find_costs(table.columns) if table.holds("commission", column)]
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


def propose_condition(table: Table, side: str | None, quantity: str) -> dict[str, list[str]] | None:
    """Return the condition that leaves out the orders that were not filled, None without such a column.

    If the quantity is what was filled, only the kind of a fill counts: an order may be filled in part.
    """
    is_filled = any(word in simplify(quantity) for word in ("fill", "exec"))
    status = KINDS if is_filled else STATUS | KINDS
    for column in table.columns:
        words = list(dict.fromkeys(table.read_cells(column)))
        filled = [word for word in words if word.casefold() in FILLED]
        has_orders = not UNFILLED.isdisjoint(map(str.casefold, words))
        if simplify(column) in status and column != side and (filled or has_orders):
            return {column: filled or ["Filled"]}
    return None


def propose_side(column: str, cells: Sequence[str], is_of_trades: bool) -> Side:
    """Return the side with the words of the cells that state one; rows with other words are no trades."""
    words = {word: find_direction(word, of_fill=not is_of_trades) for word in dict.fromkeys(cells)}
    if words.keys() <= SIGNS.keys():
        words = {word: SIGNS[word] for word in words}
    long, short = ([word for word in words if words[word] == kind][:50] for kind in ("long", "short"))
    usual = ("Long", "Short") if is_of_trades else ("Buy", "Sell")
    return Side(column=column, long=long or [usual[0]], short=short or [usual[1]])


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
