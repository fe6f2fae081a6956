"""Bodies and responses of instruments: the value of a point by contract root."""

from decimal import Decimal
from typing import Literal

from msgspec import Struct

from journal_api.values.money import PositiveMoney

InstrumentSource = Literal["built-in", "own"]


class InstrumentPut(Struct, kw_only=True, forbid_unknown_fields=True):
    """The value of a point: what a price change of 1.0 is worth for one contract, in its currency."""

    point_value: PositiveMoney


class Instrument(Struct, kw_only=True, forbid_unknown_fields=True):
    """The name, exchange and currency are null for a root that only the owner knows."""

    root: str
    name: str | None
    exchange: str | None
    currency: str | None
    point_value: Decimal
    source: InstrumentSource
