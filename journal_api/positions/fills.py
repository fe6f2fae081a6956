"""A trade as its fills: what follows from them. Amounts are integers of 10^-8, times stored UTC text."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import json

from journal_api.errors import ValidationFailed
from journal_api.structs import fills
from journal_api.structs.fills import FillSide
from journal_api.structs.trades import Direction
from journal_api.values.money import SCALE, json_text, quotient, units

# The sides of entries and exits.
SIDES: dict[Direction, tuple[FillSide, FillSide]] = {"long": ("buy", "sell"), "short": ("sell", "buy")}


class Fill(NamedTuple):
    """A purchase or a sale. `price` is None for an exit whose price nobody stated."""

    id: int
    side: FillSide
    quantity: int
    price: int | None
    at: str
    fees: int = 0
    external_id: str | None = None

    @property
    def signed(self) -> int:
        """The quantity, negative for a sale."""
        return self.quantity if self.side == "buy" else -self.quantity


class FillRefused(ValidationFailed):
    """A fill that the trade cannot have."""

    def __init__(self, fill: Fill, name: str, reason: str) -> None:
        super().__init__(fields={name: reason})
        self.fill, self.name, self.reason = fill, name, reason


class Position(NamedTuple):
    """What follows from the fills of a trade. An open one has no exit price, closing time, value."""

    direction: Direction
    quantity: int  # the largest size held
    entry_price: int
    exit_price: int | None
    opened_at: str
    closed_at: str | None
    fees: int
    value: int | None  # proceeds less costs, in units of 10^-16, before the multiplier

    def gross(self, multiplier: int) -> int | None:
        """Return the result with that multiplier, from the exact sums, rounded once."""
        return None if self.value is None else quotient(self.value * multiplier, SCALE**2)


def summarize(fills: Sequence[Fill], *, may_be_flat: bool = False) -> Position:
    """Return the position that the fills make. Raises ValidationFailed if they turn it over or end it early.

    The fills are in the order of time. With `may_be_flat`, as in merged trades, the position may be flat in
    between.
    """
    sign = 1 if fills[0].side == "buy" else -1
    size = largest = entered = exited = entry_value = exit_value = 0
    for number, fill in enumerate(fills):
        if fill.price is None:
            raise FillRefused(fill, "price", "of every fill is required: state the exit price first")
        if number and not size and not may_be_flat:
            raise FillRefused(fill, "at", "is after the position was flat: a new position is a new trade")
        if fill.signed * sign > 0:
            entered += fill.quantity
            entry_value += fill.quantity * fill.price
            size += fill.quantity
            largest = max(largest, size)
        else:
            if fill.quantity > size:
                reason = (
                    f"would turn the position over, of which {json_text(size)} is left: close this trade with"
                    " that, then open another"
                )
                raise FillRefused(fill, "quantity", reason)
            exited += fill.quantity
            exit_value += fill.quantity * fill.price
            size -= fill.quantity
    return Position(
        direction="long" if sign > 0 else "short",
        quantity=largest,
        entry_price=quotient(entry_value, entered),
        exit_price=None if size else quotient(exit_value, exited),
        opened_at=fills[0].at,
        closed_at=None if size else fills[-1].at,
        fees=sum(fill.fees for fill in fills),
        value=None if size else sign * (exit_value - entry_value),
    )


def summarize_whole(fills: Sequence[Fill]) -> Position:
    """Return the position of fills that may be flat in between, and of which prices may be unknown.

    Raises ValidationFailed if they turn it over.
    """
    return summarize([fill._replace(price=fill.price or 0) for fill in fills], may_be_flat=True)


def sort_fills(fills: Sequence[Fill]) -> list[Fill]:
    """Return the fills in the order of time; fills of one time stay in their order."""
    return sorted(fills, key=lambda fill: fill.at)


def number_fills(fills: Sequence[Fill]) -> list[Fill]:
    """Return the fills numbered from 1 in their order."""
    return [fill._replace(id=number) for number, fill in enumerate(fills, 1)]


def state_fills(columns: dict[str, Any]) -> list[Fill]:
    """Return the fills that the columns of a trade state: one entry and, once closed, one exit."""
    quantity, (opens, closes) = columns["quantity"], SIDES[columns["direction"]]
    entry = Fill(1, opens, quantity, columns["entry_price"], columns["opened_at"], columns["fees"])
    if columns["closed_at"] is None:
        return [entry]
    return [entry, Fill(2, closes, quantity, columns["exit_price"], columns["closed_at"])]


def charge_fills(text: str, fees: int) -> str:
    """Return stored fills with fees that no file states of any of them: the first bears them."""
    first, *others = decode_fills(text)
    return encode_fills([first._replace(fees=fees), *(fill._replace(fees=0) for fill in others)])


def match_fees(text: str | None, fees: int) -> str | None:
    """Return stored fills whose fees add up to the trade's: the first bears what is missing."""
    fills = decode_fills(text) if text else []
    missing = fees - sum(fill.fees for fill in fills)
    if not fills or not missing:
        return text
    return encode_fills([fills[0]._replace(fees=fills[0].fees + missing), *fills[1:]])


def encode_fills(fills: Sequence[Fill]) -> str:
    """Return the fills as JSON, as responses have them."""
    return "[" + ",".join(map(encode_fill, fills)) + "]"


def encode_fill(fill: Fill) -> str:
    price = "null" if fill.price is None else json_text(fill.price)
    known = fill.external_id
    if known is None:
        external_id = "null"
    else:
        is_plain = known.isalnum() and known.isascii()
        external_id = f'"{known}"' if is_plain else json.encode(str(known)).decode()
    return (
        f'{{"id":{fill.id},"side":"{fill.side}","quantity":{json_text(fill.quantity)},"price":{price},'
        f'"at":"{fill.at}","fees":{json_text(fill.fees)},"external_id":{external_id}}}'
    )


def decode_fills(text: str) -> list[Fill]:
    """Return stored fills."""
    return list(map(read_fill, json.decode(text, type=list[fills.Fill])))


def read_fill(fill: fills.Fill) -> Fill:
    """Return a fill of a response, or a stored one, with its amounts in units."""
    price = None if fill.price is None else units(fill.price)
    return Fill(fill.id, fill.side, units(fill.quantity), price, fill.at, units(fill.fees), fill.external_id)
