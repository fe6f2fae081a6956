"""Reads files of trades: recognises the format by the header and yields the trades."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date
from itertools import islice
from typing import BinaryIO, NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import Candidate, Rejected
from journal_api.structs.import_profiles import ImportProfileCreate, OneTradeIs
from journal_api.trade_files.amounts import CURRENCY, Comma, guess_comma
from journal_api.trade_files.dates import CLOCK, ROWS_SEARCHED, DateOrder, FileDates, find_date_order
from journal_api.trade_files.file_format import find_account_columns
from journal_api.trade_files.headers import Header, UnknownHeader, recognise
from journal_api.trade_files.known_formats import list_known_formats
from journal_api.trade_files.left_out import LeftOutCounter
from journal_api.trade_files.named_rows import CellRules, RoundedCells, shorten
from journal_api.trade_files.point_values import warn_of_values, with_point_values
from journal_api.trade_files.profiles.profile_format import make_known_profile, set_date_order
from journal_api.trade_files.rows import Cells, without_marks
from journal_api.trade_files.statements import read_statements
from journal_api.trade_files.table_rows import name_cells
from journal_api.trade_files.texts import read_text
from journal_api.trade_files.timezones import FileTimezone
from journal_api.trade_files.vocabulary import (
    NAMES,
    NOTHING,
    find_column,
    find_costs,
    find_currency_columns,
    is_currency,
)
from journal_api.values.instruments import BUILT_IN, InstrumentTable

ROWS_OF_NUMBERS = 500  # that are searched for the meaning of a comma
CURRENCY_CODE = re.compile("(?:^|[0-9 ])([A-Z]{3,5}|GBp)$")
PENCE = {"GBX", "GBp"}
# An amount and its currency: 1,250.00 SEK, -€10.
AMOUNT_IN = re.compile(
    rf"[-+(]*(?P<before>{CURRENCY}|[A-Z]{{3}} )?[0-9][0-9.,' ]*(?P<behind>{CURRENCY}|[A-Z]{{3}})?\)?"
)
ANY_DAY = date(2000, 1, 1)  # in place of one that must be stated, to find what else must be
NO_TRADES = "the file has no trades: all its rows are left out; export executions or closed trades, with their prices"
NO_DAY = "is required: the times in this file have no day"
NO_ORDER = "is required: dates such as 26-03-24 may begin with the year or with the day"


class TradeFile(NamedTuple):
    """What a recognised file states."""

    format: str
    rows: list[Candidate | Rejected]  # all of them: without its errors a file is not imported
    timezone: FileTimezone
    left_out: LeftOutCounter
    encoding: str = "utf-8"
    dates: FileDates = FileDates()
    rounded: int = 0  # cells
    one_trade_is: OneTradeIs = "position"
    has_pairs: bool = False
    is_described: bool = False  # whether its owner has described the format, or writes the file


def find_unknown(file: TradeFile | UnknownHeader) -> UnknownHeader | None:
    """Return the header for which a profile may be proposed, also a known one below which no row can be read."""
    if isinstance(file, UnknownHeader):
        return None if file.missing is None else file
    if file.is_described:
        return None
    errors = [row for row in file.rows if isinstance(row, Rejected) and row.line not in file.left_out.ends]
    if not errors or len(errors) < len(file.rows):
        return None
    first = min(errors, key=lambda error: error.line)
    reason = f"no row can be read as {file.format}: line {first.line}: {first.reason}"
    return UnknownHeader(first.line, reason, {}, doubts=(reason,))


def read(
    file: BinaryIO,
    timezone: FileTimezone,
    on_bytes: Callable[[int], object] = lambda number: None,
    *,
    into_one_account: bool = True,
    profiles: Sequence[ImportProfileCreate] = (),
    instruments: InstrumentTable = BUILT_IN,
    date_order: DateOrder | None = None,
    day: date | None = None,
    one_trade_is: Callable[[str], OneTradeIs] = lambda file_format: "position",
    force: bool = False,
    skip_errors: bool = False,
    long_only: bool = False,
) -> TradeFile | UnknownHeader:
    """Recognise the format and read the file.

    The owner's `profiles` go before the known formats. Dates have day and month in `date_order`; by default
    the file decides. Times without a day are of `day`. `instruments` are the point values of contracts whose
    multiplier the file does not state. With `force` a file is read whose check fails, with `skip_errors` the
    rest of one with errors. With `long_only` sales of shares and coins open nothing. `on_bytes` is called with
    the number of bytes read. Raises ValidationFailed with everything that the file does not say: the account,
    unless it goes `into_one_account`, the day, the time zone.
    """
    text = read_text(file, on_bytes)
    own = [make_known_profile(set_date_order(profile, date_order)) for profile in profiles]
    recognised = recognise(text, (*own, *list_known_formats(date_order)))
    if isinstance(recognised, UnknownHeader):
        return recognised
    header, rows = recognised
    if not header.format.is_typed:
        times_at = {at for at, name in enumerate(header.columns) if name in header.format.dates}
        rows = (without_marks(row, times_at) for row in rows)
    first_rows = list(islice(rows, ROWS_SEARCHED if header.format.dates else ROWS_OF_NUMBERS))
    usual: Comma = next((row.comma for row in first_rows if isinstance(row, Cells)), "thousands")
    times = list(read_columns(first_rows, header, header.format.dates))
    dates = find_date_order(times, usual, is_local=header.format.has_local_dates)
    if date_order and dates.order:
        dates = FileDates(date_order, "stated")
    unsaid = find_unsaid(header, times if day is None else (), into_one_account=into_one_account)
    if dates.order and not dates.source:
        unsaid["date_order"] = NO_ORDER
    left_out = LeftOutCounter(instruments, force=force, skip_errors=skip_errors)
    for warn in (warn_of_costs, warn_of_currencies, warn_of_accounts):
        left_out.warnings += warn(first_rows, header)
    numbers = (header.format.columns | header.format.optional) - set(header.format.dates)
    cells = read_columns(first_rows[:ROWS_OF_NUMBERS], header, numbers)
    rounded, rules = RoundedCells(), CellRules(usual, dates.order, day=str(day or ANY_DAY))
    rules = rules._replace(skips_errors=skip_errors, is_long_only=long_only)
    if not header.format.is_typed:
        rules = rules._replace(comma=guess_comma(cells, usual), rounded=rounded, nothing=NOTHING)
    named_rows = name_cells(first_rows, rows, header, rules, left_out)
    trades = with_point_values(left_out.remove_from(header.format.read_trades(named_rows)), instruments)
    unit = one_trade_is(header.format.name)
    trades = warn_of_values(trades, instruments, left_out.warnings)
    statements = read_statements(trades, timezone, header.format, into_one_account, is_apart=unit == "row")
    try:
        found = left_out.take_rows(statements)
    except ValidationFailed as error:
        raise (ask(unsaid | error.details["fields"]) if unsaid else error) from None
    if unsaid:
        raise ask(unsaid)
    if not found:
        left_out.warnings.append(NO_TRADES if left_out.counts else "the file has no trades: no rows follow the header")
    left_out.warn_of_reasons()
    return TradeFile(
        *(header.format.name, found, timezone, left_out, text.encoding, dates),
        *(rounded.count, unit),
        has_pairs=header.format.is_pairs,
        is_described=header.format.is_typed or header.format.name in {profile.name for profile in profiles},
    )


def find_unsaid(header: Header, times: Iterable[str], *, into_one_account: bool) -> dict[str, str]:
    """Return what the import must state, because the file does not: by the option, why."""
    unsaid = {}
    if not into_one_account and set(header.format.accounts).isdisjoint(header.columns):
        column = (*header.format.accounts, "account")[0]
        unsaid["account_id"] = f"is required: the file has no column {column!r}"
    cells = [cell for time in times if (cell := time.strip())]
    if cells and all(map(CLOCK.fullmatch, cells)):
        unsaid["day"] = NO_DAY
    return unsaid


def ask(fields: dict[str, str]) -> ValidationFailed:
    """Return the error that asks for all of this at once."""
    options = ", ".join(f"{name} (--{name.removesuffix('_id').replace('_', '-')})" for name in fields)
    reasons = "; ".join(f"{name} {reason}" for name, reason in fields.items())
    return ValidationFailed(f"State what the file does not say: {reasons}. Options: {options}.", fields=fields)


def warn_of_currencies(rows: Sequence[Cells | Rejected], header: Header) -> list[str]:
    """Return a warning if the first rows have several currencies, also in costs such as 0.001BNB.

    A column of codes is of currencies whatever its name, unless it is that of the symbols.
    """
    others = [name for name in header.columns if name != header.format.symbol]
    found = {
        column: {code[1] for cell in read_columns(rows, header, [column]) if (code := CURRENCY_CODE.search(cell))}
        for column in [*find_currency_columns(others), *find_costs(header.columns)]
    }
    if coin := find_column(header.columns, NAMES["fee_currency"]):
        found[coin] = {*filter(is_currency, read_columns(rows, header, [coin]))}
    for column in others:
        stated = {cell.strip() for cell in read_columns(rows[:ROWS_OF_NUMBERS], header, [column])} - {""}
        amounts = filter(None, map(AMOUNT_IN.fullmatch, stated))
        units = {unit for part in amounts if (unit := (part["before"] or part["behind"] or "").strip())}
        if column not in found and len(units := units or stated) > 1 and all(map(is_currency, units)):
            found[column] = units
    columns = [show_column(column, header) for column in found if found[column]]
    codes = sorted(set().union(*found.values()))
    where = f"{' and '.join(columns[:3])} {'is' if len(columns) == 1 else 'are'} in {', '.join(codes[:5])}"
    if len(codes) > 1:
        return [f"{where}: amounts are not converted, sums of them are wrong"]
    if PENCE.issuperset(codes) and codes:
        return [f"{where}: amounts are in pence, but for costs that are in pounds"]
    if coin in header.format.optional:
        return []  # what is paid in other coins is left out, and told
    index = header.columns.index(coin) if coin else -1
    for cells in (row.cells for row in rows if coin and isinstance(row, Cells) and index < len(row.cells)):
        if (paid := cells[index].strip()) and sum(cell.endswith(paid) for cell in cells) == 1:
            return [f"{coin} is {shorten(paid)}: costs are not converted"]
    return []


def show_column(name: str, header: Header) -> str:
    """Return the name of a column, of one without a name its place; several such ones are numbered."""
    return name if name[:1].strip() else f"column {header.columns.index(name) + 1}"


def warn_of_costs(rows: Sequence[Cells | Rejected], header: Header) -> list[str]:
    """Return a warning if the first rows have costs, and the format reads none of their columns."""
    names = find_costs(header.columns)
    is_paid = any(cell.strip(" $0.,-") for cell in read_columns(rows, header, names))
    is_unread = is_paid and header.format.read.isdisjoint(names)
    return [f"{', '.join(names)} may be costs, which are not read"] if is_unread else []


def warn_of_accounts(rows: Sequence[Cells | Rejected], header: Header) -> list[str]:
    """Return a warning for each column beside the read one that names further accounts in the first rows."""
    others = [name for name in find_account_columns(header.columns) if name not in header.format.accounts]
    read = list(read_columns(rows, header, header.format.accounts))
    warnings = []
    for column in others if read else ():
        pairs = set(zip(read, read_columns(rows, header, [column]), strict=False))
        if len(pairs) > len(set(read)):
            warnings.append(f"{column} has several values, and only {header.format.accounts[0]} names the account")
    return warnings


def read_columns(rows: Iterable[Cells | Rejected], header: Header, columns: Collection[str]) -> Iterator[str]:
    """Yield the cells of these columns."""
    indexes = [index for index, name in enumerate(header.columns) if name in columns]
    return (row.cells[index] for row in rows if isinstance(row, Cells) for index in indexes if index < len(row.cells))
