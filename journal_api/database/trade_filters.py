"""The WHERE clauses of statements that filter trades.

SQLite uses no index for a column behind a unary +, so such a condition is only checked on the rows that the
other conditions select. The clauses lead it to the index that leaves the fewest trades.
"""

from collections.abc import Mapping, Set
from types import MappingProxyType
from typing import get_args

from journal_api.database.sql import json_list
from journal_api.metrics.outcomes import is_breakeven, is_loss, is_win
from journal_api.structs.trades import FeesSource, TradeSelection
from journal_api.values.instruments import list_contracts

# The owner of the trades, for four different indexes, and as a check without an index.
OF_USER = "user_id = :user_id"
OF_ACCOUNT = "account_id = (SELECT id FROM accounts WHERE id = :account_id AND user_id = :user_id)"
OF_ACCOUNTS = """account_id IN (
        SELECT id FROM accounts WHERE user_id = :user_id AND (:account_id IS NULL OR id = :account_id))"""
OF_DAYS = f"""{OF_ACCOUNTS}
    AND trading_day BETWEEN coalesce(:since, '') AND coalesce(:until, '9999-12-31')"""
IS_USERS = "+user_id = :user_id"
OF_GROUP = "account_id IN (SELECT account_id FROM copy_group_members WHERE copy_group_id = :copy_group_id)"

CONDITIONS = {
    "strategy_id": "strategy_id = :strategy_id",
    "setup_id": "setup_id = :setup_id",
    # The trades that the import added or corrected.
    "import_id": """(import_id = :import_id OR id IN (
        SELECT trade_id FROM statements WHERE import_id = :import_id))""",
    "ids": "id IN (SELECT value FROM json_each(:ids))",
    "tag_id": "id IN (SELECT trade_id FROM trade_tags WHERE tag_id = :tag_id)",
    "copy_group_id": f"+{OF_GROUP}",
    "symbol": "contract = :symbol",
    "root": "root = :root",
    "direction": "direction = :direction",
    "grade": "grade = :grade",
    "source_trade_id": "source_trade_id = :source_trade_id",
    "copies": "+source_trade_id IS NULL",
}
BREAKEVEN_WITHIN = "(SELECT breakeven_within FROM users WHERE id = :user_id)"
RESULTS = {
    "win": is_win("net_pnl", BREAKEVEN_WITHIN),
    "loss": is_loss("net_pnl", BREAKEVEN_WITHIN),
    "breakeven": is_breakeven("net_pnl", BREAKEVEN_WITHIN),
}
OUTCOMES = {"open": "closed_at IS NULL", **{outcome: f"+{RESULTS[outcome]}" for outcome in RESULTS}}
# As constants, because SQLite knows no bound value when it chooses the partial index of trades without costs.
COSTS = {source: f"fees_source = '{source}'" for source in get_args(FeesSource)}
DAYS = {"since": "+trading_day >= :since", "until": "+trading_day <= :until"}
# A trade that closed on a day was opened before the day had ended everywhere.
OPENED_BEFORE = "opened_at < coalesce(date(:until, '+2 days'), 'never')"
# Filters with an index that does not begin with the user, and those whose index does.
WITH_INDEX = {"ids", "strategy_id", "setup_id", "import_id", "source_trade_id"}
BY_USER = {"symbol", "grade", "open", "none"}
# Filters whose index is not in the order of lists: one trade after the other is checked, or few are sorted.
CHECKED = {"tag_id": "EXISTS (SELECT 1 FROM trade_tags WHERE trade_id = trades.id AND tag_id = :tag_id)"}
SORTED = {
    "tag_id": CONDITIONS["tag_id"],
    "copy_group_id": OF_GROUP,
    "root": """contract IN (SELECT contract FROM trade_counts WHERE user_id = :user_id AND root = :root)
        AND +root = :root""",
}
BY_ID = {name: f"+{CONDITIONS[name]}" for name in ("strategy_id", "setup_id")}
# Filters by the columns of `trade_counts`, which has the numbers of trades.
NOT_KEPT = {"ids", "tag_id", "import_id", "source_trade_id", "copies"}
KEPT = {*CONDITIONS, "account_id", "outcome"} - NOT_KEPT
# Filters for which the index of results alone finds the trades.
OF_RESULT = {"account_id", "copy_group_id", "outcome"}
COUNT_TAGGED = """SELECT count(*) FROM trade_tags
    WHERE tag_id = (SELECT id FROM tags WHERE id = :tag_id AND user_id = :user_id)"""
NOTHING: Mapping[str, str] = MappingProxyType({})


