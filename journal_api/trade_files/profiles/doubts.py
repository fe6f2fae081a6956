"""What somebody must say of a proposed profile: columns that are guessed or missing, and rows that repeat."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from journal_api.structs.import_answers import RESULTS
from journal_api.structs.import_profiles import OF_FILLS
from journal_api.trade_files.file_format import MAX_NAMES_SHOWN
from journal_api.trade_files.named_rows import shorten
from journal_api.trade_files.profiles.proposed_words import is_filled
from journal_api.trade_files.profiles.unknown_amounts import LARGEST_COST
from journal_api.trade_files.profiles.unknown_columns import COARSE
from journal_api.trade_files.profiles.unknown_factors import MIN_FACTORS
from journal_api.trade_files.profiles.unknown_tables import TIMES, Table
from journal_api.trade_files.vocabulary import (
    FILLED,
    KNOWN,
    NAMES,
    STATES,
    has_part,
    simplify,
    spell,
    split_name,
    translate,
)

MEANING = {**dict.fromkeys(RESULTS, "result"), "opened_at": "time of the opening", "closed_at": "time of the close"}
FACTORS = "{} is taken for the quantity, and {} for the price, as their product is the value: is that so?"
REPEATED = "{} rows repeat {}, times and amounts of others: if they are the same trades, remove them"
OF_ENDS = frozenset({"exit", "status", "state"})
MARKET = re.compile("[A-Z]{2,8}")  # which is no pair
JUMP = Decimal("1.5")  # of prices that are not of one share
MANY = "prices of {} are far from each other: is {} the name of a market, and not of a share?"
MAY_HAVE_NONE = "the file may have no trades: if so, export executions or closed trades, with their prices"


def tell_market(table: Table, members: Mapping[str, str]) -> Iterator[str]:
    """Yield that a market or a product may be of several shares, of which one row has a price far from the last."""
    symbol, price = (members.get(name, "") for name in ("symbol", "price"))
    last = dict[str, Decimal]()
    for text, row in zip(table.rows, table.numbers, strict=True) if translate(symbol) in COARSE else ():
        if price in row:
            low, high = sorted((row[price], last.get(text[symbol], row[price])))
            if high > JUMP * low > 0 and MARKET.fullmatch(text[symbol]):
                yield MANY.format(text[symbol], symbol)
                return
            last[text[symbol]] = row[price]


def tell_status(table: Table, size: str) -> Iterator[str]:
    """Yield that some words of a status, not all of which are known, may be of orders that were not filled."""
    for column in (column for column in table.columns if simplify(column) in STATES and not is_filled(size)):
        words = [*dict.fromkeys(map(shorten, table.read_cells(column)))]
        if len(words) > 1 and not all(simplify(word.partition(" ")[0]) in FILLED for word in words):
            yield f"{column} is {', '.join(words[:MAX_NAMES_SHOWN])}: if some are not filled, state where"


def tell_lots(table: Table, size: str, price: str) -> Iterator[str]:
    """Yield that a column of an unknown name is many times quantity and price, as of lots."""
    for name in (name for name in table.columns if translate(name) not in KNOWN):
        rows = [abs(of / (number * at)) for of, number, at in table.pick_numbers(name, size, price) if number * at]
        for lot in (10, 100, 1000, 100_000) if len(rows) >= MIN_FACTORS else ():
            if all(abs(of / lot - 1) <= LARGEST_COST for of in rows):
                yield f"{name} is {lot} times {size} times {price}: if a lot is {lot}, state the multiplier"


def tell_open(table: Table, closed_at: str) -> Iterator[str]:
    """Yield that rows with a time of the close say that they are open, as in a list with the prices of now."""
    for column in (column for column in table.columns if not OF_ENDS.isdisjoint(split_name(column))):
        if any(row[closed_at] and row[column].casefold() == "open" for row in table.rows):
            yield f"{column} is Open in rows with {closed_at}: are these trades closed?"


def tell_repeated(
    table: Table, external_id: str | None, members: Mapping[str, str], ends: Sequence[str]
) -> Iterator[str]:
    """Yield how many rows have the id, the amounts and the time of another."""
    columns = [name for name in (external_id, *map(members.get, ("quantity", *ends))) if name]
    rows = [tuple(row[name] for name in columns) for row in table.rows if external_id and row[external_id]]
    if number := len(rows) - len({*rows}):
        yield REPEATED.format(number, external_id)


def tell_missing(
    table: Table, members: Mapping[str, str], said: Mapping[str, str], ends: Sequence[str]
) -> Iterator[str]:
    """Yield which columns are guessed by their cells, and which a profile needs beside those that are known."""
    is_guess = COARSE & {*map(translate, table.columns)} or table.read_amounts(members.get("symbol"))
    of_symbols = {*NAMES["symbol"]} - ({"code"} if is_guess else set())
    known = {"symbol": of_symbols, "quantity": NAMES["quantity"], "price": KNOWN | {"rate"}}
    has_times = members.get("opened_at") != members.get("closed_at")
    known |= dict.fromkeys(("entry_price", "exit_price", *(TIMES[:2] if has_times else ()), *RESULTS), KNOWN)
    guessed = {
        member: column
        for member in known
        if (column := members.get(member))
        and member not in said
        and {translate(column), spell(column)}.isdisjoint(known[member])
        and (member == "symbol" or members.get("price") != members.get("quantity"))
    }
    if guessed.keys() >= {"quantity", "price"}:
        yield FACTORS.format(guessed.pop("quantity"), guessed.pop("price"))
    taken = [
        f"{column} is taken for the {MEANING.get(member, member.replace('_', ' '))}"
        for member, column in guessed.items()
    ]
    if taken:
        yield f"{', '.join(taken)} by {'its' if len(taken) == 1 else 'their'} cells"
    if missing := [name for name in ("symbol", "quantity", *ends) if not members.get(name)]:
        names = ", ".join(missing)
        yield f"no column is known as {names}: name it here, or state it for all rows as =1"
    is_unsided = ends == OF_FILLS and "side" not in members
    are_held = is_unsided and any(has_part(name, "holdings") for name in table.columns)
    if len(missing) > 1 or not {*ends}.isdisjoint(missing) or are_held:
        yield MAY_HAVE_NONE
