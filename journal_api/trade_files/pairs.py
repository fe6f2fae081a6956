"""Joins the rows of a file of pairs to positions.

A row is one entry with one exit, so what a trader did once is many rows. Pairs of one account, contract and
direction whose times overlap are one position, from flat to flat: between two positions no pair is open.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import NamedTuple

from msgspec.structs import replace

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import FileFill, ImportedTrade, PairRow, Rejected
from journal_api.structs.trades import FillSide
from journal_api.trade_files.file_format import first_reason
from journal_api.trade_files.fill_book import check_amount, round_digits
from journal_api.trade_files.threads import with_cancel_checks
from journal_api.values.instruments import canonical_symbol
from journal_api.values.money import Money, PositiveMoney, Result, quotient
from journal_api.values.timestamps import Timestamp

# The place of a fill among all fills: its time, then its id, else its place in the file.
Place = tuple[Timestamp, int]
# Of entry and exit.
SIDES: dict[str, tuple[FillSide, FillSide]] = {"long": ("buy", "sell"), "short": ("sell", "buy")}


class Pair(NamedTuple):
    """A row with the places of its two fills."""

    entered: Place
    exited: Place
    row: ImportedTrade


def join_pairs(trades: Iterable[ImportedTrade | Rejected]) -> Iterator[ImportedTrade | Rejected]:
    """Yield the positions in the order of their first rows, after open trades and rejected lines."""
    rows: list[ImportedTrade] = []
    for trade in with_cancel_checks(trades):
        if isinstance(trade, Rejected) or trade.trade.closed_at is None:
            yield trade
        elif rows and rows[0].trade.opened_at.is_local != trade.trade.opened_at.is_local:
            yield Rejected(trade.line, "time must have an offset in all rows or in none")
        else:
            rows.append(trade)
    groups: defaultdict[tuple[str | None, str, str], list[Pair]] = defaultdict(list)
    for pair in place_fills(rows):
        draft = pair.row.trade
        contract = canonical_symbol(draft.symbol, str(draft.opened_at.year))
        groups[pair.row.account, contract, draft.direction].append(pair)
    positions = chain.from_iterable(map(split_positions, groups.values()))
    for position in sorted(positions, key=lambda pairs: min(pair.row.line for pair in pairs)):
        try:
            yield join_rows(position)
        except ValidationFailed as error:
            yield Rejected(position[0].row.line, first_reason(error))


def keep_rows(trades: Iterable[ImportedTrade | Rejected]) -> Iterator[ImportedTrade | Rejected]:
    """Yield the rows as trades of their own, marked as parts of positions."""
    return (trade if isinstance(trade, Rejected) else replace(trade, kind="row") for trade in trades)


def place_fills(rows: list[ImportedTrade]) -> Iterator[Pair]:
    """Yield the rows with the places of their fills. A file with the newest row first is read backwards."""
    closes = [row.trade.closed_at for row in rows]
    later = sum((b > a) - (b < a) for a, b in pairwise(closes) if a and b)
    for place, row in enumerate(rows if later >= 0 else reversed(rows)):
        closed_at = row.trade.closed_at
        assert closed_at is not None, "join_pairs keeps open trades out"
        entry, exit_ = map(int, row.fill_ids) if row.fill_ids else (2 * place, 2 * place + 1)
        yield Pair((row.trade.opened_at, entry), (closed_at, exit_), row)


def split_positions(pairs: list[Pair]) -> Iterator[list[Pair]]:
    """Yield the pairs of each position, in the order of their entries."""
    position: list[Pair] = []
    until: Place | None = None
    for pair in sorted(pairs, key=lambda pair: pair[:2]):
        if until is not None and pair.entered > until:
            yield position
            position, until = [], None
        position.append(pair)
        until = pair.exited if until is None else max(until, pair.exited)
    yield position


def join_rows(pairs: list[Pair]) -> ImportedTrade:
    """Return the position of the pairs. Raises ValidationFailed for an amount that exceeds a limit."""
    first = pairs[0].row
    if len(pairs) == 1:
        return replace(first, fills=split_pair(first) if first.fill_ids else (), kind="pairs")
    fills = join_fills(pairs)
    places = {place: index for index, place in enumerate(sorted(fills))}
    rows = [pair.row for pair in pairs]
    position = replace(
        first.trade,
        quantity=check_amount("quantity", PositiveMoney, round_digits(find_largest_size(pairs))),
        entry_price=average_price([(row.trade.entry_price, row.trade.quantity) for row in rows]),
        exit_price=average_price([(row.trade.exit_price, row.trade.quantity) for row in rows]),
        closed_at=max(pair.exited for pair in pairs)[0],
        gross_pnl=add_amounts("gross_pnl", [row.trade.gross_pnl for row in rows]),
        fees=add_amounts("fees", [row.trade.fees for row in rows]),
        mae=None,  # the extremes of the rows need not be those of the position
        mfe=None,
    )
    as_read = None
    if first.as_read is not None:
        gross = [(row.as_read or row.trade).gross_pnl for row in rows]
        as_read = replace(
            position, multiplier=first.as_read.multiplier, gross_pnl=add_amounts("gross_pnl", gross)
        )
    return replace(
        first,
        line=min(row.line for row in rows),
        trade=position,
        as_read=as_read,
        unstated=tuple(name for name in first.unstated if not any(row.states(name) for row in rows)),
        fills=tuple(fills[place] for place in places),
        kind="pairs",
        pairs=tuple(describe_row(pair, places) for pair in pairs),
        rows=len(rows),
    )


def split_pair(row: ImportedTrade) -> tuple[FileFill, ...]:
    """Return the two fills of a row with their ids; the entry bears the fees."""
    trade, fill_ids = row.trade, row.fill_ids
    assert fill_ids is not None, "the file has ids"
    assert trade.exit_price is not None, "a pair has an exit"
    assert trade.closed_at is not None, "a pair has an exit"
    (entry, exit_), quantity, fees = SIDES[trade.direction], trade.quantity.units, trade.fees.units
    return (
        FileFill(entry, quantity, trade.entry_price.units, trade.opened_at, fees, fill_ids[0]),
        FileFill(exit_, quantity, trade.exit_price.units, trade.closed_at, 0, fill_ids[1]),
    )


def join_fills(pairs: list[Pair]) -> dict[Place, FileFill]:
    """Return the fills of the pairs by place; pairs that share the id of a fill share the fill."""
    placed: dict[Place, FileFill] = {}
    entry_side, exit_side = SIDES[pairs[0].row.trade.direction]
    for entered, exited, row in pairs:
        trade, (entry_id, exit_id) = row.trade, row.fill_ids or (None, None)
        assert trade.exit_price is not None, "a pair has an exit"
        legs = (
            (entered, entry_side, trade.entry_price, trade.fees.units, entry_id),
            (exited, exit_side, trade.exit_price, 0, exit_id),
        )
        for place, side, price, fees, fill_id in legs:
            before = placed.get(place)
            quantity = trade.quantity.units + (before.quantity if before else 0)
            paid = fees + (before.fees if before else 0)
            placed[place] = FileFill(side, quantity, price.units, place[0], paid, fill_id)
    return placed


def describe_row(pair: Pair, places: dict[Place, int]) -> PairRow:
    """Return what a later import must know of a row of a position."""
    trade = pair.row.trade
    assert trade.gross_pnl is not None, "a pair has a result"
    return PairRow(
        trade.external_id,
        places[pair.entered],
        places[pair.exited],
        trade.quantity.units,
        trade.fees.units,
        trade.gross_pnl.units,
    )


def find_largest_size(pairs: list[Pair]) -> int:
    """Return the largest quantity that was open at once."""
    changes = [(pair.entered, pair.row.trade.quantity.units) for pair in pairs]
    changes += [(pair.exited, -pair.row.trade.quantity.units) for pair in pairs]
    size = largest = 0
    for _, change in sorted(changes, key=lambda change: (change[0], -change[1])):
        size += change
        largest = max(largest, size)
    return largest


def average_price(prices: list[tuple[Money | None, Money]]) -> Money:
    """Return the average of prices, weighted by quantities."""
    value = sum(price.units * quantity.units for price, quantity in prices if price is not None)
    average = quotient(value, sum(quantity.units for _, quantity in prices))
    return check_amount("price", Money, round_digits(average))


def add_amounts(name: str, amounts: list[Money | None]) -> Money:
    """Return the sum. Raises ValidationFailed if it exceeds a limit."""
    return check_amount(name, Result, sum(amount.units for amount in amounts if amount is not None))
