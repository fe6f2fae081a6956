"""Random fills, the positions that they make by a book that is as simple as can be, and files of them."""

import csv
import io
import random
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import accumulate, groupby
from typing import Any, NamedTuple

from factories import Client, list_trades, read_file
from file_positions import FileTrade, read_positions_of

from journal_api.positions.fills import decode_fills

Shown = tuple[Any, ...]
POINT_VALUES = {"MNQH6": 2, "MESH6": 5}
BEGIN = datetime(2026, 2, 12, 9, 0)


class FileFill(NamedTuple):
    id: int
    time: datetime
    symbol: str
    quantity: int  # negative for a sale
    price: Decimal


class Pair(NamedTuple):
    symbol: str
    quantity: int
    bought: FileFill
    sold: FileFill

    @property
    def result(self) -> Decimal:
        return (self.sold.price - self.bought.price) * self.quantity * POINT_VALUES[self.symbol]

    @property
    def is_long(self) -> bool:
        return (self.bought.time, self.bought.id) < (self.sold.time, self.sold.id)

    @property
    def legs(self) -> tuple[FileFill, FileFill]:
        """Entry and exit."""
        return (self.bought, self.sold) if self.is_long else (self.sold, self.bought)


def random_fills(seed: int, count: int) -> list[FileFill]:
    """Fills of two contracts, several of one second, that end flat."""
    choose = random.Random(seed)
    time, fills, sizes = BEGIN, list[FileFill](), dict.fromkeys(POINT_VALUES, 0)
    for number in range(count):
        time += timedelta(seconds=choose.choice((0, 0, 1, 7, 300)))
        symbol = choose.choice(list(POINT_VALUES))
        size = sizes[symbol]
        quantity = choose.choice((-3, -2, -1, 1, 2, 3, -size or 1, -size or -2))
        sizes[symbol] += quantity
        fills.append(FileFill(1000 + number, time, symbol, quantity, Decimal(choose.randint(400, 480)) / 4))
    for number, (symbol, size) in enumerate(sizes.items()):
        if size:
            fills.append(FileFill(1000 + count + number, time + timedelta(seconds=9), symbol, -size, Decimal(110)))
    return fills


def book_positions(fills: Iterable[FileFill]) -> list[dict[str, Any]]:
    """The positions from flat to flat, contract by contract, one contract unit at a time."""
    done, held = list[dict[str, Any]](), defaultdict[str, list[tuple[int, FileFill]]](list)
    for fill in sorted(fills, key=lambda fill: (fill.time, fill.id)):
        for _ in range(abs(fill.quantity)):
            unit = 1 if fill.quantity > 0 else -1
            position = held[fill.symbol]
            position.append((unit, fill))
            if sum(sign for sign, _ in position) == 0:
                done.append(describe(position))
                position.clear()
    assert not any(held.values()), "the fills end flat"
    return sorted(done, key=lambda one: (one["opened_at"], one["closed_at"], one["symbol"], one["gross"]))


def describe(units: list[tuple[int, FileFill]]) -> dict[str, Any]:
    (sign, first), (_, last) = units[0], units[-1]
    sizes = [*accumulate(unit * sign for unit, _ in units)]
    entries, exits = ([fill.price for unit, fill in units if unit == one] for one in (sign, -sign))
    return {
        "symbol": first.symbol,
        "direction": "long" if sign > 0 else "short",
        "quantity": max(sizes),
        "entry": sum(entries) / len(entries),
        "exit": sum(exits) / len(exits),
        "opened_at": first.time,
        "closed_at": last.time,
        "gross": sum(-unit * fill.price for unit, fill in units) * POINT_VALUES[first.symbol],
        "fills": len({fill.id for _, fill in units}),
    }


def expected_positions(fills: Iterable[FileFill]) -> list[Shown]:
    """The positions of the simple book, as the two functions below show them."""
    return sorted(
        (
            *(one["opened_at"].isoformat(), one["closed_at"].isoformat(), one["symbol"], one["direction"]),
            *(one["quantity"], float(one["gross"]), one["fills"]),
        )
        for one in book_positions(fills)
    )


async def stored_positions(client: Client, **query: Any) -> list[Shown]:
    """The closed trades of the journal: times, symbol, direction, size, result and number of fills."""
    return sorted(
        (
            *(one["opened_at"][:19], one["closed_at"][:19], one["symbol"], one["direction"]),
            *(one["quantity"], one["gross_pnl"], one["fill_count"]),
        )
        for one in await list_trades(client, **query)
        if one["closed_at"]
    )


def read_positions(file: bytes | str) -> dict[str | None, list[Shown]]:
    """The positions of each account that a file names, before they are stored."""
    found = defaultdict[str | None, list[Shown]](list)
    for row in read_positions_of(read_file(file, one_trade_is=lambda file_format: "position")):
        assert isinstance(row, FileTrade), row
        one = row.columns
        found[row.account].append(
            (
                *(one["opened_at"][:19], one["closed_at"][:19], one["symbol"], one["direction"]),
                *(one["quantity"] / 10**8, one["gross_pnl"] / 10**8),
                len(decode_fills(one["fills"])) if one["fills"] else 2,
            )
        )
    return {account: sorted(positions) for account, positions in found.items()}


