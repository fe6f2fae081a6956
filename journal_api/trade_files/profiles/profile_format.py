"""The format of a file that a profile describes, and the profiles that come with the package."""

import re
from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from journal_api.positions.import_rows import FileCheck, ImportedFill, Noted
from journal_api.structs.import_profiles import OF_FILLS, OF_TRADES, ImportProfileCreate, Side
from journal_api.trade_files.dates import DateOrder
from journal_api.trade_files.file_format import (
    Format,
    KnownFormat,
    Rows,
    Trades,
    find_account_columns,
    list_names,
    one_trade_per_row,
)
from journal_api.trade_files.fill_book import Book, read_fills
from journal_api.trade_files.fill_checks import check_halves, check_openings, check_sales, show_names
from journal_api.trade_files.profiles.columns import (
    choose_rows,
    complete_cells,
    find_columns,
    find_day_columns,
    leave_out_cancelled,
    leave_out_rejected,
    list_conditions,
    list_constants,
    list_member_columns,
    list_optional_columns,
    list_required_columns,
    list_time_columns,
    without_none,
)
from journal_api.trade_files.profiles.fills import make_fill_reader
from journal_api.trade_files.profiles.readers import ProfileReader
from journal_api.trade_files.profiles.trades import make_trade_reader
from journal_api.trade_files.profiles.value_checks import (
    check_roots,
    check_stated_results,
    check_trades,
    check_values,
)
from journal_api.trade_files.vocabulary import (
    ANYTHING,
    NAMES,
    REDUCING,
    SHORT,
    STATES,
    ColumnNames,
    find_column,
    find_currency_columns,
    read_words,
    simplify,
    spell,
    translate,
)
from journal_api.values.time_formats import TimeFormat
from journal_api.values.types import decode_value

DAY_AND_MONTH = re.compile("%[md](.)%[md](?=.%[Yy])")
RESULTS = (*NAMES["gross_pnl"], *NAMES["net_pnl"])
CANCELLED_ON = ["Makuleringsdatum", "Makuleringsdato"]  # of Nordnet
BUILT_IN = Path(__file__).parent / "built_in"


@cache
def read_built_in_profiles() -> tuple[ImportProfileCreate, ...]:
    """Return the profiles of the package, in the order of their file names."""
    return tuple(decode_built_in(file.read_bytes()) for file in sorted(BUILT_IN.glob("*.toml")))


def decode_built_in(document: bytes) -> ImportProfileCreate:
    """Return a profile of the package, which need not have the names and the words that all brokers use."""
    members = msgspec.toml.decode(document)
    side = members.get("side", {"long": ()})
    usual = None if "long" in side else Side(column=side["column"], long=[], short=[])
    paired = {"quantity", "symbol"} if "bought" in members else {"quantity", "symbol", *OF_TRADES}
    needed = {"quantity", "symbol", *OF_FILLS} if members["kind"] == "fills" else paired
    found = {name: NAMES[name] for name in needed - members.keys()}
    members |= dict.fromkeys(found, ANYTHING) | ({"side": None} if usual else {})
    profile = msgspec.convert(members, ImportProfileCreate, dec_hook=decode_value)
    return replace(profile, **found, side=usual or profile.side)


def decode_profile(document: bytes) -> ImportProfileCreate:
    """Return the profile of a TOML document.

    Raises DecodeError for what is not TOML, ValidationError or ValidationFailed for what is not a profile.
    """
    return msgspec.toml.decode(document, type=ImportProfileCreate, dec_hook=decode_value)


def set_date_order(profile: ImportProfileCreate, order: DateOrder | None) -> ImportProfileCreate:
    """Return the profile with day and month of its times in a stated order, unless the year is first."""
    if order in (None, "year"):
        return profile
    day_and_month = r"%d\1%m" if order == "day" else r"%m\1%d"
    times = [TimeFormat(DAY_AND_MONTH.sub(day_and_month, time_format)) for time_format in profile.time]
    return replace(profile, time=times)


def make_known_profile(profile: ImportProfileCreate) -> KnownFormat:
    """Return the format of a profile before the header of a file is known."""
    constants = list_constants(profile).keys()
    columns = tuple(names for names in map(list_names, list_required_columns(profile)) if constants.isdisjoint(names))
    return KnownFormat(str(profile.name), columns, partial(format_for_header, profile), profile.section)