class TradeFilters:
    """The conditions of one query."""

    def __init__(self, query: TradeSelection) -> None:
        self.parameters = query.values()
        contracts = list_contracts(query.symbol) if query.symbol else [None]
        self.parameters["symbol"] = contracts[0] if len(contracts) == 1 else json_list(contracts)
        if ids := self.parameters.get("ids"):
            self.parameters["ids"] = json_list(ids)
        self._sent = {name for name, value in self.parameters.items() if value is not None}
        self._sent -= {"limit", "offset", *(["copies"] if self.parameters.get("copies") else [])}
        outcome, costs = (self.parameters.get(name) or "" for name in ("outcome", "fees_source"))
        conditions = {**CONDITIONS, "outcome": OUTCOMES.get(outcome, ""), "fees_source": COSTS.get(costs, "")}
        if len(contracts) > 1:
            conditions["symbol"] = "contract IN (SELECT value FROM json_each(:symbol))"
        self._conditions = {name: conditions[name] for name in conditions if name in self._sent}
        self._has_own_index = not self._sent.isdisjoint(WITH_INDEX)
        self._has_user_index = not BY_USER.isdisjoint({*self._sent, outcome, costs})
        has_index = self._has_own_index or self._has_user_index
        # Whether the index of results leaves the fewest trades.
        self._by_result = outcome in RESULTS and not has_index and self._sent.isdisjoint({"tag_id", "root"})
        has_order = has_index or "account_id" in self._sent
        self.is_sortable = self._by_result or (not has_order and not self._sent.isdisjoint(SORTED))

    def in_order(self) -> str:
        """Return the clause for reading trades in the order of `opened_at`, from either end."""
        clause = self._clause(self._owner(by_tag=False), CHECKED)
        return f"{clause} AND {OPENED_BEFORE}" if "until" in self._sent else clause

    def sortable(self) -> str:
        """Return the clause for reading few trades in any order."""
        if self._by_result:
            owner = IS_USERS if "copy_group_id" in self._sent else OF_ACCOUNTS
            return self._clause(owner, {**SORTED, "outcome": RESULTS[self.parameters["outcome"]]})
        return self._clause(OF_USER if "root" in self._sent else IS_USERS, SORTED)

    def sorted_number(self) -> str:
        """Return the number of trades that `sortable` reads, given the total."""
        if not self._by_result or self._sent <= OF_RESULT:
            return "total"
        return f"(SELECT coalesce(sum(trades), 0) FROM trade_counts WHERE {self._kept(OF_RESULT)})"

    def count(self) -> str:
        """Return the SELECT of the number of matching trades."""
        if self._sent - {"copies"} <= KEPT:
            kept = f"SELECT coalesce(sum(trades), 0) FROM trade_counts WHERE {self._kept(KEPT)}"
            return kept if "copies" not in self._sent else f"SELECT ({kept}) - ({self._count_copies()})"
        if self._sent == {"tag_id"}:
            return COUNT_TAGGED
        has_days = not self._sent.isdisjoint(DAYS)
        has_few = self._has_user_index or self.parameters.get("outcome") == "breakeven"
        by_day = has_days and (self._sent >= DAYS.keys() or not has_few)
        if self._by_result and not by_day:
            return f"SELECT count(*) FROM trades WHERE {self.sortable()}"
        return f"SELECT count(*) FROM trades WHERE {self._clause(self._owner(by_day=by_day))}"

    def _count_copies(self) -> str:
        """Return the SELECT of the number of copies, by their own index."""
        clause = self._clause(IS_USERS, {**BY_ID, "copies": "source_trade_id IS NOT NULL"})
        return f"SELECT count(*) FROM trades WHERE {clause}"

    def checked(self) -> str:
        """Return the clause for trades that are read in the order of ids."""
        return self._clause(IS_USERS, BY_ID)

    def _owner(self, *, by_day: bool = False, by_tag: bool = True) -> str:
        """Return the condition on the owner for the index that leaves the fewest trades."""
        if self._has_own_index or (by_tag and "tag_id" in self._sent):
            return IS_USERS
        if by_day:
            return OF_DAYS
        if "account_id" in self._sent and not self._has_user_index:
            return OF_ACCOUNT
        return OF_USER

    def _clause(self, owner: str, instead: Mapping[str, str] = NOTHING) -> str:
        conditions = [owner, *({**self._conditions, **instead}[name] for name in self._conditions)]
        if "account_id" in self._sent and owner not in (OF_ACCOUNT, OF_ACCOUNTS, OF_DAYS):
            conditions.append("+account_id = :account_id")
        if owner != OF_DAYS:
            conditions += [condition for name, condition in DAYS.items() if name in self._sent]
        return " AND ".join(conditions)

    def _kept(self, names: Set[str]) -> str:
        """Return the clause of those filters for the rows of `trade_counts`."""
        conditions = {**self._conditions, "account_id": "account_id = :account_id", "outcome": "outcome = :outcome"}
        return " AND ".join([OF_USER, *(conditions[name] for name in sorted(self._sent & names))])
