"""Reads the cells that profiles of both kinds have, with the columns of one header."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import TypeVar
from zoneinfo import ZoneInfo

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import Noted
from journal_api.positions.statements import Effect
from journal_api.structs.import_profiles import Columns, ImportProfileCreate
from journal_api.trade_files.amounts import derive_amount
from journal_api.trade_files.cells import PART_OF_ORDER, SENTENCE, parse_asset, parse_asset_behind_side
from journal_api.trade_files.dates import ANY_TIMES, CLOCK, COMPACT_CLOCK
from journal_api.trade_files.exchanged_amounts import DOLLARS
from journal_api.trade_files.file_format import NoTrade, require_symbol
from journal_api.trade_files.fill_checks import show_names
from journal_api.trade_files.named_rows import Row, refuse_cell, shorten
from journal_api.trade_files.profiles.columns import find_columns, find_day_columns, make_word_matcher
from journal_api.trade_files.timezones import find_zone_of_column
from journal_api.trade_files.vocabulary import NAMES, REDUCING, YES, closes, find_column, find_direction, tells_no_trade
from journal_api.values.currencies import CURRENCIES
from journal_api.values.money import EXACT, SCALE, Money, PositiveMoney, Result, from_units, rounded
from journal_api.values.options import find_option
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Name40, Name100

M = TypeVar("M", bound=Money)

# What a day may have before a time of day of another column.
MIDNIGHT = re.compile(" 00:00:00 (?=[0-9])")
YEAR_FIRST = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# A position after a fill: 2 L, 1 S, -3. NinjaTrader writes - if flat, and where it does not follow positions.
POSITION = re.compile(r"\s*(?P<size>-?[0-9]{1,9}(?:\.[0-9]{1,8})?)\s*(?P<side>[LS]?)\s*")
NOT_A_COIN = re.compile(r"[\W_]")
COIN, PRICED_IN = re.compile(r"[A-Z][A-Z0-9]{2,9}\Z"), CURRENCIES.union(DOLLARS)


@lru_cache(maxsize=8192)
def parse_position(cell: str) -> int | None:
    """Return a position in units of 10^-8, negative for a short one; None for what is none."""
    match = POSITION.fullmatch(cell)
    if match is None:
        return None
    units = int(Decimal(match["size"]) * SCALE)
    return -units if match["side"] == "S" else units


class ProfileReader:
    """Reads the cells of rows by a profile. Its methods raise ValidationFailed."""

    def __init__(self, profile: ImportProfileCreate, header: Collection[str]) -> None:
        self.profile, self.header = profile, header
        self.negative_purchases = self.nameless_fills = self.exits_without_time = 0
        self.unknown_sides = dict[str, None]()
        self._symbol = self.column(profile.symbol)
        self._contract = find_column(header, profile.contract) or ""
        self._account = find_column(header, profile.account)
        self._multiplier = find_column(header, profile.multiplier)
        self._without_sign = set(find_columns(header, profile.abs or ()))
        divisors = (profile.divide_by or {}).items()
        self._divisors = {name: found for name, other in divisors if (found := find_column(header, other))}
        costs, ids = profile.costs, profile.external_id or ()
        self._costs = find_columns(header, costs.columns) if costs else []
        sign = -1 if costs is not None and costs.paid == "negative" else 1
        # By the integer: to hash a Decimal takes longer than the sum.
        self._fees = lru_cache(maxsize=8192)(
            lambda units: derive_amount(self._costs[0], "with the other costs", from_units(sign * units))
        )
        self._ids = find_columns(header, ids)
        if len(self._ids) < len(ids):
            self._ids = []
        self.quantity, self.price = self.column(profile.quantity), find_column(header, profile.price) or ""
        self._sentence = self.quantity if self.quantity == self.price else ""
        if self._sentence:
            self.quantity, self.price = "quantity", "price"
        self._is_of_fills = profile.kind == "fills"
        side = profile.side
        self.side = self.column(side.column) if side else ""
        long, short = (side.long, side.short) if side else ([], [])
        self._is_long, self._is_short = make_word_matcher(long), make_word_matcher(short)
        # Beside the usual words any other is of a row that is no trade.
        self._own_words = [] if all(map(find_direction, (*long, *short))) else [*long, *short]
        effect = profile.effect
        self._position = find_column(header, profile.position)
        self._reduces = None if effect else find_column(header, [*REDUCING])
        self._coin, self.foreign_costs = find_column(header, NAMES["fee_currency"]), Counter[str]()
        self._effect = find_column(header, effect.column) if effect else None
        self._closes = make_word_matcher(effect.close) if effect and effect.close else None
        self._expires = make_word_matcher(effect.expire) if effect and effect.expire else None
        self._days = find_day_columns(profile, header)
        self._zone = None if profile.zone is None else ZoneInfo(profile.zone)
        self._times = [time_format.reader(self._zone) for time_format in profile.time]

    def column(self, columns: Columns | None) -> str:
        """Return the name of a column that every file of the format has."""
        name = find_column(self.header, columns)
        assert name is not None, "the header fits the profile"
        return name

    def symbol(self, row: Row) -> Name40:
        contract = row.get(self._contract, "").strip() if self._contract else ""
        parse = parse_asset_behind_side if self._symbol == self.side else parse_asset
        return row.read(self._contract if find_option(contract) else self._symbol, parse)

    def account(self, row: Row) -> Name100 | None:
        return row.read_if_any(self._account, Name100.decode) if self._account else None

    def multiplier(self, row: Row) -> PositiveMoney | None:
        return row.amount_if_any(self._multiplier, PositiveMoney) if self._multiplier else None

    def amount(self, row: Row, column: str, kind: type[M]) -> M:
        """Return an amount, without its sign and divided as the profile says."""
        if column not in self._without_sign and column not in self._divisors:
            return row.amount(column, kind)
        value: Decimal = row.amount(column, Money)
        if column in self._without_sign:
            value = abs(value)
        kind_of_divisor = Money if self._divisors.get(column) == self.quantity else PositiveMoney
        if divisor := self._divisors.get(column) and row.amount_if_any(self._divisors[column], kind_of_divisor):
            value = EXACT.divide(value, abs(divisor))
        try:
            return kind.checked(rounded(value, kind.digits))
        except ValueError as error:
            raise refuse_cell(column, row[column], error) from None

    def size(self, row: Row) -> int:
        """Return the quantity in units of 10^-8, with its sign. Raises NoTrade for one that is rounded to 0."""
        units = self.amount(row, self.quantity, Money).units
        if not units:
            raise NoTrade(f"{self.quantity} is 0")
        return units

    def require_trade(self, row: Row, *columns: str) -> None:
        """Raise NoTrade for a row without a symbol, a quantity or one of these columns; a word of it says why."""
        if self._sentence and (sentence := SENTENCE.match(row[self._sentence].strip())):
            row.update(sentence.groupdict())
        if empty := next((column for column in columns if not row.has(column)), None):
            word = row[self.side].strip() if self.side and not self._own_words else ""
            raise NoTrade(
                f"{empty} is empty" if not word or find_direction(word) else f"{self.side} is {shorten(word)!r}"
            )
        if self.side and not row.has(self._symbol) and row[self.quantity].strip("0.,+- "):
            self.nameless_fills += not row[self.side].strip() or find_direction(row[self.side]) is not None
        require_symbol(row, self._symbol)
        if not row.has(self.quantity):
            raise NoTrade(f"{self.quantity} is empty")
        if "/" in row[self.quantity]:
            row[self.quantity] = PART_OF_ORDER.sub(r"\1", row[self.quantity])
        if not row[self.quantity].strip("0.,+- "):
            raise NoTrade(f"{self.quantity} is 0")

    def is_sale(self, row: Row) -> bool:
        """Return whether the side is a short trade or a sale. Raises NoTrade for a word that is no side."""
        if not self.side:
            return self.size(row) < 0
        cell = row[self.side]
        if self._is_short(cell):
            return True
        if self._is_long(cell):
            return False
        if self._own_words and cell.strip():
            reason = ValueError(f"must be one of: {', '.join(self._own_words)}")
            raise refuse_cell(self.side, cell, reason)
        if (direction := find_direction(cell, of_fill=self._is_of_fills)) is None:
            price = self.price or find_column(self.header, self.profile.entry_price)
            if price and row[price].strip("0.,+- ") and cell.strip() and not tells_no_trade(cell):
                self.unknown_sides[shorten(cell)] = None
            raise NoTrade(f"{self.side} is {shorten(cell)!r}" if cell.strip() else f"{self.side} is empty")
        return direction == "short"

    def tell_unknown_sides(self) -> Iterator[Noted]:
        """Yield which words of sides are not known, of rows that look like trades."""
        if words := self.unknown_sides:
            yield Noted(f"rows with a quantity and a price are in no trade: {self.side} is {show_names(words)}")

    def effect(self, row: Row) -> Effect:
        """Return what the row says that the fill does to the position."""
        cell = row[self._effect] if self._effect else ""
        if self._expires is not None and self._expires(cell):
            return Effect.EXPIRES
        does_close = closes(row.get(self.side, "")) if self._closes is None else self._closes(cell)
        does_close |= self._reduces is not None and row[self._reduces].strip().casefold() in YES
        return Effect.CLOSES if does_close else Effect.NOT_STATED

    def position(self, row: Row) -> int | None:
        """Return the position that the row states after its fill: 2 L, 1 S, or a number with its sign."""
        return parse_position(row[self._position]) if self._position else None

    def fees(self, row: Row) -> Result | None:
        """Return the sum of the costs, without those in a coin in which no price is told; None without a column."""
        if not self._costs:
            return None
        paid = [column for column in self._costs if row.has(column)]
        if self._is_of_fills and any(self._coin or row[column][-1].isalpha() for column in paid):
            first, *others = NOT_A_COIN.split(row[self._symbol].strip().upper())  # BTC-USD1-SWAP, ETHBTC-PERP
            units = [(name, COIN.search(row.get(self._coin or name, "").strip())) for name in paid]
            coins = {name: unit[0] for name, unit in units if unit and unit[0] not in PRICED_IN}
            own = {coin for coin in coins.values() if any(one.endswith(coin) for one in others or [first])}
            own |= {coin for coin in coins.values() if first.endswith(coin) and first != coin}
            foreign = {name: coin for name, coin in coins.items() if coin not in own}
            self.foreign_costs.update(foreign.values())
            paid = [name for name in paid if name not in foreign]
        return self._fees(sum([self.amount(row, column, Money).units for column in paid]))

    def external_id(self, row: Row) -> Name100 | None:
        """Return the external id, None for a row whose cells of the id are all empty."""
        parts = [row[column].strip() if row.has(column) else "" for column in self._ids]
        if not any(parts):
            return None
        for column, part in zip(self._ids, parts, strict=True):
            if not part:
                raise ValidationFailed(fields={column: "is empty, and it is a part of the id"})
        try:
            return Name100.decode("-".join(parts))
        except ValueError as error:
            raise refuse_cell(self._ids[0], "-".join(parts), error) from None

    def time(self, row: Row, *columns: str) -> Timestamp:
        """Return the time in the cells of these columns, joined with a blank.

        The formats are tried in their order, then one with the year first, as spreadsheets write it. Without
        formats, the date has the year first, or day and month in the order of the file.
        """
        cell = " ".join([row[column].strip() for column in columns])
        if len(columns) > 1:
            cell = MIDNIGHT.sub(" ", cell, count=1)
        day = self._days.get(columns[0])
        if CLOCK.fullmatch(cell) or (day and COMPACT_CLOCK.fullmatch(cell)):
            cell = f"{row[day].strip() if day else row.rules.day} {cell}"
        zone, reason = find_zone_of_column(columns[0]) or self._zone, None
        readers = self._times
        if not readers or YEAR_FIRST.match(cell):
            readers = [*readers, ANY_TIMES[row.rules.date_order]]
        for read in readers:
            try:
                if (time := read(cell)) is not None:
                    return time if time.tzinfo else time.replace(tzinfo=zone)
            except ValueError as error:
                reason = reason or error
        reason = reason or ValueError(f"must be a time in the format {' or '.join(self.profile.time)}")
        raise refuse_cell(" and ".join(columns), cell, reason)