def format_for_header(profile: ImportProfileCreate, header: Collection[str]) -> Format:
    """Return the format of a file with this header, which has all required columns of the profile."""
    constants = list_constants(profile)
    header = ColumnNames([*header, *constants])
    if find_column(header, profile.account) is None:
        read = {*find_columns(header, [*list_required_columns(profile), *list_optional_columns(profile)])}
        others = [name for name in header if name not in read]
        account = find_column(others, NAMES["account"]) or find_account_columns(others)[:1] or None
        profile = replace(profile, account=account)
    quantity = find_column(header, profile.quantity)
    value = find_column([name for name in header if name != quantity], NAMES["value"])
    rate = find_column(header, NAMES["exchange_rate"])
    status = next((name for name in header if simplify(name) in STATES), None)
    days = [*find_day_columns(profile, header).values()]
    cancelled_on = find_column(header, CANCELLED_ON)
    noted = [find_column(header, names) for names in (RESULTS, [*REDUCING], NAMES["fee_currency"])]
    checked = without_none([value, rate, status, cancelled_on, *noted])
    if profile.kind == "fills":
        read_trades = read_checked_fills(profile, header, value or "", rate or "")
    else:
        checked, status = without_none([cancelled_on]), None
        reader = ProfileReader(profile, header)
        read_trades = partial(check_trades, one_trade_per_row(make_trade_reader(reader)), reader)
    repeated = find_columns(header, profile.repeated or ())
    members = {*find_columns(header, [*list_member_columns(profile), *list_optional_columns(profile)]), *checked}
    conditions = list_conditions(profile, header)

    def read_chosen(rows: Rows) -> Trades:
        cancelled: set[int] = set()
        complete = complete_cells(repeated, constants, rows) if repeated or constants else rows
        chosen = choose_rows(conditions, leave_out_cancelled(cancelled_on, complete) if cancelled_on else complete)
        filled = 0
        for trade in read_trades(leave_out_rejected(status, chosen, cancelled) if status else chosen):
            filled += isinstance(trade, ImportedFill) and trade.line in cancelled
            yield trade
        if filled:
            yield Noted(f"cancelled orders with a filled quantity, which is read as their fill: {filled}")

    return Format(
        str(profile.name),
        frozenset(find_columns(header, list_required_columns(profile))),
        read_chosen,
        accounts=tuple(find_columns(header, [profile.account] if profile.account else [])),
        optional=frozenset(find_columns(header, [*list_optional_columns(profile), *checked, *days])),
        dates=() if profile.time else tuple(find_columns(header, [*list_time_columns(profile), *days])),
        section=profile.section,
        symbol=find_column(header, profile.symbol) or "",
        is_pairs=profile.kind == "trades" and profile.one_trade_is != "row",
        unread=frozenset(find_columns(header, profile.header)) - members,
    )


def read_checked_fills(
    profile: ImportProfileCreate, header: Collection[str], value: str, rate: str
) -> Callable[[Rows], Trades]:
    """Return the function that parses rows of fills and checks them by what the file says they are worth.

    A value in another currency than the price is not compared: one beside two currencies or an exchange rate,
    unless it is said to be in the local currency.
    """
    price, quantity = find_columns(header, without_none([profile.price, profile.quantity]))
    currencies = find_currency_columns(header)
    built_in = {known.name for known in read_built_in_profiles()}
    is_of_price = profile.name in built_in and "pricecurrency" in map(translate, currencies)
    has_currencies = len(currencies) > 1 or is_of_price
    is_local = "local" in translate(value)
    results = [find_column(header, RESULTS), *(name for name in header if spell(name) in RESULTS)]
    result = "" if has_currencies or rate else next(filter(None, results), "")
    value, rate = value if is_local or not has_currencies else "", "" if is_local else rate
    reader = ProfileReader(profile, header)
    sales = profile.side.short if profile.side else []
    tells_shorts = any(read_words(word) & (SHORT | {"ss", "sshrt"}) for word in sales)

    def check(book: Book) -> Iterator[Noted | FileCheck]:
        yield from [*check_halves(book)] or ([] if tells_shorts else check_sales(book))
        yield from check_values(book, price, quantity, value) if value else ()
        yield from check_stated_results(book, result) if result else ()
        yield from check_openings(book, result) if result and profile.name not in built_in else ()
        if profile.name not in built_in:
            yield check_roots(one.symbol for one in book.instruments if not one.is_stated)
        yield from reader.tell_unknown_sides()
        if {(fill.quantity > 0, fill.cost > 0) for fill in book.fills if fill.cost} == {(True, True), (False, False)}:
            yield Noted("costs have the sign of the quantity: those of sales are read as rebates")
        if number := reader.negative_purchases:
            yield Noted(f"purchases with a negative {quantity}, which are read as purchases: {number}")
        if coins := reader.foreign_costs:
            yield Noted(f"costs in {show_names(coins)}, which are not converted, are left out: {coins.total()}")
        if reader.nameless_fills and profile.name not in built_in:
            yield Noted(f"purchases and sales without a symbol, which are not imported: {reader.nameless_fills}")
        if not profile.side and len(book.fills) > 1 and all(fill.quantity > 0 for fill in book.fills):
            yield Noted("every fill is a purchase: the profile has no side, and no quantity is negative")

    return read_fills(make_fill_reader(reader, value, rate, result), check)
