"""SQL of what trades refer to: accounts, strategies, setups, originals of copies."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from aiosqlite import Connection
from msgspec.structs import replace

from journal_api.database.sql import fetch, json_list
from journal_api.errors import ValidationFailed
from journal_api.positions.trade_draft import TradeDraft

# Where a trade belongs.
PLACE = ("account_id", "strategy_id", "setup_id")


class References(NamedTuple):
    """The ids that belong to the user, the strategy id by setup id, the id of the original by trade id.

    `forbidden` has pairs of a strategy and an account to which the strategy is not open.
    """

    account_ids: set[int]
    strategy_ids: set[int]
    setups: dict[int, int]
    originals: dict[int, int]
    forbidden: set[tuple[int, int]]

    def resolved(self, trade: TradeDraft) -> TradeDraft:
        """Return the trade with complete references.

        A setup sets the strategy, and a copy of a copy becomes a copy of the original. Raises
        ValidationFailed for an id that is not the user's.
        """
        strategy_id, source_trade_id = trade.strategy_id, trade.source_trade_id
        if trade.account_id not in self.account_ids:
            raise ValidationFailed(fields={"account_id": "is not one of your accounts"})
        if trade.strategy_id is not None and trade.strategy_id not in self.strategy_ids:
            raise ValidationFailed(fields={"strategy_id": "is not one of your strategies"})
        if trade.setup_id is not None:
            if trade.setup_id not in self.setups:
                raise ValidationFailed(fields={"setup_id": "is not one of your setups"})
            strategy_id = self.setups[trade.setup_id]
            if trade.strategy_id not in (None, strategy_id):
                raise ValidationFailed(fields={"setup_id": "is not a setup of that strategy"})
        if trade.source_trade_id is not None:
            if trade.source_trade_id not in self.originals:
                raise ValidationFailed(fields={"source_trade_id": "is not one of your trades"})
            source_trade_id = self.originals[trade.source_trade_id]
        return replace(trade, strategy_id=strategy_id, source_trade_id=source_trade_id)

    def require_allowed(self, trade: TradeDraft) -> TradeDraft:
        """Return the resolved trade. Raises ValidationFailed if its strategy is for other accounts only."""
        if (trade.strategy_id, trade.account_id) in self.forbidden:
            raise ValidationFailed(fields={"strategy_id": "is restricted to other accounts"})
        return trade


async def read_references(db: Connection, user_id: int, trades: Sequence[TradeDraft]) -> References:
    """Return the ids that the trades refer to and that belong to the user."""

    def ids_in(field: str) -> str:
        return json_list(list({getattr(trade, field) for trade in trades} - {None}))

    places = {(trade.account_id, trade.strategy_id, trade.setup_id) for trade in trades}
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT 'account', id, NULL
        -- The + makes SQLite look up the ids instead of scanning all rows of the user.
        FROM accounts
        WHERE +user_id = :user_id AND id IN (SELECT value FROM json_each(:account_ids))
        UNION ALL
        SELECT 'strategy', id, NULL
        FROM strategies
        WHERE +user_id = :user_id AND id IN (SELECT value FROM json_each(:strategy_ids))
        UNION ALL
        SELECT 'setup', setups.id, strategy_id
        FROM setups
        JOIN strategies ON strategies.id = strategy_id
        WHERE +user_id = :user_id AND setups.id IN (SELECT value FROM json_each(:setup_ids))
        UNION ALL
        SELECT 'trade', id, coalesce(source_trade_id, id)
        FROM trades
        WHERE +user_id = :user_id AND id IN (SELECT value FROM json_each(:trade_ids))
        UNION ALL
        SELECT 'forbidden', strategies.id, value ->> '$.account_id'
        FROM json_each(:places)
        LEFT JOIN setups ON setups.id = value ->> '$.setup_id'
        JOIN strategies ON strategies.id = coalesce(setups.strategy_id, value ->> '$.strategy_id')
        LEFT JOIN copy_group_members AS member ON member.account_id = value ->> '$.account_id'
        WHERE strategies.account_id <> value ->> '$.account_id'
           OR (strategies.copy_group_id IS NOT NULL
               AND strategies.copy_group_id IS NOT member.copy_group_id)
        """,
        {
            "user_id": user_id,
            "account_ids": ids_in("account_id"),
            "strategy_ids": ids_in("strategy_id"),
            "setup_ids": ids_in("setup_id"),
            "trade_ids": ids_in("source_trade_id"),
            "places": json_list([dict(zip(PLACE, place, strict=True)) for place in places]),
        },
    )
    found: dict[str, list[tuple[int, int]]] = {}
    for kind, row_id, target_id in rows:
        found.setdefault(kind, []).append((row_id, target_id))
    return References(
        account_ids={row_id for row_id, _ in found.get("account", ())},
        strategy_ids={row_id for row_id, _ in found.get("strategy", ())},
        setups=dict(found.get("setup", ())),
        originals=dict(found.get("trade", ())),
        forbidden=set(found.get("forbidden", ())),
    )


async def require_no_circle(db: Connection, trade_id: int, original_id: int | None) -> None:
    """Raise ValidationFailed if the trade would be a copy of itself or a copy that has copies."""
    if original_id is None:
        return
    has_copies = await fetch(db, "SELECT 1 FROM trades WHERE source_trade_id = :id LIMIT 1", {"id": trade_id})
    if original_id == trade_id or has_copies:
        raise ValidationFailed(fields={"source_trade_id": "cannot be set on a trade that has copies"})
