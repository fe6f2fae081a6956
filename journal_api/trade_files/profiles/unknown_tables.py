"""Which columns of a table with an unknown header hold what a profile needs."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from decimal import Decimal
from itertools import permutations

from journal_api.trade_files.amounts import Comma, guess_comma, parse_broker_number
from journal_api.trade_files.cells import ISIN, PART_OF_ORDER, SENTENCE, parse_asset
from journal_api.trade_files.dates import CLOCK, DATE, UNIX, is_time
from journal_api.trade_files.headers import UNNAMED, name_columns
from journal_api.trade_files.vocabulary import (
    KNOWN,
    NAMES,
    NOTHING,
    ColumnNames,
    find_column,
    find_direction,
    is_currency,
    is_side,
    simplify,
    spell,
    split_name,
    states_trade,
    translate,
)
from journal_api.values.currencies import CURRENCIES
from journal_api.values.types import Name40

# Two columns of one name are of the opening and of the close.
REPEATED = (("entry_price", "price"), ("exit_price", "price2"), ("opened_at", "time"), ("closed_at", "time2"))
TIMES, TEXTS = (("opened_at", "closed_at", "at", "expires"), ("account", "external_id"))
AMOUNTS = ("price", "entry_price", "exit_price")  # which are not 0 in all rows
RIGHTS = frozenset({"c", "p", "call", "put"})
NO_ISIN = NOTHING | {""}
LATER = re.compile("settl|valut|valeur|expir|verfall|matur|fallig")  # days
TICKERS = frozenset({"symbol", "instrument"})  # columns
TICKER = re.compile("[A-Z][A-Z0-9./-]{1,11}")
# Columns of other short names.
OF_OTHERS = re.compile(
    "(?!.*(?:symbol|ticker|asset|kurzel|pair)).*(?:venue|exchange|borse|bolsa|beurs|country|sector|broker)"
)
MIN_FACTORS, MAX_FACTORS = 3, 20  # rows, and columns
NEARLY_ALL, NEAR = Decimal("0.9"), Decimal("0.01")  # of rows, of 1
MOST = 0.5  # of the cells of a column, which a total or a remark may end


class Table:
    """A table below its header: the names of its columns, the texts and the numbers of its rows."""

    def __init__(self, header: list[str], below: Sequence[list[str]], comma: Comma) -> None:
        self.columns = name_columns(header)
        self.names, self.named = ColumnNames(self.columns), defaultdict[str, list[str]](list)
        for name in self.columns:
            self.named[translate(name)].append(name)
        self.rows = [dict(zip(self.columns, row + [""] * len(header), strict=False)) for row in below]
        shown = guess_comma((cell for row in self.rows for cell in row.values()), comma)
        self.numbers = [dict(read_numbers(row, shown)) for row in self.rows]

    def read_cells(self, column: str | None) -> list[str]:
        """Return the cells of a column that hold something."""
        cells = [row[column] for row in self.rows] if column else []
        return [cell for cell in cells if cell and cell not in NOTHING]

    def read_amounts(self, column: str | None) -> list[Decimal]:
        """Return the numbers of a column."""
        return [row[column] for row in self.numbers if column in row] if column else []

    def count(self, column: str, test: Callable[[str], object]) -> int:
        return sum(map(bool, map(test, self.read_cells(column))))

    def count_filled(self) -> int:
        """Return how many members of a profile have a column with cells."""
        return sum(bool(self.read_cells(column)) for column in self.find_members().values())

    def find_members(self) -> dict[str, str]:
        """Return the column of each member of a profile, by the names and the cells of the columns.

        What a trade lacks then, the words of the other names tell, those of a mean price at last.
        """
        named, found = self.named, self._find_named()
        self.named = defaultdict(list, {name: [*columns] for name, columns in named.items()})
        by_words = [(words, name) for name in self.columns if translate(name) not in KNOWN and (words := spell(name))]
        for is_mean in (False, True):
            if is_whole(found.keys()):
                break
            for words, name in by_words:
                self.named[words] += [name] if ("average" in split_name(name)) == is_mean else []
            found = self._find_named() | found
        self.named = named
        size = self._find_quantity(found)
        return found | ({"quantity": size} if size else {})

    def _find_named(self) -> dict[str, str]:
        found = {member: self._find_column(member, names) for member, names in NAMES.items()}
        if {"price2", "time2"} & self.names.simple.keys():
            found |= {member: found[member] or self._find_column(member, [name]) for member, name in REPEATED}
        found["side"] = found["side"] or self._find_side(found["quantity"])
        if not found["entry_price"] and (sides := [side for side in self._list_sides() if found["side"]]):
            found["side"] = min(
                sides, key=lambda side: (self._sum_sides(side, found["quantity"]), side != found["side"])
            )
        if not any(found[member] for member in AMOUNTS):
            found["price"] = self._find_column("price", ["rate"])
        if not any(found[member] for member in AMOUNTS):
            sentences = [name for name in self.columns if self.count(name, SENTENCE.match)]
            found |= dict.fromkeys(
                ("quantity", "price", "side") if sentences else (), sentences[0] if sentences else None
            )
        others = [name for name in self.columns if name not in found.values()]
        assets = {cell.partition(" ")[2] for cell in self.read_cells(found["side"])}
        if len(self.read_cells(found["symbol"])) < len(self.rows) and len(assets) > 1:
            found["symbol"] = self._find_asset([], found["side"]) or found["symbol"]
        found["symbol"] = found["symbol"] or self._find_asset(others, found["side"]) or self.names.simple.get("symbol")
        isin = self._find_column("symbol", ["isin"])
        products, isins = ({*self.read_cells(name)} for name in (found["symbol"], isin))
        is_shared = translate(found["symbol"] or "") == "product" and len(products) == 1 < len(isins)
        is_long = isin is not None and any(len(cell) > Name40.max_length for cell in products)
        if is_shared or (
            is_long and all(row[isin or ""] not in NO_ISIN for row in self.rows if row[found["symbol"] or ""])
        ):
            found["symbol"] = isin  # the product of all rows, or names of which two may be shortened to one
        found["symbol"] = self._find_ticker(found["symbol"]) or found["symbol"]
        if not any(found[member] for member in ("at", "opened_at", "closed_at")):
            found["at"] = self.find_day([name for name in others if self.read_cells(name) and self.holds("at", name)])
        if not found["quantity"] and not any(found[member] for member in AMOUNTS):
            unnamed = [name for name in others if name.startswith(UNNAMED)]
            found["quantity"], found["price"] = self._find_factors(unnamed)
        return {member: column for member, column in found.items() if column is not None}

    def _find_factors(self, columns: Sequence[str]) -> tuple[str, str] | tuple[None, None]:
        """Return quantity and price: two columns whose product is a third one in all rows but for costs and signs.

        The quantity has signs, or fewer numbers with decimals.
        """
        numbers = {name: self.read_amounts(name) for name in columns[:MAX_FACTORS]}
        decimals = {
            name: -1 if min(of) < 0 else sum(one != one.to_integral_value() for one in of)
            for name, of in numbers.items()
            if len({*of}) > 1
        }
        for one, other, product in permutations(decimals, 3):
            rows = list(self._pick_numbers(one, other, product)) if decimals[one] < max(decimals[other], 0) else []
            if len(rows) >= MIN_FACTORS and all(abs(abs(a * b) - abs(of)) * 100 <= abs(of) for a, b, of in rows):
                return one, other
        return None, None

    def _find_quantity(self, found: Mapping[str, str]) -> str | None:
        """Return the column of an unknown name that makes the value of each fill if it is multiplied by the price.

        The value is that of the quantity, if its name may be of a value and no other column shows that it is none.
        """
        size, price, value = (found.get(name, "") for name in ("quantity", "price", "value"))
        if size and (translate(size) not in NAMES["value"] or (value != size and self._multiplies(size, price, value))):
            return None
        unknown = (
            name for name in self.columns if translate(name) not in KNOWN and len({*self.read_amounts(name)}) > 1
        )
        return next((name for name in unknown if self._multiplies(name, price, size or value)), None)

    def _multiplies(self, size: str, price: str, value: str) -> bool:
        """Return whether a size times the price is the value in nearly all rows.

        They differ by costs, signs and the hundred shares of an option.
        """
        numbers = self._pick_numbers(size, price, value)
        rows = [abs(number * at / of) for number, at, of in numbers if of and abs(at - 1) > 2 * NEAR]
        near = sum(any(abs(of * shares - 1) <= NEAR for shares in (1, 100)) for of in rows)
        return len(rows) >= MIN_FACTORS and near >= NEARLY_ALL * len(rows)

    def _pick_numbers(self, *columns: str) -> Iterator[tuple[Decimal, ...]]:
        """Yield the numbers of these columns in the rows that have all of them."""
        return (tuple(row[name] for name in columns) for row in self.numbers if row.keys() >= {*columns})

    def find_unnamed_costs(self, size: str, price: str) -> list[str]:
        """Return the column of a file without names that has a small part of the value of each fill."""
        for name in (name for name in self.columns if name.startswith(UNNAMED) and name not in (size, price)):
            rows = [(abs(cost), abs(of * at)) for cost, of, at in self._pick_numbers(name, size, price)]
            is_small = all(0 < 20 * cost <= value for cost, value in rows)
            if is_small and len({cost for cost, _ in rows}) > 1:
                return [name]
        return []

    def _find_column(self, member: str, names: Iterable[str]) -> str | None:
        """Return the first column of these names whose cells are what the member holds, an empty one last."""
        found = [column for name in names for column in self.named.get(name, ()) if self.holds(member, column)]
        return next(filter(self.read_cells, found), found[0] if found else None)

    def _list_sides(self) -> list[str]:
        """Return the columns whose cells are all sides."""
        cells = {name: self.read_cells(name) for name in self.columns}
        return [name for name in cells if all(map(is_side, cells[name])) and not all(map(is_currency, cells[name]))]

    def _sum_sides(self, side: str, quantity: str | None) -> Decimal:
        """Return what is left if the purchases that a column states and its sales are taken from each other."""
        left = Decimal()
        for row, numbers in zip(self.rows, self.numbers, strict=True):
            size = numbers.get(quantity or "", Decimal())
            left += size if find_direction(row[side]) == "long" else -size
        return abs(left)

    def _find_side(self, quantity: str | None) -> str | None:
        """Return the column whose cells are all sides, else one of a type of which some are a purchase or a sale.

        Else it is one that is named so, if the quantities have no sign.
        """
        if sides := self._list_sides():
            return sides[0]
        for name in self.columns:
            if "typ" in translate(name) and self.count(name, states_trade):
                return name
        has_sign = any(cell[0] in "+-−" for cell in self.read_cells(quantity))
        if has_sign or any(number < 0 for number in self.read_amounts(quantity)):
            return None
        rows = [row for row, numbers in zip(self.rows, self.numbers, strict=True) if numbers.get(quantity or "")]
        for name in self.columns if rows else ():
            found = {row[name] for row in rows}
            if name and translate(name) not in KNOWN and all(map(is_side, found)) and not all(map(is_currency, found)):
                return name
        return find_column([name for name in self.columns if not self.holds("right", name)], NAMES["side"])

    def _find_asset(self, columns: Sequence[str], side: str | None) -> str | None:
        """Return the column whose cells all name an asset: an ISIN, a coin in a column for a currency, a ticker.

        It may stand behind the side: Buy Tesla Inc.
        """
        cells = {name: {*self.read_cells(name)} for name in columns}
        for name in columns:
            is_coin = translate(name) in NAMES["currency"] and not CURRENCIES.issuperset(cells[name])
            if cells[name] and (is_coin or all(map(ISIN.fullmatch, cells[name]))):
                return name
        named = self.read_cells(side)
        if named and not any(map(is_side, named)) and all(find_direction(cell[: cell.find(" ") + 1]) for cell in named):
            return side
        tickers = (name for name in columns if len(cells[name]) > 1 and all(map(TICKER.fullmatch, cells[name])))
        others = (name for name in tickers if not OF_OTHERS.match(simplify(name)))
        return next((name for name in others if not all(map(is_side, cells[name]))), None)

    def _find_ticker(self, symbol: str | None) -> str | None:
        """Return the column with a ticker for each ISIN of this column, None if it has other symbols."""
        isins = self.read_cells(symbol)
        if len({*isins}) < MIN_FACTORS or not all(map(ISIN.fullmatch, isins)):
            return None
        for name in (name for name in self.columns if not TICKERS.isdisjoint((simplify(name), spell(name)))):
            pairs = {(row[symbol or ""], row[name]) for row in self.rows if row[symbol or ""]}
            tickers = {ticker for _, ticker in pairs if TICKER.fullmatch(ticker) and not ISIN.fullmatch(ticker)}
            if len(pairs) == len({*isins}) == len(tickers):
                return name
        return None

    def find_day(self, columns: Sequence[str]) -> str | None:
        """Return the first of these columns, rather one with dates than one with numbers, and of a settlement last."""
        return min(
            columns,
            key=lambda name: (
                LATER.search(simplify(name)) is not None,
                all(map(UNIX.fullmatch, self.read_cells(name))),
            ),
            default=None,
        )

    def holds(self, member: str, column: str) -> bool:
        """Return whether most cells of a column can be read as this member."""
        cells, numbers = self.read_cells(column), self.read_amounts(column)
        if not cells or member in TEXTS or (member == "quantity" and all(map(PART_OF_ORDER.fullmatch, cells))):
            return True
        if member in TIMES:
            return self.count(column, lambda cell: is_time(cell) or CLOCK.fullmatch(cell)) >= MOST * len(cells)
        if member == "side":
            return any(map(find_direction, cells))
        if member == "right":
            words = {*map(str.casefold, cells)}  # C and V are a purchase and a sale
            return not RIGHTS.isdisjoint(words) and "v" not in words and not any(map(find_direction, cells))
        if member == "symbol":
            return len(numbers) < len(cells) and all(map(is_symbol, cells))
        return len(numbers) >= MOST * len(cells) and (any(numbers) or member not in AMOUNTS)

    def has_clock(self, column: str) -> bool:
        """Return whether the cells of a column have both a date and a time of day."""
        is_whole = self.count(column, lambda cell: is_time(cell) and not DATE.fullmatch(cell.removesuffix(" 00:00:00")))
        return is_whole >= MOST * len(self.read_cells(column))


def read_numbers(row: Mapping[str, str], comma: Comma) -> Iterator[tuple[str, Decimal]]:
    """Yield the cells of a row that are numbers."""
    for column, cell in row.items():
        with suppress(ValueError):
            yield column, parse_broker_number(cell, comma)


def is_symbol(cell: str) -> bool:
    try:
        return bool(parse_asset(cell))
    except ValueError:
        return False


def is_whole(members: Set[str]) -> bool:
    """Return whether a fill or a trade has all of these members that it needs."""
    of_fill = "price" in members and not members.isdisjoint(TIMES[:3])
    return {"symbol", "quantity"} <= members and (of_fill or members >= {*AMOUNTS[1:], *TIMES[:2]})
