"""The stored columns of a trade."""

from typing import Any

from msgspec.structs import asdict

from journal_api.errors import ValidationFailed
from journal_api.positions.fills import encode_fills, state_fills
from journal_api.positions.trade_draft import TradeDraft
from journal_api.structs.trades import AMOUNTS
from journal_api.values.instruments import canonical_symbol, contract_root


def build_columns(trade: TradeDraft, timezone: str) -> dict[str, Any]:
    """Return the stored columns. Times without an offset are local time in `timezone`.

    Raises ValidationFailed when the trade closes before it opens.
    """
    opened_at = trade.opened_at.stored(timezone)
    closed_at = trade.closed_at.stored(timezone) if trade.closed_at else None
    times = {"opened_at": opened_at, "closed_at": closed_at}
    for name, instant in times.items():
        if instant is not None and not "1970" <= instant < "2201":
            raise ValidationFailed(fields={name: "must be in the years 1970 to 2200"})
    if closed_at is not None and closed_at < opened_at:
        raise ValidationFailed(fields={"closed_at": "must not be before opened_at"})
    contract = {"contract": canonical_symbol(trade.symbol, opened_at), "root": contract_root(trade.symbol)}
    columns = {**asdict(trade), **times, **contract, "fills": None}
    for name in AMOUNTS:
        if columns[name] is not None:
            columns[name] = columns[name].units
    if trade.fills:
        columns["fills"] = build_fills(trade, columns)
    return columns


def build_fills(trade: TradeDraft, columns: dict[str, Any]) -> str | None:
    """Return the fills as JSON, in agreement with the other columns. None if these state them."""
    stated = state_fills(columns)
    fills = trade.fills
    if not trade.is_scaled:
        known = {fill.side: fill for fill in fills}
        fills = tuple(
            fill._replace(id=one.id, external_id=one.external_id, fees=one.fees)
            if (one := known.get(fill.side))
            else fill
            for fill in stated
        )
    missing = columns["fees"] - sum(fill.fees for fill in fills)
    fills = (fills[0]._replace(fees=fills[0].fees + missing), *fills[1:])
    return None if list(fills) == stated else encode_fills(fills)