def first_in_first_out(fills: Iterable[FileFill]) -> Iterator[Pair]:
    """The pairs of a broker's report, in the order of their closing."""
    lots: defaultdict[str, deque[list[Any]]] = defaultdict(deque)
    for fill in sorted(fills, key=lambda fill: (fill.time, fill.id)):
        open_lots, left = lots[fill.symbol], fill.quantity
        while left and open_lots and open_lots[0][0] * left < 0:
            lot = open_lots[0]
            size = min(abs(lot[0]), abs(left))
            bought, sold = (lot[1], fill) if lot[0] > 0 else (fill, lot[1])
            yield Pair(fill.symbol, size, bought, sold)
            lot[0] -= size if lot[0] > 0 else -size
            left -= size if left > 0 else -size
            if not lot[0]:
                open_lots.popleft()
        if left:
            open_lots.append([left, fill])


def performance(pairs: Iterable[Pair]) -> bytes:
    """Tradovate's Performance report."""
    header = "symbol,buyFillId,sellFillId,qty,buyPrice,sellPrice,pnl,boughtTimestamp,soldTimestamp"
    return table(
        header,
        (
            (
                *(pair.symbol, pair.bought.id, pair.sold.id, pair.quantity),
                *(pair.bought.price, pair.sold.price),
                f"${pair.result}" if pair.result >= 0 else f"$({-pair.result})",
                *(f"{fill.time:%m/%d/%Y %H:%M:%S}" for fill in (pair.bought, pair.sold)),
            )
            for pair in pairs
        ),
    )


def position_history(pairs: Iterable[Pair]) -> bytes:
    """Tradovate's Position History."""
    header = (
        "Account,Contract,Pair ID,Buy Fill ID,Sell Fill ID,Paired Qty,Buy Price,Sell Price,P/L,"
        "Bought Timestamp,Sold Timestamp"
    )
    rows = (
        (
            *("DEMO1", pair.symbol, number, pair.bought.id, pair.sold.id, pair.quantity),
            *(pair.bought.price, pair.sold.price, pair.result),
            *(f"{fill.time:%m/%d/%Y %H:%M:%S}" for fill in (pair.bought, pair.sold)),
        )
        for number, pair in enumerate(pairs, 1)
    )
    return table(header, rows)


def executions(fills: Iterable[FileFill], *, has_ids: bool = True) -> bytes:
    """The generic form of fills, without costs."""
    rows = (
        (
            f"{fill.time:%m/%d/%Y}",
            f"{fill.time:%H:%M:%S}",
            fill.symbol,
            abs(fill.quantity),
            fill.price,
            "Buy" if fill.quantity > 0 else "Sell",
            fill.id if has_ids else "",
        )
        for fill in fills
    )
    return table("Date,Time,Symbol,Quantity,Price,Side,Execution ID", rows)


def table(header: str, rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header.split(","))
    writer.writerows(rows)
    return text.getvalue().encode()


def topstepx_trades(pairs: Iterable[Pair]) -> bytes:
    """TopstepX's Trades: an id a row, none a fill."""
    header = "Id,ContractName,EnteredAt,ExitedAt,EntryPrice,ExitPrice,Fees,PnL,Size,Type"
    rows = (
        (
            *(f"{pair.bought.id}9{pair.sold.id}", pair.symbol),
            *(f"{fill.time:%m/%d/%Y %H:%M:%S} +00:00" for fill in pair.legs),
            *(fill.price for fill in pair.legs),
            *(0, pair.result, pair.quantity, "Long" if pair.is_long else "Short"),
        )
        for pair in pairs
    )
    return table(header, rows)


def ninjatrader_trades(pairs: Iterable[Pair]) -> bytes:
    """NinjaTrader's Trades grid: no ids at all."""
    header = "Trade number,Instrument,Market pos.,Qty,Entry price,Exit price,Entry time,Exit time,Profit"
    rows = (
        (
            *(number, pair.symbol, "Long" if pair.is_long else "Short", pair.quantity),
            *(fill.price for fill in pair.legs),
            *(f"{fill.time:%m/%d/%Y %H:%M:%S}" for fill in pair.legs),
            f"${pair.result}" if pair.result >= 0 else f"(${-pair.result})",
        )
        for number, pair in enumerate(pairs, 1)
    )
    return table(header, rows)


def orders(fills: Sequence[FileFill]) -> bytes:
    """Tradovate's Orders: what was bought or sold at once is one order with the average of its prices."""
    groups = groupby(fills, key=lambda fill: (fill.time, fill.symbol, fill.quantity > 0))
    rows = []
    for (time, symbol, is_bought), group in groups:
        parts = list(group)
        size = sum(abs(fill.quantity) for fill in parts)
        value = sum((fill.price * abs(fill.quantity) for fill in parts), Decimal())
        rows.append(
            {
                "orderId": 9_000_000 + parts[0].id,
                "Account": "DEMO1",
                "Contract": symbol,
                "B/S": " Buy" if is_bought else " Sell",
                "filledQty": size,
                "avgPrice": round(value / size, 8),
                "Fill Time": f"{time:%m/%d/%Y %H:%M:%S}",
                "Status": " Filled",
            }
        )
    return table(",".join(rows[0]), (row.values() for row in rows))
