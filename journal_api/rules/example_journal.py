"""The content of the example journal: reads example_journal.toml and puts its trades on days."""

import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple

from msgspec import json

from journal_api.structs.example_journal import ExampleContent, ExampleTrade
from journal_api.structs.me import Me
from journal_api.structs.strategies import Setup
from journal_api.structs.trades import AnswerPut, TradeCreate
from journal_api.values.money import Money, UnsignedMoney
from journal_api.values.periods import ONE_DAY, trading_day
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import decode_value

FILE = Path(__file__).with_suffix(".toml")


@cache
def read_content() -> ExampleContent:
    """Return the content of the file, by way of JSON, which free-form members are kept as."""
    text = json.encode(tomllib.loads(FILE.read_text(encoding="utf-8")))
    return json.decode(text, type=ExampleContent, dec_hook=decode_value)


class Places(NamedTuple):
    """What the trades refer to, by the names in the file."""

    account_id: int
    setups: Mapping[str, Setup]
    tag_ids: Mapping[str, int]


def list_days(owner: Me, until: str) -> list[date]:
    """Return the owner's trading days up to the day of the instant `until`, by how long ago they are."""
    today = date.fromisoformat(trading_day(until, owner.timezone, owner.day_rollover))
    number = 1 + max(trade.days_ago for trade in read_content().trades.rows)
    days = (today - ONE_DAY * back for back in range(7 * number))
    return [day for day in days if day.isoweekday() in owner.trading_weekdays][:number]


def build_body(trade: ExampleTrade, places: Places, day: date, rollover: str) -> TradeCreate:
    """Return a body with local times. What closes from the rollover on moves to the day before, to count on `day`."""
    if "00:00" < rollover <= (trade.closed or trade.opened):
        day -= ONE_DAY
    setup = places.setups[trade.setup] if trade.setup else None
    confirmations = zip(setup.confirmations if setup else (), trade.checklist, strict=True)
    return TradeCreate(
        account_id=places.account_id,
        symbol=trade.symbol,
        direction=trade.direction,
        quantity=trade.quantity,
        multiplier=read_content().trades.point_values[trade.symbol],
        entry_price=trade.entry,
        exit_price=trade.exit,
        stop_loss=trade.stop,
        mae=build_excursion(trade, trade.worst),
        mfe=build_excursion(trade, trade.best),
        opened_at=Timestamp.decode(f"{day}T{trade.opened}"),
        closed_at=Timestamp.decode(f"{day}T{trade.closed}") if trade.closed else None,
        grade=trade.grade or None,
        setup_id=setup.setup_id if setup else None,
        notes=trade.notes,
        tag_ids=[places.tag_ids[name] for name in trade.tags],
        confirmations=[
            AnswerPut(confirmation_id=confirmation.confirmation_id, was_present=letter == "y")
            for confirmation, letter in confirmations
        ],
    )


def build_excursion(trade: ExampleTrade, price: Money | None) -> UnsignedMoney | None:
    """Return the amount between the entry and the price."""
    if price is None:
        return None
    distance = abs(price - trade.entry)
    return UnsignedMoney.checked(distance * trade.quantity * read_content().trades.point_values[trade.symbol])
