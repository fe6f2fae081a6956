"""Tradervue's trades export: one row per trade, with 13, 22 or 29 columns depending on the plan."""

import html
import re
from decimal import Context, Decimal
from typing import Self

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import ImportedTrade
from journal_api.trade_files.amounts import derive_amount
from journal_api.trade_files.cells import text
from journal_api.trade_files.file_format import Format, one_trade_per_row
from journal_api.trade_files.named_rows import Row
from journal_api.trade_files.stated_results import build_trade, derive_multiplier, read_legs
from journal_api.values.money import EXACT, ZERO, Money, PositiveMoney, Result
from journal_api.values.types import Name40, Text

COSTS = ("Commissions", "Fees")
# Characters of the text of a note, and of its HTML.
MAX_NOTE_LENGTH, MAX_HTML_LENGTH = 10_000, 256 * 1024
# html.parser takes quadratic time for malformed HTML; this pattern takes linear time.
TAG = re.compile(r"<!--.*?(?:-->|\Z)|<(?:/?(?P<name>[A-Za-z][A-Za-z0-9]*+)|[!?])[^<>]*+>", re.DOTALL)
LINE = re.compile("p|br|div|li|[uo]l|tr|pre|hr|blockquote|h[1-6]", re.IGNORECASE)


class BothSides(PositiveMoney):
    """Half of a volume that counts both purchases and sales: the quantity of the position."""

    @classmethod
    def checked(cls, value: Decimal) -> Self:
        return super().checked(EXACT.divide(super().checked(value), 2))


def read_trade(row: Row) -> ImportedTrade:
    """Return the trade of a row. The result is the file's: Entry Price may be the price of the first fill only."""
    if not row.has("Close Datetime"):
        reason = "is empty, and Volume is not the quantity of an open trade: remove the row"
        raise ValidationFailed(fields={"Close Datetime": reason})
    legs = read_legs(row, "Side", "Entry Price", "Open Datetime", "Exit Price", "Close Datetime")
    quantity, gross_pnl = row.amount("Volume", BothSides), row.amount("Gross P&L", Money)
    has_two_fills = row.amount_if_any("Exec Count", Money) == 2
    risk = row.amount_if_any("Initial Risk", Money)
    return build_trade(
        row.line,
        legs,
        row.read("Symbol", Name40.decode),
        quantity,
        gross_pnl,
        fees=sum_costs(row),
        find_multiplier=find_multiplier if has_two_fills else lambda *_: None,
        initial_risk=PositiveMoney(risk) if risk and risk > 0 else None,
        notes=row.read_if_any("Notes", strip_tags),
        mae=row.amount_if_any("Position MAE", Money),
        mfe=row.amount_if_any("Position MFE", Money),
    )


def find_multiplier(points: Decimal, quantity: Decimal, gross_pnl: Decimal) -> PositiveMoney | None:
    """Return the value of a point of a trade of two fills, if a short number gives the exact result.

    With more fills, the price of the first fill gives wrong multipliers, such as 0.9731, or 75 instead of 50.
    They cannot be distinguished from right ones.
    """
    if (multiplier := derive_multiplier(points, quantity, gross_pnl)) is None:
        return None
    short = Context(prec=4).create_decimal(multiplier)
    explained = EXACT.multiply(EXACT.multiply(points, quantity), short)
    return PositiveMoney(short) if explained == gross_pnl else None


def sum_costs(row: Row) -> Result | None:
    """Return commissions plus fees, None if the plan of the owner does not export them."""
    parts = [row.amount_if_any(column, Money) for column in COSTS]
    if not row.keys() >= set(COSTS) or parts == [None, None]:
        return None
    commissions, fees = (part or ZERO for part in parts)
    return derive_amount("Fees", "with Commissions", EXACT.add(commissions, fees))


def strip_tags(cell: str) -> Text | None:
    """Return the text of HTML, cut to the length of notes, with one line per paragraph."""
    without_tags = TAG.sub(lambda tag: "\n" if LINE.fullmatch(tag["name"] or "") else "", cell[:MAX_HTML_LENGTH])
    try:
        lines = html.unescape(without_tags).splitlines()
    except ValueError:
        raise ValueError("must be HTML") from None  # a character reference of thousands of digits
    note = "\n".join(line for line in (" ".join(line.split()) for line in lines) if line)
    return text(note[:MAX_NOTE_LENGTH].rstrip()) or None


FORMAT = Format(
    "Tradervue trades",
    frozenset(
        {
            *("Open Datetime", "Close Datetime", "Symbol", "Side", "Volume", "Exec Count"),
            *("Entry Price", "Exit Price", "Gross P&L"),
        }
    ),
    one_trade_per_row(read_trade),
    optional=frozenset({*COSTS, "Initial Risk", "Notes", "Position MAE", "Position MFE"}),
    long=frozenset({"Notes"}),
    dates=("Open Datetime", "Close Datetime"),
)
