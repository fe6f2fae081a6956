"""The WHERE clauses of statements that filter trades."""

from journal_api.structs.trades import TradeSelection

# The owner of the trades, for three different indexes, and as a check without an index.
OF_USER = "user_id = :user_id"
OF_ACCOUNT = "account_id = (SELECT id FROM accounts WHERE id = :account_id AND user_id = :user_id)"
OF_DAYS = """account_id IN (
        SELECT id FROM accounts WHERE user_id = :user_id AND (:account_id IS NULL OR id = :account_id))
    AND trading_day BETWEEN coalesce(:since, '') AND coalesce(:until, '9999-12-31')"""
IS_USERS = "+user_id = :user_id"


class TradeFilters:
    """The conditions of one query.

    They lead SQLite to the index that leaves the fewest trades: it uses no index for a column behind a unary
    +, so such a condition is only checked on the rows that the other conditions select.
    """

    def __init__(self, query: TradeSelection) -> None:
        self.parameters = query.values()
        self._conditions: list[str] = []
        self._has_own_index = False
        self._has_user_index = False
        filters = {
            "strategy_id": self._strategy,
            "setup_id": self._setup,
            "import_id": self._import,
            "tag_id": self._tag,
            "copy_group_id": self._copy_group,
            "symbol": self._symbol,
            "direction": self._direction,
            "grade": self._grade,
            "outcome": self._outcome,
        }
        for name, add in filters.items():
            if self._is_sent(name):
                add()

    def newest_first(self) -> str:
        """Return the clause for a page in the order of `opened_at`."""
        return self._clause(self._owner(by_day=self._is_sent("since")))

    def counted(self) -> str:
        """Return the clause for the number of matching trades."""
        return self._clause(self._owner(by_day=self._is_sent("until")))

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
        return OF_ACCOUNT if self._is_sent("account_id") else OF_USER

    def _clause(self, owner: str) -> str:
        conditions = [owner, *self._conditions]
        if self._is_sent("account_id") and owner not in (OF_ACCOUNT, OF_DAYS):
            conditions.append("+account_id = :account_id")
        if owner != OF_DAYS:
            conditions += self._days()
        return " AND ".join(conditions)

    def _days(self) -> list[str]:
        days = {"since": "+trading_day >= :since", "until": "+trading_day <= :until"}
        return [condition for name, condition in days.items() if self._is_sent(name)]

    def _is_sent(self, name: str) -> bool:
        return self.parameters.get(name) is not None

    def _strategy(self) -> None:
        self._has_own_index = True
        self._conditions.append("strategy_id = :strategy_id")

    def _setup(self) -> None:
        self._has_own_index = True
        self._conditions.append("setup_id = :setup_id")

    def _import(self) -> None:
        """The trades that the import added or corrected."""
        self._has_own_index = True
        self._conditions.append("""(import_id = :import_id OR id IN (
            SELECT trade_id FROM import_updates WHERE import_id = :import_id))""")

    def _tag(self) -> None:
        self._has_own_index = True
        self._conditions.append("id IN (SELECT trade_id FROM trade_tags WHERE tag_id = :tag_id)")

    def _copy_group(self) -> None:
        self._conditions.append("""+account_id IN (
            SELECT account_id FROM copy_group_members WHERE copy_group_id = :copy_group_id)""")

    def _symbol(self) -> None:
        self._has_user_index = True
        self._conditions.append("symbol = :symbol")

    def _direction(self) -> None:
        self._conditions.append("direction = :direction")

    def _grade(self) -> None:
        self._has_user_index = True
        self._conditions.append("grade = :grade")

    def _outcome(self) -> None:
        outcome = self.parameters["outcome"]
        self._has_user_index = self._has_user_index or outcome in ("open", "breakeven")
        conditions = {
            "open": "closed_at IS NULL",
            "win": "net_pnl > 0",
            "loss": "net_pnl < 0",
            "breakeven": "net_pnl = 0",
        }
        self._conditions.append(conditions[outcome])
