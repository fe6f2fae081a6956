"""The generic format: one trade a row, our own column names, only what a trade needs required."""

from typing import cast, get_args

from journal_api.importing.cells import ImportedTrade, Row, amount, one_of, text
from journal_api.money import Money, PositiveMoney
from journal_api.structs.trades import Direction, Grade, TradeCreate
from journal_api.values import Name, Name40, Name100, Timestamp

NAME = "round trips"
REQUIRED = {"symbol", "direction", "quantity", "entry_price", "opened_at"}


def trade_of(row: Row, account_id: int) -> ImportedTrade:
    trade = TradeCreate(
        account_id=account_id,
        symbol=row.read("symbol", Name40.decode),
        direction=cast(Direction, row.read("direction", one_of(*get_args(Direction)))),
        quantity=row.read("quantity", amount(PositiveMoney)),
        multiplier=row.read_if_any("multiplier", amount(PositiveMoney)) or PositiveMoney(1),
        entry_price=row.read("entry_price", amount(Money)),
        exit_price=row.read_if_any("exit_price", amount(Money)),
        stop_loss=row.read_if_any("stop_loss", amount(Money)),
        opened_at=row.read("opened_at", Timestamp.decode),
        closed_at=row.read_if_any("closed_at", Timestamp.decode),
        gross_pnl=row.read_if_any("gross_pnl", amount(Money)),
        fees=row.read_if_any("fees", amount(Money)) or Money(0),
        initial_risk=row.read_if_any("initial_risk", amount(PositiveMoney)),
        grade=cast(Grade | None, row.read_if_any("grade", one_of(*get_args(Grade)))),
        external_id=row.read_if_any("external_id", Name100.decode),
        notes=row.read_if_any("notes", text),
    )
    return ImportedTrade(
        trade,
        strategy=row.read_if_any("strategy", Name.decode),
        setup=row.read_if_any("setup", Name.decode),
        tags=tuple(row.read_if_any("tags", names) or ()),
    )


def names(cell: str) -> list[str]:
    """Tag names, separated by semicolons."""
    return [Name100.decode(part) for part in cell.split(";") if part.strip()]
