"""Readers of the cells that profiles of trades and of fills have in common.

Each takes the profile and the header of a file, and returns the function that reads a row.
"""

from collections.abc import Callable, Collection
from functools import lru_cache
from zoneinfo import ZoneInfo

from journal_api.errors import ValidationFailed
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.amounts import derive_amount
from journal_api.trade_files.dates import DateOrder, parse_date_and_clock
from journal_api.trade_files.file_format import find_column
from journal_api.trade_files.named_rows import Row, refuse_cell
from journal_api.trade_files.profiles.columns import find_columns, require_column, word_matcher
from journal_api.values.money import Money, PositiveMoney, Result, from_units
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Name100

Header = Collection[str]
# Of a text, and the order of day and month in the file.
TimeReader = Callable[[str, DateOrder | None], Timestamp]


def sale_reader(profile: ImportProfileCreate, header: Header) -> Callable[[Row], bool] | None:
    """Return the reader of the side, which is true for a short trade or a sale; None without a side."""
    side = profile.side
    if side is None:
        return None
    column = require_column(header, side.column)
    is_long, is_short = word_matcher(side.long), word_matcher(side.short)

    def is_sale(cell: str) -> bool:
        if is_short(cell):
            return True
        if not is_long(cell):
            raise ValueError(f"must be one of: {', '.join((*side.long, *side.short))}")
        return False

    return lambda row: row.parse(column, is_sale)


def costs_reader(profile: ImportProfileCreate, header: Header) -> Callable[[Row], Result | None]:
    """Return the reader of the fees: the sum of the costs, None if the header has no column of them."""
    costs = profile.costs
    columns = find_columns(header, costs.columns) if costs else []
    sign = -1 if costs is not None and costs.paid == "negative" else 1

    @lru_cache(maxsize=8192)  # by the integer: to hash a Decimal takes longer than the sum
    def build_fees(units: int) -> Result:
        return derive_amount(columns[0], "with the other costs", from_units(sign * units))

    def read_costs(row: Row) -> Result | None:
        if not columns:
            return None
        parts = [row.amount_if_any(column, Money) for column in columns]
        return build_fees(sum([part.units for part in parts if part]))

    return read_costs


def external_id_reader(profile: ImportProfileCreate, header: Header) -> Callable[[Row], Name100 | None]:
    """Return the reader of the external id; None for a row whose cells of the id are all empty."""
    columns = find_columns(header, profile.external_id or ())
    is_complete = len(columns) == len(profile.external_id or ())

    def read_id(row: Row) -> Name100 | None:
        parts = [row[column].strip() for column in columns] if is_complete else []
        if not any(parts):
            return None
        for column, part in zip(columns, parts, strict=True):
            if not part:
                raise ValidationFailed(fields={column: "is empty, and it is a part of the id"})
        try:
            return Name100.decode("-".join(parts))
        except ValueError as error:
            raise refuse_cell(columns[0], "-".join(parts), error) from None

    return read_id


def multiplier_reader(profile: ImportProfileCreate, header: Header) -> Callable[[Row], PositiveMoney | None]:
    """Return the reader of the multiplier, None for a row that does not state it."""
    column = find_column(header, profile.multiplier)
    return lambda row: row.amount_if_any(column, PositiveMoney) if column else None


def account_reader(profile: ImportProfileCreate, header: Header) -> Callable[[Row], Name100 | None]:
    """Return the reader of the name of the account, None for a row that does not name it."""
    column = find_column(header, profile.account)
    return lambda row: row.read_if_any(column, Name100.decode) if column else None


def time_reader(profile: ImportProfileCreate) -> TimeReader:
    """Return the reader of times, which raises ValueError. It tries the formats in their order.

    Without formats, the date has the year first, or day and month in the order of the file.
    """
    zone = None if profile.zone is None else ZoneInfo(profile.zone)
    readers = [time_format.reader(zone) for time_format in profile.time]

    def read(cell: str, order: DateOrder | None) -> Timestamp:
        if not readers:
            return parse_date_and_clock(cell, order).replace(tzinfo=zone)
        reasons = []
        for reader in readers:
            try:
                if (time := reader(cell)) is not None:
                    return time
            except ValueError as error:
                reasons.append(str(error))
        raise ValueError((reasons or [f"must be a time in the format {' or '.join(profile.time)}"])[0])

    return read


def read_time(row: Row, columns: tuple[str, ...], reader: TimeReader) -> Timestamp:
    """Return the time in the cells of these columns, joined with a blank. Raises ValidationFailed."""
    cell = " ".join([row[column].strip() for column in columns])
    try:
        return reader(cell, row.rules.date_order)
    except ValueError as error:
        raise refuse_cell(" and ".join(columns), cell, error) from None
