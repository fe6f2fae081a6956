"""The generic format: one trade per row with the service's own column names, few of them required.

`COLUMNS` is the complete header, which the export writes.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import Any, get_args

from msgspec import Raw, Struct, json
from msgspec.structs import replace

from journal_api.errors import ValidationFailed
from journal_api.positions.fills import Fill, sort_fills, summarize_whole
from journal_api.positions.import_rows import Answered, FileFill, ImportedTrade, list_unstated
from journal_api.positions.position_columns import round_digits
from journal_api.positions.trade_draft import TradeDraft
from journal_api.structs.fills import FillSide
from journal_api.structs.trades import FeesSource, Grade
from journal_api.trade_files.cells import parse_direction, parse_json_list, parse_names, text
from journal_api.trade_files.file_format import Format, one_trade_per_row
from journal_api.trade_files.named_rows import Row
from journal_api.values.money import ONE, ZERO, Money, PositiveMoney, PositiveResult, Result, UnsignedMoney
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Name, Name40, Name100

COLUMNS = (
    *("row", "account", "symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price"),
    *("stop_loss", "opened_at", "closed_at", "gross_pnl", "fees", "initial_risk", "grade", "strategy"),
    *("setup", "tags", "confirmations", "copy_of", "external_id", "notes", "fills", "fees_source"),
    *("mae", "mfe"),
)
# The columns that name objects of the journal or rows of the file.
NAMES = frozenset({"account", "strategy", "setup", "tags", "confirmations", "row", "copy_of"})
# The header of the export for spreadsheets. It differs so that such a file is recognised and refused.
TITLES = tuple(column.replace("_", " ").capitalize() for column in COLUMNS)
# Plain digits as the export writes them; as many as an amount may have, and some more.
JSON_AMOUNT = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?")
MAX_FILLS = 20_000
# The value of initial_risk for a trade that has a stop but no initial risk.
NO_RISK = "none"


def read_trade(row: Row) -> ImportedTrade:
    has_no_risk = row.get("initial_risk", "").strip() == NO_RISK
    fees = row.amount_if_any("fees", Result)
    multiplier = row.amount_if_any("multiplier", PositiveMoney)
    gross_pnl = row.amount_if_any("gross_pnl", Result)
    trade = TradeDraft(
        symbol=row.read("symbol", Name40.decode),
        direction=row.read("direction", parse_direction),
        quantity=row.amount("quantity", PositiveMoney),
        multiplier=multiplier or ONE,
        entry_price=row.amount("entry_price", Money),
        exit_price=row.amount_if_any("exit_price", Money),
        stop_loss=row.amount_if_any("stop_loss", Money),
        opened_at=row.parse("opened_at", Timestamp.decode),
        closed_at=row.parse("closed_at", Timestamp.decode) if row.has("closed_at") else None,
        gross_pnl=gross_pnl,
        fees=fees or ZERO,
        initial_risk=None if has_no_risk else row.amount_if_any("initial_risk", PositiveResult),
        grade=row.read_if_any("grade", parse_grade),
        external_id=row.read_if_any("external_id", Name100.decode),
        notes=row.parse("notes", text, strip=False) if row.get("notes") else None,
        mae=row.amount_if_any("mae", UnsignedMoney),
        mfe=row.amount_if_any("mfe", UnsignedMoney),
    )
    fills = row.read_if_any("fills", parse_fills) or ()
    if fills:
        require_agreement(trade, fills)
    imported = ImportedTrade(
        row.line,
        trade.with_result(),
        unstated=list_unstated(multiplier=multiplier, fees=fees),
        is_computed=gross_pnl is None,
        derives_risk=not has_no_risk,
        fills=fills,
        fees_source=row.read_if_any("fees_source", parse_fees_source),
    )
    if NAMES.isdisjoint(row):
        return imported
    return replace(
        imported,
        account=row.read_if_any("account", Name100.decode),
        strategy=row.read_if_any("strategy", Name.decode),
        setup=row.read_if_any("setup", Name.decode),
        tags=tuple(row.read_if_any("tags", parse_names) or ()),
        answers=row.read_if_any("confirmations", parse_answers) or (),
        row_name=row.read_if_any("row", text),
        copy_of=row.read_if_any("copy_of", text),
    )


class StatedFill(Struct, frozen=True):
    """A fill as JSON, its amounts undecoded: their digits are checked."""

    id: int
    side: FillSide
    quantity: Raw
    price: Raw
    at: str
    fees: Raw
    external_id: str | None


def parse_fills(cell: str) -> tuple[FileFill, ...]:
    """Return the fills of a trade, which are JSON as in the export. Raises ValueError."""
    fills = json.decode(cell, type=list[StatedFill])
    if not 0 < len(fills) <= MAX_FILLS:
        raise ValueError(f"must have 1 to {MAX_FILLS} fills")
    return tuple(map(check_fill, fills))


def check_fill(fill: StatedFill) -> FileFill:
    """Return the fill with its amounts. Raises ValueError if one exceeds a limit."""
    at = Timestamp.decode(fill.at)
    if at.is_local:
        raise ValueError("must have times with an offset")
    return FileFill(
        fill.side,
        parse_json_amount(fill.quantity, PositiveMoney),
        None if bytes(fill.price) == b"null" else parse_json_amount(fill.price, Money),
        at,
        parse_json_amount(fill.fees, Result),
        None if fill.external_id is None else Name100.decode(fill.external_id),
    )


def parse_json_amount(raw: Raw, kind: type[Money]) -> int:
    """Return a JSON number in units of 10^-8. Raises ValueError, also for one with an exponent."""
    digits = bytes(raw).decode()
    if not JSON_AMOUNT.fullmatch(digits):
        raise ValueError("must have amounts of plain digits")
    return kind.checked(Decimal(digits)).units


def require_agreement(trade: TradeDraft, fills: Sequence[FileFill]) -> None:
    """Raise ValidationFailed unless the fills make the trade of the row."""
    stored = [
        Fill(number, side, quantity, price, at.stored("UTC"), fees, external_id)
        for number, (side, quantity, price, at, fees, external_id) in enumerate(fills, 1)
    ]
    position = summarize_whole(stored)
    has_prices = None not in [fill.price for fill in stored]
    made = (position.direction, round_digits(position.quantity), round_digits(position.entry_price))
    exit_price = None if position.exit_price is None else round_digits(position.exit_price)
    if (
        made != (trade.direction, trade.quantity.units, trade.entry_price.units)
        or position.fees != trade.fees.units
        or (trade.closed_at is None) != (position.closed_at is None)
        or stored != sort_fills(stored)
        or (has_prices and trade.exit_price is not None and trade.exit_price.units != exit_price)
    ):
        raise ValidationFailed(fields={"fills": "must make the trade of the row: its size, prices and fees"})


def parse_word(cell: str, *, of: Any) -> Any:
    """Return a cell that has one of the words of a type."""
    if cell not in get_args(of):
        raise ValueError(f"must be one of: {', '.join(get_args(of))}")
    return cell


parse_grade, parse_fees_source = partial(parse_word, of=Grade), partial(parse_word, of=FeesSource)


def parse_answers(cell: str) -> tuple[Answered, ...]:
    """Return the answers in a JSON array of `[name, was_present, notes]`."""
    items: list[tuple[str, bool, str | None]] = parse_json_list(cell, tuple[str, bool, str | None])
    return tuple(
        Answered(Name.decode(name), was_present, notes if notes is None else text(notes))
        for name, was_present, notes in items
    )


FORMAT = Format(
    "round trips",
    frozenset({"symbol", "direction", "quantity", "entry_price", "opened_at"}),
    one_trade_per_row(read_trade),
    accounts=("account",),
    optional=frozenset(COLUMNS),
    has_owners_times=True,
    long=frozenset({"tags", "confirmations", "notes", "fills"}),
    is_typed=True,
)
