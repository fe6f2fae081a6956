"""SQL of the log of changes, which the triggers of schema.sql write (DECISIONS 18)."""


def select_changed_days(cursor: str, accounts: str) -> str:
    """Return the SELECT of the accounts and days on which trades or their checklists changed since a cursor.

    `accounts` is the SELECT of the accounts in scope. The + keeps SQLite from using the index of accounts,
    which would read all their days or trades.
    """
    return f"""
    SELECT account_id, trading_day
    FROM changed_days
    WHERE sequence > {cursor}
      AND +account_id IN ({accounts})
    UNION
    SELECT account_id, trading_day
    FROM trades
    WHERE setup_id IN (SELECT setup_id FROM changed_days WHERE sequence > {cursor} AND setup_id IS NOT NULL)
      AND +account_id IN ({accounts})
      AND trading_day IS NOT NULL"""
