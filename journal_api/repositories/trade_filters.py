"""The WHERE clauses of statements that filter trades.

SQLite uses no index for a column behind a unary +, so such a condition is only checked on the rows that the
other conditions select. The clauses lead it to the index that leaves the fewest trades.
"""

from typing import get_args

from journal_api.repositories.sql import json_list
from journal_api.structs.trades import FeesSource, TradeSelection
from journal_api.values.instruments import list_contracts

# The owner of the trades, for three different indexes, and as a check without an index.
OF_USER = "user_id = :user_id"
OF_ACCOUNT = "account_id = (SELECT id FROM accounts WHERE id = :account_id AND user_id = :user_id)"
OF_DAYS = """account_id IN (
        SELECT id FROM accounts WHERE user_id = :user_id AND (:account_id IS NULL OR id = :account_id))
    AND trading_day BETWEEN coalesce(:since, '') AND coalesce(:until, '9999-12-31')"""
IS_USERS = "+user_id = :user_id"

# Filters with an index of their own.
SELECTIVE = {
    "strategy_id": "strategy_id = :strategy_id",
    "setup_id": "setup_id = :setup_id",
    # The trades that the import added or corrected.
    "import_id": """(import_id = :import_id OR id IN (
        SELECT trade_id FROM import_updates WHERE import_id = :import_id))""",
    "tag_id": "id IN (SELECT trade_id FROM trade_tags WHERE tag_id = :tag_id)",
}
OTHER = {
    "copy_group_id": """+account_id IN (
        SELECT account_id FROM copy_group_members WHERE copy_group_id = :copy_group_id)""",
    "symbol": "contract = :symbol",
    "root": "root = :root",
    "direction": "direction = :direction",
    "grade": "grade = :grade",
}
OUTCOMES = {
    "open": "closed_at IS NULL",
    "win": "net_pnl > 0",
    "loss": "net_pnl < 0",
    "breakeven": "net_pnl = 0",
}
# As constants, because SQLite knows no bound value when it chooses the partial index of trades without costs.
COSTS = {source: f"fees_source = '{source}'" for source in get_args(FeesSource)}
# Filters whose index begins with the user.
BY_USER = {"symbol", "grade", "open", "breakeven", "none"}
DAYS = {"since": "+trading_day >= :since", "until": "+trading_day <= :until"}


class TradeFilters:
    """The conditions of one query."""

    def __init__(self, query: TradeSelection) -> None:
        self.parameters = query.values()
        contracts = list_contracts(query.symbol) if query.symbol else [None]
        self.parameters["symbol"] = contracts[0] if len(contracts) == 1 else json_list(contracts)
        self._sent = {name for name, value in self.parameters.items() if value is not None}
        outcome, costs = (self.parameters.get(name) or "" for name in ("outcome", "fees_source"))
        conditions = {
            **SELECTIVE,
            **OTHER,
            "outcome": OUTCOMES.get(outcome, ""),
            "fees_source": COSTS.get(costs, ""),
        }
        if len(contracts) > 1:
            conditions["symbol"] = "contract IN (SELECT value FROM json_each(:symbol))"
        self._conditions = [condition for name, condition in conditions.items() if name in self._sent]
        self._has_own_index = not self._sent.isdisjoint(SELECTIVE)
        self._has_user_index = not BY_USER.isdisjoint({*self._sent, outcome, costs})

    def newest_first(self) -> str:
        """Return the clause for a page in the order of `opened_at`."""
        return self._clause(self._owner(by_day="since" in self._sent))

    def counted(self) -> str:
        """Return the clause for the number of matching trades."""
        return self._clause(self._owner(by_day="until" in self._sent))

    def closed(self) -> str:
        """Return the clause for all matching closed trades."""
        return f"{self._clause(self._owner(by_day=True))} AND +closed_at IS NOT NULL"

    def checked(self) -> str:
        """Return the clause for trades that are selected by id."""
        return self._clause(IS_USERS)

    def _owner(self, *, by_day: bool) -> str:
        """Return the condition on the owner for the index that leaves the fewest trades."""
        if self._has_own_index:
            return IS_USERS
        if self._has_user_index:
            return OF_USER
        if by_day and not self._conditions:
            return OF_DAYS
        return OF_ACCOUNT if "account_id" in self._sent else OF_USER

    def _clause(self, owner: str) -> str:
        conditions = [owner, *self._conditions]
        if "account_id" in self._sent and owner not in (OF_ACCOUNT, OF_DAYS):
            conditions.append("+account_id = :account_id")
        if owner != OF_DAYS:
            conditions += [condition for name, condition in DAYS.items() if name in self._sent]
        return " AND ".join(conditions)
