"""Tables with two amounts in a row, one received for the other: adds the columns of the fill that they are."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from journal_api.positions.import_rows import Rejected
from journal_api.trade_files.amounts import parse_broker_number
from journal_api.trade_files.rows import Cells
from journal_api.trade_files.vocabulary import simplify
from journal_api.values.currencies import CURRENCIES
from journal_api.values.money import EXACT

ROWS_SEARCHED = 100
AMOUNT = re.compile(
    "(?:(?P<received>received?|buy|bought|incoming|output|destination|to)|(?P<sent>sent|send|sell|sold|spend|outgoing|input|origin|from))"
    "(?:quantity|amount|)"
)
ASSETS = {"currency", "asset", "coin", "cur"}
COLUMNS = ("Currency pair", "Buy/Sell", "Trade quantity", "Trade price")
# In which prices are told, the first before the others; other coins have prices in any of them.
DOLLARS = ("USDT", "USDC", "BUSD", "FDUSD", "TUSD", "DAI", "EURT", "EURC", "EURS")
QUOTES = (*DOLLARS, "BTC", "ETH", "BNB")


class Amounts(NamedTuple):
    """The indexes of the amount and the asset that are received, and of those that are sent."""

    received: tuple[int, int]
    sent: tuple[int, int]
    width: int


def add_fills(rows: Iterator[Cells | Rejected]) -> Iterator[Cells | Rejected]:
    """Yield the rows, those of a table with two amounts in a row with the columns of a fill."""
    for row in islice(rows, ROWS_SEARCHED):
        if isinstance(row, Cells) and (amounts := find_amounts([simplify(name) for name in row.cells])):
            yield replace(row, cells=[*row.cells, *COLUMNS])
            yield from (add_fill(row, amounts) if isinstance(row, Cells) else row for row in rows)
        else:
            yield row
    yield from rows


def find_amounts(names: Sequence[str]) -> Amounts | None:
    """Return the columns of both amounts and of their assets, None without one of them.

    An asset is named as its amount is, or stands beside it.
    """
    found: dict[str | None, tuple[int, int]] = {}
    for index, name in sorted(enumerate(names), key=lambda one: -len(one[1])):  # Destination Amount before Destination
        if match := AMOUNT.fullmatch(name):
            word = match["received"] or match["sent"]
            named = [other for other, text in enumerate(names) if text in {word + asset for asset in ASSETS}]
            beside = [index + 1] if set(names[index + 1 : index + 2]) & ASSETS else []
            if asset := named or beside:
                found.setdefault(match.lastgroup, (index, asset[0]))
    return Amounts(found["received"], found["sent"], len(names)) if len(found) > 1 else None


def add_fill(row: Cells, amounts: Amounts) -> Cells:
    """Return the row with pair, side, quantity and price, empty ones for a row that is no exchange."""
    cells = [*row.cells, *[""] * (amounts.width - len(row.cells))]
    (received, bought), (sent, sold) = ([cells[index].strip().upper() for index in part] for part in amounts[:2])
    if not (received and bought and sent and sold) or bought == sold:
        return replace(row, cells=[*cells, "", "", "", ""])
    is_sale = rank(bought) < rank(sold)
    base, quote, size, value = (sold, bought, sent, received) if is_sale else (bought, sold, received, sent)
    try:
        sizes = [abs(parse_broker_number(cell, row.comma)) for cell in (size, value)]
        price = f"{EXACT.divide(sizes[1], sizes[0]):f}" if sizes[0] else ""
    except ValueError:
        price = value
    return replace(row, cells=[*cells, f"{base}/{quote}", "Sell" if is_sale else "Buy", size, price], comma="thousands")


def rank(asset: str) -> int:
    """Return the place of a currency among those in which prices are told."""
    return 0 if asset in CURRENCIES else QUOTES.index(asset) + 1 if asset in QUOTES else len(QUOTES) + 1
