"""The columns of a trade that follow from a position of a book."""

from collections.abc import Iterable, Mapping
from typing import Any

from journal_api.errors import ValidationFailed
from journal_api.positions.book import Part, Position
from journal_api.positions.commissions import Commissions
from journal_api.positions.fills import Fill, charge_fills, encode_fills, state_fills, summarize_whole
from journal_api.positions.sources import Claim, SourceStatement
from journal_api.structs.fills import FillSide
from journal_api.values.instruments import canonical_symbol, contract_root
from journal_api.values.money import MAX_AMOUNT, SCALE, Money

# What files state of a trade; the other columns are the trader's.
BROKER_FIELDS = (
    *("symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price"),
    *("opened_at", "closed_at", "gross_pnl", "fees", "fills", "mae", "mfe"),
)
FILE_COLUMNS = (*BROKER_FIELDS, "fees_source", "external_id")
# What follows from the fills of a trade: who states one of it states all.
OF_POSITION = (*("direction", "quantity", "entry_price", "exit_price", "opened_at", "closed_at", "gross_pnl", "fills"),)


def build_columns(position: Position, commissions: Commissions, multiplier: int | None = None) -> dict[str, Any]:
    """Return the columns, with the owner's multiplier if there is one.

    Raises ValidationFailed for an amount that exceeds a limit.
    """
    shares = position.stated
    stated = sorted(shares, key=find_detail)
    first = stated[0].statement
    fills = [build_fill(number, part) for number, part in enumerate(position.parts, 1)]
    is_own = multiplier is not None
    multiplier = multiplier or next(
        (one.statement.multiplier for one in stated if one.statement.has_multiplier), first.multiplier
    )
    summary = summarize_whole(fills)
    has_exit_price = summary.exit_price is not None and None not in [fill.price for fill in fills]
    columns: dict[str, Any] = {
        "symbol": first.symbol,
        "direction": summary.direction,
        "quantity": round_digits(summary.quantity),
        "multiplier": multiplier,
        "entry_price": round_digits(summary.entry_price),
        "exit_price": round_digits(summary.exit_price or 0) if has_exit_price else None,
        "opened_at": summary.opened_at,
        "closed_at": summary.closed_at,
        "gross_pnl": find_result(position, shares, [] if is_own else stated, summary.gross(multiplier)),
        "contract": canonical_symbol(first.symbol, summary.opened_at),
        "root": contract_root(first.symbol),
        "external_id": find_external_id(position, shares, stated),
        **find_excursions(position, shares, stated),
    }
    position_statement = position.positions[:1] and position.positions[0].statement
    if any(states_fees(one) for part in position.parts for one in part.claims):
        columns |= {"fees": sum(fill.fees for fill in fills), "fees_source": first.fees_source or "file"}
    elif position_statement and position_statement.fees is not None:
        columns |= {"fees": position_statement.fees, "fees_source": position_statement.fees_source or "file"}
        fills[0] = fills[0]._replace(fees=position_statement.fees)
    else:
        columns |= {"fees": 0, "fees_source": first.fees_source or "none"}
    columns["fills"] = None if fills == state_fills(columns) else encode_fills(fills)
    if columns["fees_source"] == "none" and first.fees_source is None:
        columns |= charge(columns, commissions, is_future=any(one.statement.is_future for one in stated))
    check_limits(columns)
    return columns


def find_detail(stated: SourceStatement) -> tuple[object, ...]:
    """Return the place of a statement by detail, whatever the order in which files came."""
    one = stated.statement
    sides = [[(cell is not None, cell) for cell in side] for side in one.sides]  # files state some ids and prices alone
    return one.is_kept, stated.source, one.sides[0].at, one.external_id or "", sides


def states_fees(claim: Claim) -> bool:
    return claim.stated.statement.fees is not None


def build_fill(number: int, part: Part) -> Fill:
    """Return the part as a fill of the trade, with what the most detailed source that states fees says."""
    one, fees, external_id = part.execution, 0, part.execution.external_id
    stating = [claim for claim in part.claims if states_fees(claim)]
    if stating:
        source = min(claim.stated.source for claim in stating)
        fees = sum(claim.fees for claim in stating if claim.stated.source == source)
    side: FillSide = "buy" if part.quantity > 0 else "sell"
    return Fill(number, side, abs(part.quantity), one.price, one.at, fees, external_id)


def find_result(
    position: Position, shares: Mapping[SourceStatement, int], stated: Iterable[SourceStatement], computed: int | None
) -> int | None:
    """Return the result that one source states of the whole position, else the one of its fills."""
    if computed is None:
        return None
    found: dict[tuple[int, str], list[SourceStatement]] = {}
    for one in stated:
        found.setdefault(one.source, []).append(one)
    whole = sum(abs(part.quantity) for part in position.parts)
    for of_source in found.values():
        results = [one.statement.gross_pnl for one in of_source]
        quantities = [shares[one] for one in of_source]
        is_within = all(shares[one] == one.statement.quantity for one in of_source)
        if None not in results and sum(quantities) == whole and is_within:
            return sum(result for result in results if result is not None)
    return computed


def find_excursions(
    position: Position, shares: Mapping[SourceStatement, int], stated: Iterable[SourceStatement]
) -> dict[str, int | None]:
    """Return the excursions that a statement has of the whole position.

    Those of its parts are not its own.
    """
    whole = sum(abs(part.quantity) for part in position.parts)
    statements = [one.statement for one in stated if shares[one] == whole == one.statement.quantity]
    return {
        name: next((value for one in statements if (value := getattr(one, name)) is not None), None)
        for name in ("mae", "mfe")
    }


def find_external_id(
    position: Position, shares: Mapping[SourceStatement, int], stated: Iterable[SourceStatement]
) -> str | None:
    """Return the id of the most detailed statement of which all is in the position, else of a fill."""
    for one in stated:
        if one.statement.kind == "fill":
            break
        if one.statement.external_id is not None and shares[one] == one.statement.quantity:
            return one.statement.external_id
    return position.parts[0].execution.external_id


def charge(columns: dict[str, Any], commissions: Commissions, *, is_future: bool) -> dict[str, Any]:
    """Return the columns of the account's commission, none without an amount for the symbol."""
    fees = commissions.compute(columns, is_future=is_future)
    if fees is None:
        return {}
    fills = columns["fills"] and charge_fills(columns["fills"], fees)
    return {"fees": fees, "fees_source": "account", "fills": fills}


def check_limits(columns: dict[str, Any]) -> None:
    """Raise ValidationFailed if an amount exceeds the limits of an amount."""
    for name in ("quantity", "entry_price", "exit_price", "gross_pnl", "fees"):
        if columns[name] is not None and abs(columns[name]) > MAX_AMOUNT * SCALE:
            reason = f"computed from the fills must be between -{MAX_AMOUNT} and {MAX_AMOUNT}"
            raise ValidationFailed(fields={name: reason})


def round_digits(units: int) -> int:
    """Return the amount rounded to the digits that an amount may have."""
    if abs(units) < 10**Money.digits:
        return units
    return round(units, Money.digits - len(str(abs(units))))
