"""Which columns of a table with an unknown header hold what a profile needs."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from journal_api.trade_files.cells import ISIN, SENTENCE
from journal_api.trade_files.profiles.unknown_factors import find_factors
from journal_api.trade_files.profiles.unknown_tables import AMOUNTS, MOST, TIMES, Table
from journal_api.trade_files.vocabulary import (
    CODES,
    KNOWN,
    NAMES,
    NO_TICKERS,
    NOTHING,
    PAIRS_OF_SIGNS,
    find_column,
    find_direction,
    has_part,
    is_currency,
    is_side,
    moves_money,
    simplify,
    spell,
    split_name,
    states_trade,
    tells_no_trade,
    translate,
)
from journal_api.values.currencies import CURRENCIES
from journal_api.values.options import find_option
from journal_api.values.types import Name40

NOTHING_SAID: Mapping[str, Any] = MappingProxyType({})
# Two columns of one name are of the opening and of the close.
REPEATED = (("entry_price", "price"), ("exit_price", "price2"), ("opened_at", "time"), ("closed_at", "time2"))
OF_LOTS = frozenset({"buyprice", "sellprice", "buydate", "selldate"})
NO_ISIN = NOTHING | {""}
COARSE = frozenset({"market", "product"})
OF_ASSETS = frozenset({"name", "bezeichnung", "nazwa", "nazev"})
OF_CONTRACTS = re.compile("contract|product|market")
NO_COINS = (CODES | CURRENCIES | {"RUR"}) - {"BTC", "ETH"}
CODES_OF_SHARES = frozenset({"code", "symbol", "companyname"})
CODE = re.compile("[0-9]{4,6}[A-Z]?")  # of a share in East Asia
TICKER = re.compile("[A-Z][A-Z0-9./-]{1,11}")


def find_members(table: Table, said: Mapping[str, str] = NOTHING_SAID) -> dict[str, str]:
    """Return the column of each member of a profile: as `said`, else by the names and the cells of the columns."""
    found = find_by_names(table, said)
    if symbol := find_symbol(table, found.get("symbol"), found.get("side"), None, []):  # behind a side of other words
        found["symbol"] = symbol
    whole = found | find_factors(table, found | {**said}) | {**said}
    return {member: column for member, column in whole.items() if column}


def find_by_names(table: Table, said: Mapping[str, str] = NOTHING_SAID) -> dict[str, str]:
    """Return the columns whose names tell what they are, if their cells can be that.

    What a trade lacks then, the words of the other names tell, those of a mean price at last.
    """
    named, taken = defaultdict[str, list[str]](list), {*said.values()}
    for column in (column for column in table.columns if column not in taken):
        named[translate(column)].append(column)
    found = find_named(table, named, said, may_guess=False)
    unknown = [name for name in table.columns if name not in taken and translate(name) not in KNOWN]
    by_words = [(words, name) for name in unknown if (words := spell(name))]
    for is_mean in (False, True):
        if is_whole(found.keys()):
            break
        for words, name in by_words:
            if ("average" in split_name(name)) == is_mean:
                named[words] = [*named[words], name]
        found = find_named(table, named, said, may_guess=False) | found
    whole = find_named(table, named, said)
    return whole | found | {member: whole[member] for member in ("symbol",) if member in whole}


def count_filled(table: Table) -> int:
    """Return how many members of a profile have a column with cells."""
    return sum(bool(table.read_cells(column)) for column in find_by_names(table).values())


def find_named(
    table: Table, named: Mapping[str, Sequence[str]], said: Mapping[str, str], *, may_guess: bool = True
) -> dict[str, str]:
    """Return the columns of members by `named`, the columns that each name stands for, and by the cells.

    Symbol and time may also be guessed by the cells alone.
    """

    def find(member: str, names: Iterable[str]) -> str | None:
        """Return what is said, else the first column of these names with cells of the member, an empty one last."""
        if member in said:
            return said[member] or None
        columns = [column for name in names for column in named.get(name, ()) if table.holds(member, column)]
        return next(filter(table.read_cells, columns), columns[0] if columns else None)

    found = {member: find(member, names) for member, names in NAMES.items()}
    pairs = [(table.names.simple.get(name), table.names.simple.get(f"{name}2")) for name in ("price", "time")]
    if any(row[one] != row[other] for row in table.rows for one, other in pairs if one and other):
        found |= {member: found[member] or find(member, [name]) for member, name in REPEATED}
    found["side"] = found["side"] or find_side(table, found["quantity"])
    if found["price"] and found["at"]:  # a fill, beside what the lots cost that it sells
        found |= {member: None for member, column in found.items() if translate(column or "") in OF_LOTS}
    has_shorts = "short" in map(find_direction, table.read_cells(found["side"]))
    if has_shorts and translate(found["entry_price"] or "") == "buyprice":
        ends = (found["entry_price"] or "", found["exit_price"] or "")
        if not all(row.get(end) for row in table.numbers for end in ends):  # purchases and sales in rows of their own
            found |= dict.fromkeys(("entry_price", "exit_price"))
    if not found["entry_price"] and found["side"] and (sides := list_sides(table)):
        left = {side: (sum_sides(table, side, found["quantity"]), side != found["side"]) for side in sides}
        found["side"] = min(sides, key=left.__getitem__)
    if not any(found[member] for member in AMOUNTS):
        found["price"] = find("price", ["rate"])
    if not any(found[member] for member in AMOUNTS):
        sentence = next((name for name in table.columns if table.count(name, SENTENCE.match)), None)
        found |= dict.fromkeys(("quantity", "price", "side"), sentence) if sentence else {}
    if may_guess:
        others = [name for name in table.columns if name not in found.values()]
        found["symbol"] = find_symbol(table, found["symbol"], found["side"], find("symbol", ["isin"]), others)
        if not any(found[member] for member in ("at", "opened_at", "closed_at")):
            days = [name for name in others if table.read_cells(name) and table.holds("at", name)]
            found["at"] = table.find_day(days)
    return {member: column for member, column in found.items() if column is not None}


def find_symbol(
    table: Table, symbol: str | None, side: str | None, isin: str | None, others: Sequence[str]
) -> str | None:
    """Return the column of symbols: the named one, unless its cells leave symbols out that other columns have."""
    if {*table.read_cells(symbol)} <= CURRENCIES:
        symbol = None
    assets = {cell.partition(" ")[2] for cell in table.read_cells(side)}
    if len(table.read_cells(symbol)) < len(table.rows) and len(assets) > 1:
        symbol = find_asset(table, [], side) or symbol
    if not table.read_cells(symbol):
        options = (name for name in others if all(map(find_option, found := table.read_cells(name))) and found)
        symbol = next(options, symbol)
    symbol = symbol or find_asset(table, others, side) or table.names.simple.get("symbol")
    codes = (name for name in table.columns if not CODES_OF_SHARES.isdisjoint((translate(name), spell(name))))
    code = next((name for name in codes if all(map(CODE.fullmatch, table.read_cells(name)))), None)
    if code and not OF_CONTRACTS.match(simplify(code)) and (not symbol or spell(symbol) == "securityname"):
        symbol = code
    symbol = symbol or find_only_ticker(table, others)
    products, isins = ({*table.read_cells(name)} for name in (symbol, isin))
    is_shared = translate(symbol or "") == "product" and len(products) == 1 < len(isins)
    is_long = isin is not None and any(len(cell) > Name40.max_length for cell in products)
    if is_shared or (is_long and all(row[isin or ""] not in NO_ISIN for row in table.rows if row[symbol or ""])):
        symbol = isin  # the product of all rows, or names of which two may be shortened to one
    return find_code(table, symbol) or symbol


def find_code(table: Table, symbol: str | None) -> str | None:
    """Return the codes within the markets or kinds of this column: NASDAQ has several, and each is of one market."""
    if not symbol or translate(symbol) not in COARSE:
        return None
    for name in (name for name in table.columns if translate(name) == "code"):
        rows = [(row[name], row[symbol]) for row in table.rows if row[name] and row[symbol]]
        codes, markets = ({*column} for column in zip(*rows, strict=True)) if rows else (set(), set())
        repeats = len(codes) < len(rows) or (all(map(TICKER.fullmatch, codes)) and not are_numbers(codes))
        if repeats and len(markets) < len(codes) == len({*rows}) and len(rows) > MOST * len(table.rows):
            return name
    return None


def list_sides(table: Table) -> list[str]:
    """Return the columns whose cells are all sides."""
    names = [
        name for name in table.columns if translate(name) not in NAMES["symbol"] and "term" not in split_name(name)
    ]
    cells = {name: table.read_cells(name) for name in names}
    sides = [name for name in cells if all(map(is_side, cells[name])) and not all(map(is_currency, cells[name]))]
    sides += [name for name in cells if {*cells[name]} in PAIRS_OF_SIGNS]
    return sorted(sides, key=lambda name: len({*map(find_direction, cells[name])}) < 2)  # AL is a ticker too


def sum_sides(table: Table, side: str, quantity: str | None) -> Decimal:
    """Return what is left if the purchases that a column states and its sales are taken from each other."""
    left = Decimal()
    for row, numbers in zip(table.rows, table.numbers, strict=True):
        size = numbers.get(quantity or "", Decimal())
        left += size if find_direction(row[side]) == "long" else -size
    return abs(left)


def find_side(table: Table, quantity: str | None) -> str | None:
    """Return the column whose cells are all sides, else of a type: some are trades, or no one of several.

    Else it is one that is named so, if the quantities have no sign.
    """
    if sides := list_sides(table):
        return sides[0]
    for name in table.columns:
        cells = table.read_cells(name) if "typ" in translate(name) else []
        if any(map(states_trade, cells)) or (len({*cells}) > 1 and all(map(moves_money, cells))):
            return name
    has_sign = any(cell[0] in "+-−" for cell in table.read_cells(quantity))
    if has_sign or any(number < 0 for number in table.read_amounts(quantity)):
        return None
    rows = [row for row, numbers in zip(table.rows, table.numbers, strict=True) if numbers.get(quantity or "")]
    for name in table.columns if rows else ():
        found = {row[name] for row in rows}
        stated = {*filter(is_side, found)}
        is_known = not name or translate(name) in KNOWN or all(map(is_currency, found))
        is_mixed = len({*map(find_direction, stated)}) > 1 and all(map(tells_no_trade, found - stated))
        if not is_known and (stated == found or is_mixed):
            return name
    return find_column([name for name in table.columns if not table.holds("right", name)], NAMES["side"])


def find_asset(table: Table, columns: Sequence[str], side: str | None) -> str | None:
    """Return the column whose cells all name an asset: an ISIN, a coin in a column for a currency, a name, a ticker.

    It may stand behind the side: Buy Tesla Inc. What begins alike and never repeats numbers the rows: SSI-8820.
    """
    cells = {name: found for name in columns if not CURRENCIES.issuperset(found := {*table.read_cells(name)})}
    for name in cells:
        is_currency = translate(name) in NAMES["currency"]
        is_coin = is_currency and all(map(TICKER.fullmatch, cells[name])) and cells[name].isdisjoint(NO_COINS)
        if is_coin or all(map(ISIN.fullmatch, cells[name])):
            return name
    named = table.read_cells(side)
    if named and not any(map(is_side, named)) and all(find_direction(cell[: cell.find(" ") + 1]) for cell in named):
        return side
    assets = [name for name in cells if len(cells[name]) > 1 and may_be_asset(name)]
    numbers = {name for name in assets if len(cells[name]) == len(table.rows) and are_numbers(cells[name])}
    tickers = [name for name in assets if name not in numbers and all(map(TICKER.fullmatch, cells[name]))]
    tickers = [name for name in tickers if not (all(map(is_side, cells[name])) or NO_TICKERS.issuperset(cells[name]))]
    named = [name for name in assets if simplify(name) in OF_ASSETS and table.holds("symbol", name)]
    return next(iter((*tickers, *named)), None)


def may_be_asset(name: str) -> bool:
    """Return whether a column of short names may be one of assets, and not of venues or types."""
    return has_part(name, "assets") or not has_part(name, "no_assets")


def find_only_ticker(table: Table, columns: Iterable[str]) -> str | None:
    """Return the only column that has one ticker, and nothing else."""
    cells = {name: {*table.read_cells(name)} - CURRENCIES for name in columns if may_be_asset(name)}
    found = [
        name
        for name, (*some,) in cells.items()
        if len(some) == 1 and TICKER.fullmatch(some[0]) and not NO_TICKERS.issuperset(some)
    ]
    return found[0] if len(found) == 1 and not is_side(cells[found[0]].pop()) else None


def are_numbers(names: Set[str]) -> bool:
    """Return whether names begin alike, as numbers of rows do: SSI-8820."""
    return len({name[:3] for name in names}) == 1


def is_whole(members: Set[str]) -> bool:
    """Return whether a fill or a trade has all of these members that it needs."""
    of_fill = "price" in members and not members.isdisjoint(TIMES[:3])
    return {"symbol", "quantity"} <= members and (of_fill or members >= {*AMOUNTS[1:], *TIMES[:2]})
